"""Reading a run file: every line is checked, and what is wrong is named with file and line."""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from typing import Any, ClassVar

from agentrunproof.errors import RecordError
from agentrunproof.record import dialects, events, json_lines, parents, several
from agentrunproof.record.run import Index, Run
from agentrunproof.record.run_writer import SCHEMA
from agentrunproof.shape import nearest

_SEQ: dict[str, type] = {"seq": int}
_ERROR = {"error": dict}
#: kind -> the fields that an event must have, and their types
_NEEDED: dict[str, dict[str, type]] = {
    "run_started": {**_SEQ, "schema": str, "name": str},
    "model_called": {**_SEQ, "call": str, "dialect": str, "body": dict},
    "model_responded": {**_SEQ, "call": str, "decision": dict},
    "model_failed": {**_SEQ, "call": str, **_ERROR},
    "tool_started": {**_SEQ, "call": str, "tool": str},
    "tool_finished": {**_SEQ, "call": str},
    "tool_failed": {**_SEQ, "call": str, **_ERROR},
    "run_finished": {**_SEQ, "outcome": str},
}
#: the fields that are optional, of all kinds
_OPTIONAL: dict[str, type] = {**_SEQ, "agent": str, "parent": str, "clock": dict, "lists": dict,
                              "items": dict, "asked_by": str, "tool_call_id": str, "endpoint": str}
_TYPES = {kind: _OPTIONAL | needed for kind, needed in _NEEDED.items()}
_WORDS = {str: "a text", int: "a whole number", dict: "a table", list: "a list"}
_SKIP = "--skip-bad-lines leaves such lines out"


class _Bad(Exception):
    """What is wrong with one line."""

    def __init__(self, code: str, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.code = code
        self.hint = hint


def read(data: bytes, name: str, *, skip_bad: bool = False, run: str = "") -> Run:
    """Read a run file.

    A last line that was cut off (the process was killed while it wrote) is left out and noted.

    Args:
        data: the file's content.
        name: the file's name, for messages.
        skip_bad: leave lines that cannot be used out, and note them. Requests that need content
            of such lines can't be rebuilt then; what was decided stays.
        run: which run to take, of several in the file (see `record.several.recorded`).

    Raises:
        RecordError: ``RUN_EMPTY``, ``RUN_ENCODING``, ``RUN_FORMAT`` (no run file),
            ``RUN_SEVERAL`` (which run?); or, with the line: ``RUN_SYNTAX``, ``RUN_SHAPE``,
            ``RUN_KIND``, ``RUN_DIALECT``, ``RUN_DUPLICATE``, ``RUN_UNKNOWN_ID``,
            ``RUN_ENCODING``.
    """
    check_encoding(data, name, "RUN")
    if not data.strip():
        raise RecordError("RUN_EMPTY", f"{name}: empty: there is no run in it",
                          "agentrunproof runs lists the recorded ones")
    runs = several.recorded(data)
    if run or len(runs) > 1:
        begin, stop = several.choose(name, run, runs, "RUN_SEVERAL")[1]
        before, data = data.count(b"\n", 0, begin), data[begin:stop]
    else:
        before = 0
    reader = _Reader(gaps=skip_bad)
    notes: list[str] = []
    for number, (start, end, value) in enumerate(json_lines.lines(data)):
        reader.index.starts.append(start)
        try:
            reader.line(_parse(data[start:end]) if value is None else value, number)
        except _Bad as bad:
            place = f"{name}:{before + number + 1}"
            if end == len(data) and bad.code in ("RUN_SYNTAX", "RUN_ENCODING") and number:
                notes.append(f"{place}: the last line is cut off; the run is used up to there")
            elif not skip_bad or bad.code == "RUN_FORMAT":
                raise RecordError(bad.code, f"{place}: {bad}",
                                  "; ".join(filter(None, (bad.hint, _skip(bad, number))))
                                  ) from None
            else:
                notes.append(f"{place}: left out: {bad}")
    notes += parents.note(reader.parents)
    if not reader.index.events:
        raise RecordError("RUN_FORMAT", f"{name}: holds no event of a run", _IMPORT)
    return Run(name, data, reader.index, tuple(notes))


#: How files begin that hold others.
_PACKED = {b"\x1f\x8b": "a gzip archive", b"PK\x03\x04": "a ZIP archive",
           b"\x28\xb5\x2f\xfd": "a Zstandard archive", b"BZh": "a bzip2 archive",
           b"\xfd7zXZ": "an xz archive"}
_IMPORT = "traces of other tools: agentrunproof import FILE"


def _skip(bad: _Bad, number: int) -> str:
    if bad.code == "RUN_FORMAT":
        return ""
    return _IMPORT if number == 0 and bad.code == "RUN_SYNTAX" else _SKIP


def check_encoding(data: bytes, name: str, kind: str) -> None:
    """Refuse a text that does not begin as UTF-8 without a byte order mark does.

    Args:
        data: the content of a file.
        name: of the file, for messages.
        kind: what the error's code begins with.

    Raises:
        RecordError: ``<KIND>_ENCODING``.
    """
    code = f"{kind}_ENCODING"
    if data.startswith(b"\xef\xbb\xbf"):
        raise RecordError(code, f"{name}: starts with a byte order mark",
                          "save it as UTF-8 without BOM")
    packed = next((name for start, name in _PACKED.items() if data.startswith(start)), None)
    if packed is not None:
        raise RecordError(code, f"{name}: no text, but {packed}", "unpack it first")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4] \
            or data[:4096].count(b"\0") > 4:
        raise RecordError(code, f"{name}: not UTF-8 (it looks like UTF-16 or a binary file)",
                          "save it as UTF-8")


class _Reader:
    """Takes lines one by one and knows what may stand in the next.

    Args:
        gaps: content may be missing, since lines were left out; `Run.body` then says so.
    """

    def __init__(self, gaps: bool) -> None:
        self.index = Index()
        #: tool call -> the one inside of which it happened
        self.parents: dict[str, str] = {}
        self._gaps = gaps
        self._tools: set[str] = set()
        #: kinds of events with names and types of their fields, as they were found to be right
        self._shapes: set[tuple[object, ...]] = set()
        self._seq = -1

    def line(self, value: Any, number: int) -> None:
        """Check one line and enter it into the index; a line that is refused leaves no trace.

        Args:
            value: what the line says; None if it is empty.
            number: of the line, from 0.

        Raises:
            _Bad: saying why.
        """
        if value is None:
            return
        if not isinstance(value, dict):
            raise _Bad("RUN_SHAPE", f"expected a table, found {_found(value)}")
        if "item" in value:
            self._item(value, number)
        elif "list" in value:
            self._list(value)
        elif "kind" in value:
            self._event(value, number)
        elif number == 0:
            raise _Bad("RUN_FORMAT", "this is no run file: its first line is no event", _IMPORT)
        else:
            raise _Bad("RUN_SHAPE", "neither an event (kind), nor content (item, list)")

    def _item(self, value: dict[str, Any], number: int) -> None:
        item = _typed(value, "item", int, "item")
        if "value" not in value:
            raise _Bad("RUN_SHAPE", "item: value is missing")
        if item in self.index.items:
            raise _Bad("RUN_DUPLICATE", f"item {item} stands twice")
        self.index.items[item] = number

    def _list(self, value: dict[str, Any]) -> None:
        listed = _typed(value, "list", int, "list")
        items = _typed(value, "items", list, "list")
        after = _typed(value, "after", int, "list") if "after" in value else None
        keep = _typed(value, "keep", int, "list") if "keep" in value else None
        if keep is not None and keep < 0:
            raise _Bad("RUN_SHAPE", f"list: keep: expected a count, found {keep}")
        if listed in self.index.lists:
            raise _Bad("RUN_DUPLICATE", f"list {listed} stands twice")
        for item in items:
            if type(item) is not int:
                raise _Bad("RUN_SHAPE", f"list: items holds {_found(item)}, not only whole numbers")
            self._refer(item, self.index.items, f"list {listed} holds item {item}")
        if after is not None:
            self._refer(after, self.index.lists, f"list {listed} begins with list {after}")
        self.index.lists[listed] = (after, keep, items)

    def _refer(self, id: int, known: Container[int], what: str) -> None:
        if id not in known and not self._gaps:
            raise _Bad("RUN_UNKNOWN_ID", f"{what}, which stands nowhere before")

    def _event(self, value: dict[str, Any], number: int) -> None:
        kind = value["kind"]
        if not isinstance(kind, str) or kind not in events.FIELDS:
            raise _Bad("RUN_KIND", f"unknown event {kind!r:.60}",
                       nearest(kind, events.KINDS) or "events: " + ", ".join(_NEEDED))
        shape = (kind, *value, *map(type, value.values()))
        if shape not in self._shapes:
            _check_fields(value, kind)
            self._shapes.add(shape)
        seq = value["seq"]
        if seq <= self._seq:
            raise _Bad("RUN_DUPLICATE", f"{kind}: seq {seq} comes after seq {self._seq}")
        if not self.index.events and kind == "run_started" and value["schema"] != SCHEMA:
            raise _Bad("RUN_FORMAT", f"its schema is {value['schema']!r:.60}, expected {SCHEMA!r}",
                       "a newer agentrunproof may have recorded it: upgrade this one")
        if kind in self._ENTERS:
            self._ENTERS[kind](self, value, number)
        self._seq = seq
        self.index.events.append(number)

    def _model_called(self, value: dict[str, Any], number: int) -> None:
        call = value["call"]
        if call in self.index.calls:
            raise _Bad("RUN_DUPLICATE", f"model_called: call {call!r:.60} stands twice")
        try:
            dialects.check(value["dialect"])
        except RecordError as error:
            raise _Bad(error.code, error.message, error.hint) from None
        for name, known in (("items", self.index.items), ("lists", self.index.lists)):
            for key, id in value.get(name, {}).items():
                if type(id) is not int:
                    raise _Bad("RUN_SHAPE", f"model_called: {name}.{key}: expected a whole number, "
                               f"found {_found(id)}")
                self._refer(id, known, f"model_called: {key} is {name[:-1]} {id}")
        model = value["body"].get("model")
        self.index.called[call] = number
        self.index.calls[call] = (
            value.get("agent", ""), value.get("parent", ""), value["dialect"],
            model if isinstance(model, str) else "", value.get("endpoint", ""))

    def _model_ended(self, value: dict[str, Any], number: int) -> None:
        call, kind = value["call"], value["kind"]
        if call not in self.index.calls:
            raise _Bad("RUN_UNKNOWN_ID", f"{kind}: there is no model call {call!r:.60}",
                       nearest(call, self.index.calls))
        if call in self.index.ended:
            raise _Bad("RUN_DUPLICATE", f"{kind}: call {call!r:.60} has ended before")
        if kind == "model_failed":
            self.index.failed.add(call)
        else:
            _check_decision(value["decision"])
        self.index.ended[call] = number

    def _tool_started(self, value: dict[str, Any], number: int) -> None:
        if value["call"] in self._tools:
            raise _Bad("RUN_DUPLICATE", f"tool_started: call {value['call']!r:.60} stands twice")
        self._tools.add(value["call"])
        if "parent" in value:
            self.parents[value["call"]] = value["parent"]

    def _tool_ended(self, value: dict[str, Any], number: int) -> None:
        if value["call"] not in self._tools:
            raise _Bad("RUN_UNKNOWN_ID", f"{value['kind']}: there is no tool call "
                       f"{value['call']!r:.60}", nearest(value["call"], self._tools))

    _ENTERS: ClassVar[dict[str, Callable[[_Reader, dict[str, Any], int], None]]] = {
        "model_called": _model_called, "model_responded": _model_ended,
        "model_failed": _model_ended, "tool_started": _tool_started,
        "tool_finished": _tool_ended, "tool_failed": _tool_ended}


def _check_fields(value: dict[str, Any], kind: str) -> None:
    types = _TYPES.get(kind, _OPTIONAL)
    for name, found in value.items():
        if name in types and type(found) is not types[name]:
            _typed(value, name, types[name], kind)
    for name in _NEEDED.get(kind, _SEQ):
        if name not in value:
            _typed(value, name, types[name], kind)


def _check_decision(decision: dict[str, Any]) -> None:
    _typed(decision, "text", str, "decision")
    for call in _typed(decision, "tool_calls", list, "decision"):
        if not isinstance(call, dict):
            raise _Bad("RUN_SHAPE", f"decision: tool_calls holds {_found(call)}, not only tables")
        for name in ("id", "name"):
            _typed(call, name, str, "tool call")
        if "arguments" not in call:
            raise _Bad("RUN_SHAPE", "tool call: arguments is missing")


def _parse(raw: bytes) -> Any:
    """The value of a line; None for an empty line."""
    if not raw.strip():
        return None
    try:
        value = json_lines.load(raw)
    except UnicodeDecodeError as problem:
        raise _Bad("RUN_ENCODING", f"not UTF-8: invalid byte at {problem.start}",
                   "save it as UTF-8") from None
    except json.JSONDecodeError as problem:
        raise _Bad("RUN_SYNTAX", f"not JSON: {problem.msg} at column {problem.colno}") from None
    except ValueError as problem:
        raise _Bad("RUN_SYNTAX", f"not JSON: {problem}") from None
    if value is None:
        raise _Bad("RUN_SHAPE", "expected a table, found null")
    return value


def _typed(value: dict[str, Any], name: str, wanted: type, what: str) -> Any:
    found = value.get(name)
    if type(found) is not wanted:
        if name not in value:
            raise _Bad("RUN_SHAPE", f"{what}: {name} is missing")
        raise _Bad("RUN_SHAPE", f"{what}: {name}: expected {_WORDS[wanted]}, found {_found(found)}")
    return found


def _found(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return _WORDS[type(value)]
    return f"{value!r:.40}"
