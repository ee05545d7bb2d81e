"""Langfuse: observations of its export and API, and its attributes on OpenTelemetry spans.

https://langfuse.com/docs/observability/data-model
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts
from agentrunproof.importers.conventions import literal_step, model_step, tool_step
from agentrunproof.importers.draft import SpanStep, Step
from agentrunproof.importers.form import NotThisFormat
from agentrunproof.importers.source import Source, found, unwrapped
from agentrunproof.importers.spans import Span, nanoseconds

Json = dict[str, Any]

NAME = "Langfuse"
_PREFIX = "langfuse.observation."
#: field of an observation -> attribute of a span
_FIELDS = {"type": "type", "input": "input", "output": "output", "model": "model.name",
           "modelParameters": "model.parameters"}
_TYPES = ("GENERATION", "SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING",
          "EVALUATOR", "GUARDRAIL")


def claims(span: Span) -> bool:
    """Whether a span follows this convention."""
    return f"{_PREFIX}type" in span.attributes


def read(span: Span, left: Counter[str]) -> Step:
    """The step that a span tells of."""
    kind = str(span.take(f"{_PREFIX}type") or "span").lower()
    given, made = unwrapped(span.take(f"{_PREFIX}input")), unwrapped(span.take(f"{_PREFIX}output"))
    if kind == "generation":
        return _model(span, given, made, left)
    if kind == "tool":
        return tool_step(span, span.name, given, made, "")
    if given is not None or made is not None:
        span.rest = {**span.rest, "input": given, "output": made}
    return SpanStep(type=kind, name=span.name, error=span.error)


def of_source(source: Source) -> tuple[list[Span], Json]:
    """The observations of an export as spans, and what it says besides.

    Raises:
        NotThisFormat: it holds none.
        RecordError: ``IMPORT_SHAPE``, ``IMPORT_DUPLICATE``.
    """
    spans: list[Span] = []
    fields: Json = {}
    seen: set[str] = set()
    for document in source.documents:
        raws, about, place = _observations(document.value, document.place)
        fields |= about
        for number, raw in enumerate(raws):
            spans.append(_span(raw, f"{place}[{number}]" if len(raws) > 1 else place))
            if spans[-1].id in seen:
                raise RecordError("IMPORT_DUPLICATE", f"{spans[-1].place}: observation "
                                  f"{spans[-1].id:.40} stands twice", "export the trace again")
            if spans[-1].id:
                seen.add(spans[-1].id)
    if all(span.start is not None for span in spans):
        spans.sort(key=lambda span: span.start or 0)
    return spans, fields


def _observations(value: Any, place: str) -> tuple[list[Any], Json, str]:
    if isinstance(value, dict):
        for key in ("observations", "data"):
            if isinstance(value.get(key), list) and value[key]:
                _check(value[key][0], f"{key}[0]")
                return (value[key], {name: one for name, one in value.items() if name != key},
                        f"{place}: {key}")
        _check(value, "it")
        return [value], {}, place
    if isinstance(value, list) and value:
        _check(value[0], "[0]")
        return value, {}, f"{place}: "
    raise NotThisFormat(f"no observations, but {found(value)}")


def _check(raw: Any, what: str) -> None:
    if not isinstance(raw, dict) or str(raw.get("type")).upper() not in _TYPES \
            or "startTime" not in raw:
        raise NotThisFormat(f"{what} is no observation (type such as GENERATION, startTime), but "
                            f"{found(raw)}")


def _span(raw: Any, place: str) -> Span:
    if not isinstance(raw, dict):
        raise RecordError("IMPORT_SHAPE", f"{place}: expected an observation, found {found(raw)}",
                          "export the trace again")
    known = {"id", "traceId", "parentObservationId", "name", "startTime", "endTime", "level",
             "statusMessage", *_FIELDS}
    return Span(
        id=str(raw.get("id") or ""), parent=str(raw.get("parentObservationId") or ""),
        trace=str(raw.get("traceId") or ""), name=str(raw.get("name") or ""),
        start=nanoseconds(raw.get("startTime"), place), end=nanoseconds(
            raw.get("endTime") or raw.get("startTime"), place),
        attributes={_PREFIX + name: raw[key] for key, name in _FIELDS.items()
                    if raw.get(key) is not None},
        events=[], error=str(raw.get("statusMessage") or "error")
        if raw.get("level") == "ERROR" else "",
        rest={key: one for key, one in raw.items() if key not in known}, place=place)


def _model(span: Span, given: Any, made: Any, left: Counter[str]) -> Step:
    parameters = unwrapped(span.take(f"{_PREFIX}model.parameters"))
    more: Json = {"model": span.take(f"{_PREFIX}model.name")}
    for key, value in parameters.items() if isinstance(parameters, dict) else ():
        if isinstance(value, int | float):  # "Infinity" and the like say that none was set
            more[key] = value
        else:
            left[f"model parameter {key}={value!s:.20}"] += 1
    more = {key: value for key, value in more.items() if value is not None}
    literal = literal_step(span, given, made, None, more)
    if literal is not None:
        return literal
    body = {**more, "messages": [{"role": "user", "content": parts.text_of(given)}]
            if given is not None else []}
    if isinstance(given, dict) and "role" in given:
        body["messages"] = [given]
    reply = None if made is None else parts.chat_reply(
        [made if isinstance(made, dict) and "role" in made else
         {"role": "assistant", "content": parts.text_of(made)}])
    return model_step(span, body, reply, None, left)
