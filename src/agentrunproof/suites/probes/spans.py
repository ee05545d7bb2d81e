"""What trace processors are told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from agents import Agent, RunConfig, function_tool, tracing

from agentrunproof.sdk import compat
from agentrunproof.suites.probes import kit


class _Spans(tracing.TracingProcessor):
    """Keeps the spans that ended."""

    def __init__(self) -> None:
        self.ended: list[Any] = []

    def on_trace_start(self, trace: Any) -> None:
        pass

    def on_trace_end(self, trace: Any) -> None:
        pass

    def on_span_start(self, span: Any) -> None:
        pass

    def on_span_end(self, span: Any) -> None:
        self.ended.append(span)

    def shutdown(self) -> None:
        pass

    def force_flush(self) -> None:
        pass


@contextlib.contextmanager
def _kept() -> Iterator[list[Any]]:
    spans = _Spans()
    with compat.traces_to(spans):
        yield spans.ended


async def metadata_of_the_trace() -> dict[str, bool]:
    """Whether each type of span carries the metadata of its trace."""
    config = RunConfig(trace_metadata={"shop": "7"})
    with _kept() as spans:
        await kit.run(Agent(name="clerk", model=kit.model(kit.says("done"))), config=config)
    return {span.span_data.type: (getattr(span, "trace_metadata", None) or {}).get("shop") == "7"
            for span in spans if span.span_data.type == "agent"}


async def result_that_is_false() -> list[str]:
    """Outputs that function spans tell of a tool that gives 0."""
    @function_tool
    def count() -> int:
        return 0

    with _kept() as spans:
        await kit.run(Agent(name="clerk", tools=[count],
                            model=kit.model([kit.calls("count")], kit.says("done"))),
                      config=RunConfig())
    return [str(span.span_data.export().get("output")) for span in spans
            if span.span_data.type == "function"]
