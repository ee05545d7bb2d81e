"""TRAIL: OpenInference spans inside of one another, as Patronus AI's benchmark holds them.

https://huggingface.co/datasets/PatronusAI/TRAIL. A row of the data set holds the trace as text,
its labels beside it; of these, nothing is concluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from agentrunproof.importers import otlp
from agentrunproof.importers.draft import Draft
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables, unwrapped
from agentrunproof.importers.spans import Noted, Span, attributes, check_ids, nanoseconds
from agentrunproof.importers.turns import said

Json = dict[str, Any]

_TAKEN = ("span_id", "parent_span_id", "trace_id", "span_name", "timestamp", "duration",
          "span_attributes", "status_code", "status_message", "events", "child_spans")
#: an ISO 8601 duration as .NET and ClickHouse write it
_TOOK = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")


def _read(source: Source, named: bool) -> Draft:
    spans: list[Span] = []
    fields: Json = {}
    for document in source.documents:
        for value in document.value if isinstance(document.value, list) else [document.value]:
            trace = trace_of(value)
            if trace is None:
                raise NotThisFormat("no spans with span_id and span_name, but " + found(value))
            fields |= said(value, "spans", "trace_id", "trace")
            for raw, parent in walk(trace["spans"]):
                spans.append(_span(raw, parent, str(trace.get("trace_id") or ""),
                                   f"{document.place}: span {len(spans) + 1}"))
    if not spans:
        raise NotThisFormat("an empty list")
    check_ids(spans)
    return otlp.draft(source, spans, fields)


def trace_of(value: Any) -> Json | None:
    """The trace that a value is, or that a row of the data set holds as text; None: neither."""
    if isinstance(value, dict) and "trace" in value and "spans" not in value:
        value = unwrapped(value["trace"])
    if not isinstance(value, dict):
        return None
    first = tables(value.get("spans"))[:1]
    return value if first and {"span_id", "span_name"} <= first[0].keys() else None


def walk(spans: Any, parent: str = "") -> Iterator[tuple[Json, str]]:
    """Spans and those inside of them, each with the id of the one that it stands in."""
    left = [(span, parent) for span in reversed(tables(spans))]
    while left:
        span, parent = left.pop()
        yield span, parent
        id = str(span.get("span_id") or "")
        left += [(inner, id) for inner in reversed(tables(span.get("child_spans")))]


def _span(raw: Json, parent: str, trace: str, place: str) -> Span:
    start = nanoseconds(raw.get("timestamp"), place)
    took = _took(raw.get("duration"))
    failed = str(raw.get("status_code") or "").upper() in ("ERROR", "STATUS_CODE_ERROR")
    events = [Noted(str(one.get("Name", one.get("name", ""))),
                    attributes(one.get("Attributes", one.get("attributes")), place))
              for one in tables(raw.get("events"))]
    return Span(
        id=str(raw.get("span_id") or ""), parent=str(raw.get("parent_span_id") or parent),
        trace=str(raw.get("trace_id") or trace), name=str(raw.get("span_name") or ""),
        start=start, end=start if start is None or took is None else start + took,
        attributes=attributes(raw.get("span_attributes"), place), events=events,
        error=str(raw.get("status_message") or "error") if failed else "",
        rest={**said(raw, *_TAKEN), **({"duration": raw["duration"]}
                                       if took is None and raw.get("duration") else {})},
        place=place)


def _took(value: Any) -> int | None:
    """A duration in nanoseconds; None if it is not of a known form."""
    match = _TOOK.fullmatch(value) if isinstance(value, str) else None
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes = (int(part or 0) for part in match.groups()[:3])
    seconds = Decimal(match[4] or 0) + 60 * (minutes + 60 * (hours + 24 * days))
    return int(seconds * 10**9)


TRAIL = Format("trail", "spans with span_id, span_name and child_spans", _read)
