"""Spans of a run, seen by a tracing processor of our own, as one tree."""

from __future__ import annotations

from typing import Any

from agents.tracing import TracingProcessor

from agentrunproof.record.events import Event, make


class SpanRecorder(TracingProcessor):
    """Keeps traces and spans in the order of their start, with what ended before what.

    Args:
        sensitive: whether spans may tell the text of an error; where they must not, it is
            recorded of spans of any type that they do.
    """

    def __init__(self, *, sensitive: bool = True) -> None:
        self._sensitive = sensitive
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
                               holds=_holds(thing, sensitive=self._sensitive),
                               error=str(failure["message"]) if failure else ""))
        return events


def _is_trace(thing: Any) -> bool:
    return not hasattr(thing, "span_id")


#: What the SDK writes in place of an error it must not tell: of a tool from 0.15.2
#: (``agents.util._tool_errors``), of anything else from 0.18.3 (``agents.util._error_tracing``).
_REDACTED = ("Tool execution failed. Error details are redacted.", "Error details are redacted.")


def _holds(thing: Any, *, sensitive: bool) -> tuple[str, ...]:
    """Which parts of its call a function span tells: input, output, the text of its error.

    Of other spans it is the error alone, and only where none may be told. Those of generations
    are our model's own.
    """
    if _is_trace(thing) or thing.span_data.type == "generation":
        return ()
    told = {"error": ((thing.error or {}).get("data") or {}).get("error")}
    if thing.span_data.type == "function":
        told = {"input": thing.span_data.input, "output": thing.span_data.output, **told}
    elif sensitive:
        return ()
    return tuple(part for part, value in told.items()
                 if value is not None and value not in _REDACTED)


def _named(thing: Any) -> dict[str, str]:
    if _is_trace(thing):
        return {"type": "trace", "name": thing.name}
    data = thing.span_data
    name = getattr(data, "name", None)
    if data.type == "mcp_tools":
        name = data.server
    if data.type == "handoff":
        name = f"{data.from_agent} -> {data.to_agent}"
    return {"type": data.type, "name": name if isinstance(name, str) else ""}
