"""The text of a trace file: one JSON value, or JSON lines, with the place of what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.record import json_lines
from agentrunproof.record.run_reader import check_encoding

Json = dict[str, Any]

#: No trace is read beyond this size: as parsed JSON it takes several times as much memory.
MAX_BYTES = 256 * 2**20
_SKIP = "--skip-bad-lines leaves such lines out"


@dataclass(frozen=True)
class Document:
    """One JSON value of a file and where it stands, such as ``trace.json`` or ``trace.jsonl:3``."""

    value: Any
    place: str


@dataclass(frozen=True)
class Source:
    """A file to import.

    Args:
        name: the file's name, for messages.
        data: its content.
        documents: its JSON values; one unless it holds JSON lines.
        notes: what a user must be told, such as lines that were left out.
        run: the id of the run that the user wants of several in it; empty: there is but one.
    """

    name: str
    data: bytes
    documents: tuple[Document, ...]
    notes: tuple[str, ...] = ()
    run: str = ""


def read(data: bytes, name: str, *, skip_bad: bool = False) -> Source:
    """Read a file's JSON.

    A last line of JSON lines that was cut off is left out and noted.

    Args:
        data: the file's content.
        name: its name, for messages.
        skip_bad: leave lines that are no JSON out, and note them.

    Raises:
        RecordError: ``IMPORT_ENCODING``, ``IMPORT_EMPTY``, ``IMPORT_SYNTAX``, with the line.
    """
    check_encoding(data, name, "IMPORT")
    if not data.strip():
        raise RecordError("IMPORT_EMPTY", f"{name}: empty: there is no trace in it",
                          "export it again")
    if b"\n" in data.strip() and _begins_lines(data):
        return _lines(data, name, skip_bad)
    try:
        value = json_lines.load(data)
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise _encoding(f"{name}:{line}", problem) from None
    except json.JSONDecodeError as problem:
        if problem.pos >= len(problem.doc.rstrip()) or "Unterminated" in problem.msg:
            raise RecordError("IMPORT_SYNTAX", f"{name}:{problem.lineno}: not JSON: it is cut off "
                              f"(at column {problem.colno})", "export it again") from None
        raise RecordError("IMPORT_SYNTAX", f"{name}:{problem.lineno}: not JSON: {problem.msg} at "
                          f"column {problem.colno}", "all formats that are read are JSON or JSON "
                          "lines: export it so") from None
    except ValueError as problem:
        raise RecordError("IMPORT_SYNTAX", f"{name}: not JSON: {problem}",
                          "export it again") from None
    return Source(name, data, (Document(value, name),))


def unwrapped(value: Any) -> Any:
    """What a text of JSON says, where a trace holds tables and lists as texts; else the value."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json_lines.load(value.encode("utf-8"))
        except ValueError:
            return value
    return value


def tables(value: Any) -> list[Json]:
    """The tables of a list; nothing of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def twice(values: Iterable[Any]) -> Any:
    """The first value that stands there again; None if none does. None and "" are no values."""
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            return value
        if value not in (None, ""):
            seen.add(value)
    return None


def found(value: Any) -> str:
    """What a value is, in words for a message."""
    if isinstance(value, dict):
        keys = ", ".join(str(key)[:40] for key in list(value)[:6])
        return f"a table with {keys}{', ...' if len(value) > 6 else ''}" if value else \
            "an empty table"
    if isinstance(value, list):
        return f"a list of {len(value)}, first {found(value[0])}" if value else "an empty list"
    return "null" if value is None else f"{value!r:.40}"


def _begins_lines(data: bytes) -> bool:
    """Whether a file of several lines is JSON lines: one of its first two is a whole table."""
    first = [line for line in data[:2**26].split(b"\n", 50) if line.strip()][:2]
    return any(_is_table(line) for line in first) and first[0].lstrip().startswith(b"{")


def _is_table(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(data: bytes, name: str, skip_bad: bool) -> Source:
    documents, notes = [], []
    for number, (start, end, value) in enumerate(json_lines.lines(data), 1):
        place, raw = f"{name}:{number}", data[start:end]
        if value is None and not raw.strip():
            continue
        try:
            documents.append(Document(_line(raw, place) if value is None else value, place))
        except RecordError as error:
            if end == len(data):
                notes.append(f"{place}: the last line is cut off; the trace is used up to there")
            elif skip_bad:
                notes.append(f"left out: {error.message}")
            else:
                raise RecordError(error.code, error.message, _SKIP) from None
    if not documents:
        raise RecordError("IMPORT_EMPTY", f"{name}: holds no line that can be read",
                          "export it again")
    return Source(name, data, tuple(documents), tuple(notes))


def _line(line: bytes, place: str) -> Any:
    try:
        return json_lines.load(line)
    except UnicodeDecodeError as problem:
        raise _encoding(place, problem) from None
    except json.JSONDecodeError as problem:
        raise RecordError("IMPORT_SYNTAX", f"{place}: not JSON: {problem.msg} at column "
                          f"{problem.colno}") from None
    except ValueError as problem:
        raise RecordError("IMPORT_SYNTAX", f"{place}: not JSON: {problem}") from None


def _encoding(place: str, problem: UnicodeDecodeError) -> RecordError:
    return RecordError("IMPORT_ENCODING", f"{place}: not UTF-8: invalid byte at {problem.start}",
                       "save it as UTF-8")
