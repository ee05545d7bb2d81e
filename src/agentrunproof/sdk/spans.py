"""Spans of a run, seen by a tracing processor of our own, as one tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agents.tracing import TracingProcessor, get_trace_provider, set_trace_provider
from agents.tracing.provider import DefaultTraceProvider

from agentrunproof.record.events import Event, make


class SpanRecorder(TracingProcessor):
    """Keeps traces and spans in the order of their start, with what ended before what."""

    def __init__(self) -> None:
        self._order: list[tuple[str, Any]] = []
        self._ended: dict[str, int] = {}

    def clear(self) -> None:
        self._order.clear()
        self._ended.clear()

    def on_trace_start(self, trace: Any) -> None:
        self._order.append((trace.trace_id, trace))

    def on_trace_end(self, trace: Any) -> None:
        self._ended.setdefault(trace.trace_id, len(self._ended))

    def on_span_start(self, span: Any) -> None:
        self._order.append((span.span_id, span))

    def on_span_end(self, span: Any) -> None:
        self._ended.setdefault(span.span_id, len(self._ended))

    def shutdown(self) -> None:
        """Nothing is held open."""

    def force_flush(self) -> None:
        """Nothing is queued."""

    def events(self) -> list[Event]:
        """One event a span or trace, parents first: `span_finished`, or `span_started` if open."""
        number = {id: n for n, (id, _) in enumerate(self._order)}
        events = []
        for id, thing in self._order:
            parent_id = None if _is_trace(thing) else (thing.parent_id or thing.trace_id)
            fields: dict[str, Any] = {"span": number[id], "parent": number.get(parent_id or ""),
                                      **_named(thing)}
            if id not in self._ended:
                events.append(make("span_started", **fields))
                continue
            late = parent_id in self._ended and self._ended[id] > self._ended[parent_id]
            failure = None if _is_trace(thing) else thing.error
            events.append(make("span_finished", **fields, late=late,
                               error=str(failure["message"]) if failure else ""))
        return events


def _is_trace(thing: Any) -> bool:
    return not hasattr(thing, "span_id")


def _named(thing: Any) -> dict[str, str]:
    if _is_trace(thing):
        return {"type": "trace", "name": thing.name}
    data = thing.span_data
    name = getattr(data, "name", None)
    if data.type == "handoff":
        name = f"{data.from_agent} -> {data.to_agent}"
    return {"type": data.type, "name": name if isinstance(name, str) else ""}


@contextmanager
def recorded_spans(recorder: SpanRecorder) -> Iterator[None]:
    """Give the process a trace provider of ours; put the former one back on leaving."""
    before = get_trace_provider()
    provider = DefaultTraceProvider()
    provider.set_disabled(False)
    provider.register_processor(recorder)
    set_trace_provider(provider)
    try:
        yield
    finally:
        set_trace_provider(before)
