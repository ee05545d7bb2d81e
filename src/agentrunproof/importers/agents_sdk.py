"""The OpenAI Agents SDK's own tracing: its traces and spans as it exports them.

One trace or span a line, a list of them, or ``data`` as they are sent to its backend.
https://openai.github.io/openai-agents-python/tracing/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts
from agentrunproof.importers.conventions import error_of, tool_step
from agentrunproof.importers.draft import EventStep, ModelStep, SpanStep, Step
from agentrunproof.importers.form import NotThisFormat
from agentrunproof.importers.source import Source, found, tables
from agentrunproof.importers.spans import Span, check_ids, nanoseconds

Json = dict[str, Any]

NAME = "OpenAI Agents SDK"
_TYPE = "agents_sdk.type"


def claims(span: Span) -> bool:
    """Whether a span is one of these."""
    return _TYPE in span.attributes


def read(span: Span, left: Counter[str]) -> Step:
    """The step that a span tells of."""
    kind = str(span.take(_TYPE))
    match kind:
        case "generation" if isinstance(span.attributes.get("input"), list):
            return _model(span)
        case "function":
            return tool_step(span, span.take("name"), span.take("input"), span.take("output"), "")
        case "handoff":
            by = str(span.take("from_agent") or "")
            return EventStep(kind="handoff", agent=by, more={
                "from": by, "to": str(span.take("to_agent") or "")})
        case "guardrail":
            return EventStep(kind="guardrail_checked", more={
                "guardrail": str(span.take("name") or ""),
                "tripped": span.take("triggered") is True})
    name = span.take("name")
    return SpanStep(type=kind, name=str(name or kind), error=span.error)


def of_source(source: Source) -> tuple[list[Span], Json]:
    """The spans of a file, and what its traces say besides.

    Raises:
        NotThisFormat: it holds none.
        RecordError: ``IMPORT_SHAPE``, ``IMPORT_DUPLICATE``.
    """
    spans: list[Span] = []
    fields: Json = {}
    for document in source.documents:
        for raw in _raws(document.value):
            if raw.get("object") == "trace":
                said = {key: one for key, one in raw.items()
                        if key not in ("object", "workflow_name") and one is not None}
                fields |= {"name": raw.get("workflow_name"), **said}
            else:
                spans.append(_span(raw, document.place))
    check_ids(spans)
    if not spans:
        raise NotThisFormat("a trace without spans")
    return spans, fields


def _raws(value: Any) -> Iterator[Json]:
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict) or one.get("object") not in ("trace", "trace.span"):
            raise NotThisFormat(f"no object 'trace' or 'trace.span', but {found(one)}")
        yield one


def _span(raw: Json, place: str) -> Span:
    data = raw.get("span_data")
    if not isinstance(data, dict):
        raise RecordError("IMPORT_SHAPE", f"{place}: span_data: expected a table, found "
                          f"{found(data)}", "export the trace again")
    error = raw.get("error")
    known = ("object", "id", "trace_id", "parent_id", "started_at", "ended_at", "span_data",
             "error")
    rest = {key: one for key, one in raw.items() if key not in known}
    if isinstance(error, dict) and error.get("data"):
        rest["error_data"] = error["data"]
    message = str(error.get("message") or "error") if isinstance(error, dict) else str(error or "")
    start = nanoseconds(raw.get("started_at"), place)
    attributes = {str(key): one for key, one in data.items() if one is not None and key != "type"}
    return Span(
        id=str(raw.get("id") or ""), parent=str(raw.get("parent_id") or ""),
        trace=str(raw.get("trace_id") or ""), name=str(data.get("name") or ""), start=start,
        end=nanoseconds(raw.get("ended_at"), place),
        attributes={_TYPE: str(data.get("type") or "span"), **attributes}, events=[], error=message,
        rest=rest, place=place)


def _model(span: Span) -> ModelStep:
    """A request: of Chat Completions messages, or of Responses items."""
    given, made = tables(span.take("input")), tables(span.take("output"))
    body: Json = {"model": span.take("model")}
    config = span.take("model_config")
    for key, value in config.items() if isinstance(config, dict) else ():
        if value is not None:
            body[key] = value
    items = [*given, *made]
    if any("type" in item for item in items) and not any("tool_calls" in item for item in items):
        reply: Any = {"object": "response", "output": made} if made else None
        return ModelStep(dialect="openai.responses", body={**body, "input": given}, reply=reply,
                         error=error_of(span))
    return ModelStep(body={**body, "messages": given},
                     reply=parts.chat_reply(made) if made else None, error=error_of(span))
