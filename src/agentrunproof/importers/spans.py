"""OpenTelemetry spans, however a file holds them.

OTLP JSON (``resourceSpans``, or ``batches`` as Tempo writes it), OTLP JSON lines, a list of spans,
spans as the SDK's console exporter prints them; attributes as a table or as OTLP's list. Times are
nanoseconds as numbers or as texts, or ISO 8601. Log records (``resourceLogs``) that name a span
are its events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers.form import NotThisFormat
from agentrunproof.importers.source import Source, found, tables

Json = dict[str, Any]

_WHOLE = re.compile(r"-?[0-9]{1,20}")
_SPAN_KEYS = ("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "spanId",
              "span_id", "context")


@dataclass(frozen=True)
class Noted:
    """An event of a span."""

    name: str
    attributes: Json
    at: int | None = None


@dataclass
class Span:
    """One span.

    Args:
        id: its id, or empty.
        parent: the id of the span it is a part of, or empty.
        trace: the id of its trace, or empty.
        name: its name.
        start: nanoseconds since 1970, or None.
        end: the same.
        attributes: by name.
        events: in their order.
        error: the status message of a failed span; empty if it didn't fail.
        rest: fields of the span that are none of these.
        place: where it stands, for messages.
        taken: the attributes that an importer has understood; it adds to them.
    """

    id: str
    parent: str
    trace: str
    name: str
    start: int | None
    end: int | None
    attributes: Json
    events: list[Noted]
    error: str
    rest: Json
    place: str
    taken: set[str] = field(default_factory=set)

    def take(self, *names: str) -> Any:
        """The first of these attributes that is there, which is thereby understood."""
        for name in names:
            if name in self.attributes:
                self.taken.add(name)
                return self.attributes[name]
        return None

    def indexed(self, prefix: str) -> list[Json]:
        """The attributes ``prefix.N.key`` as one table for each N, in the order of N."""
        rows: dict[int, Json] = {}
        for name, value in self.attributes.items():
            if name.startswith(prefix + "."):
                number, _, key = name[len(prefix) + 1:].partition(".")
                if number.isdecimal() and key:
                    rows.setdefault(int(number), {})[key] = value
                    self.taken.add(name)
        return [rows[number] for number in sorted(rows)]

    def kept(self) -> Json:
        """What the span says besides what was understood."""
        attributes = {name: value for name, value in self.attributes.items()
                      if name not in self.taken}
        table = {"span": self.id, "trace": self.trace, "name": self.name,
                 "attributes": attributes, **self.rest}
        return {name: value for name, value in table.items() if value not in ("", None, {}, [])}


def of_source(source: Source) -> tuple[list[Span], Json]:
    """The spans of a file in order of start (if all say it), and its resources' attributes.

    Raises:
        NotThisFormat: it holds none.
        RecordError: ``IMPORT_SHAPE``, ``IMPORT_DUPLICATE``: something in them is wrong.
    """
    spans: list[Span] = []
    resource: Json = {}
    logs: dict[tuple[str, str], list[Noted]] = {}
    for document in source.documents:
        for raw, place, about in _raw(document.value, document.place):
            _merge(resource, about)
            if _is_log(raw):
                ids = str(raw.get("traceId") or ""), str(raw.get("spanId") or "")
                logs.setdefault(ids, []).append(_log(raw, place))
            else:
                spans.append(_span(raw, place))
    known = {(span.trace, span.id): span for span in spans}
    for ids, noted in logs.items():
        if ids not in known:  # only the log was exported
            times = [event.at for event in noted if event.at is not None]
            spans.append(Span(ids[1], "", ids[0], "log records", min(times, default=None),
                              max(times, default=None), {}, [], "", {}, source.name))
            known[ids] = spans[-1]
        known[ids].events.extend(noted)
    if not spans:
        raise NotThisFormat("no spans in it")
    check_ids(spans)
    if all(span.start is not None for span in spans):
        spans.sort(key=lambda span: span.start or 0)
    return spans, resource


def attributes(value: Any, place: str) -> Json:
    """Attributes as a table, of a table or of OTLP's list of keys and values.

    Raises:
        RecordError: ``IMPORT_SHAPE``.
    """
    if value is None:
        return {}
    if isinstance(value, dict):
        return {str(key): _value(one) for key, one in value.items()}
    if isinstance(value, list) and all(isinstance(one, dict) and "key" in one for one in value):
        return {str(one["key"]): _value(one.get("value")) for one in value}
    raise RecordError("IMPORT_SHAPE", f"{place}: attributes: expected a table or a list of keys "
                      f"and values, found {found(value)}", "export the trace again")


def _value(value: Any) -> Any:
    """A value of OTLP's, such as ``{"stringValue": "x"}``, as JSON; others as they are."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    kind, inner = next(iter(value.items()))
    match kind:
        case "stringValue" | "boolValue" | "doubleValue" | "bytesValue":
            return inner
        case "intValue":
            return int(inner) if isinstance(inner, str) and _WHOLE.fullmatch(inner) else inner
        case "arrayValue":
            return [_value(one) for one in _values(inner)]
        case "kvlistValue":
            return {str(one.get("key")): _value(one.get("value")) for one in tables(_values(inner))}
    return value


def _values(inner: Any) -> list[Any]:
    values = inner.get("values") if isinstance(inner, dict) else None
    return values if isinstance(values, list) else []


def _raw(value: Any, place: str) -> Iterator[tuple[Json, str, Json]]:
    """The spans and log records in a value with their places and resources."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            if not isinstance(one, dict):
                raise NotThisFormat(f"[{number}] is no span, but {found(one)}")
            yield from _raw(one, f"{place}: [{number}]")
        return
    if not isinstance(value, dict):
        raise NotThisFormat(f"neither a table nor a list: {found(value)}")
    groups = [key for key in ("resourceSpans", "resource_spans", "batches", "resourceLogs")
              if isinstance(value.get(key), list)]
    for key in groups:
        for number, group in enumerate(value[key]):
            yield from _group(group, f"{place}: {key}[{number}]")
    for key in ("spans", "data"):
        if not groups and isinstance(value.get(key), list):
            yield from _raw(value[key], place)
            return
    if groups:
        return
    if "name" not in value or not any(key in value for key in _SPAN_KEYS):
        raise NotThisFormat(f"neither resourceSpans nor a span (name and a time), but "
                            f"{found(value)}")
    yield value, place, {}


def _group(group: Any, place: str) -> Iterator[tuple[Json, str, Json]]:
    if not isinstance(group, dict):
        raise RecordError("IMPORT_SHAPE", f"{place}: expected a table, found {found(group)}",
                          "export the trace again")
    resource = group.get("resource")
    about = attributes((resource if isinstance(resource, dict) else {}).get("attributes"),
                       f"{place}.resource")
    for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs"):
        for number, scope in enumerate(tables(group.get(key))):
            for inner in ("spans", "logRecords"):
                where = f"{place}.{key}[{number}].{inner}"
                if not isinstance(scope.get(inner, []), list):
                    raise RecordError("IMPORT_SHAPE", f"{where}: expected a list, found "
                                      f"{found(scope[inner])}", "export the trace again")
                for at, raw in enumerate(scope.get(inner, [])):
                    if not isinstance(raw, dict):
                        raise RecordError("IMPORT_SHAPE", f"{where}[{at}]: expected a table, found "
                                          f"{found(raw)}", "export the trace again")
                    yield raw, f"{where}[{at}]", about


def _is_log(raw: Json) -> bool:
    return "name" not in raw and ("body" in raw or "eventName" in raw or "timeUnixNano" in raw)


def _log(raw: Json, place: str) -> Noted:
    about = attributes(raw.get("attributes"), place)
    body = _value(raw.get("body"))
    name = raw.get("eventName") or about.get("event.name") or ""
    return Noted(str(name), {**about, **(body if isinstance(body, dict) else {"body": body})},
                 nanoseconds(raw.get("timeUnixNano"), place))


def _merge(resource: Json, about: Json) -> None:
    """Add a resource's attributes; where two differ, both are kept."""
    for key, value in about.items():
        known = resource.setdefault(key, value)
        if known != value and not (isinstance(known, list) and value in known):
            resource[key] = [*(known if isinstance(known, list) else [known]), value]


def _span(raw: Json, place: str) -> Span:
    rest = dict(raw)

    def pop(*names: str) -> Any:
        values = [rest.pop(name) for name in names if name in rest]
        return next((value for value in values if value is not None), None)

    context = pop("context") or {}
    context = context if isinstance(context, dict) else {}
    status = pop("status") or {}
    status = status if isinstance(status, dict) else {"status_code": status}
    code = str(status.get("code", status.get("status_code", ""))).upper()
    failed = code in ("2", "ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR")
    message = str(status.get("message") or status.get("description") or
                  pop("status_message") or "")
    events = [Noted(str(one.get("name", "")), attributes(one.get("attributes"), place))
              for one in tables(pop("events"))]
    return Span(
        id=str(pop("spanId", "span_id") or context.get("span_id") or ""),
        parent=str(pop("parentSpanId", "parent_span_id", "parent_id") or ""),
        trace=str(pop("traceId", "trace_id") or context.get("trace_id") or ""),
        name=str(pop("name") or ""),
        start=nanoseconds(pop("startTimeUnixNano", "start_time_unix_nano", "start_time",
                              "startTime"), place),
        end=nanoseconds(pop("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"), place),
        attributes=attributes(pop("attributes"), place), events=events,
        error=(message or _exception(events) or "error") if failed else "",
        rest=rest, place=place)


def nanoseconds(value: Any, place: str) -> int | None:
    """A time in nanoseconds since 1970, of a number, of its digits, or of ISO 8601.

    Raises:
        RecordError: ``IMPORT_SHAPE``: it is none of them.
    """
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 30:
            return int(value)
        moment = _ISO.fullmatch(value)
        if moment is not None:
            text, seconds, fraction, hours, minutes = moment.groups()
            since = _seconds_to(text, hours, minutes)
            if since is not None and (seconds is None or seconds < "60"):
                return (since + int(seconds or 0)) * 10**9 + int(f"{fraction or '':0<9}"[:9])
    raise RecordError("IMPORT_SHAPE", f"{place}: not a time: {found(value)}",
                      "nanoseconds since 1970, or ISO 8601")


#: Python 3.10's own reader takes neither more nor less than three or six digits of a second.
_ISO = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d)?)(?:(?<=:\d\d):(\d\d))?(?:[.,](\d+))?"
                  r" ?(?:[Zz]|UTC|([+-]\d\d):?(\d\d))?", re.ASCII)


@lru_cache(1024)
def _seconds_to(text: str, hours: str | None, minutes: str | None) -> int | None:
    """Seconds from 1970 to a day or minute; None if there is none such, as February 30."""
    zone = f"{hours}:{minutes}" if hours else "+00:00"
    try:
        moment = datetime.fromisoformat((text if len(text) > 10 else f"{text}T00:00") + zone)
    except ValueError:
        return None
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since.days * 86_400 + since.seconds


def _exception(events: list[Noted]) -> str:
    for event in events:
        if event.name == "exception":
            words = (event.attributes.get("exception.type"),
                     event.attributes.get("exception.message"))
            return ": ".join(str(word) for word in words if word)
    return ""


def check_ids(spans: list[Span]) -> None:
    """Refuse ids that stand twice in a trace.

    Raises:
        RecordError: ``IMPORT_DUPLICATE``.
    """
    seen: dict[tuple[str, str], str] = {}
    for span in spans:
        if span.id:
            if (span.trace, span.id) in seen:
                raise RecordError("IMPORT_DUPLICATE", f"{span.place}: span {span.id:.40} stands "
                                  f"twice, first at {seen[span.trace, span.id]}",
                                  "export the trace again, once")
            seen[span.trace, span.id] = span.place
