"""JSON as files of others hold it, and lines of it: strict, and many lines read at once.

No NaN and no Infinity, no number beyond what a float can hold, no nesting deeper than `MAX_DEPTH`:
nobody who walks through what was read has to think of these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

#: How deep lists and tables may nest. Requests to models stay below 30.
MAX_DEPTH = 128
#: So many bytes of lines are decoded at once.
_BLOCK = 2**20
_TOO_DEEP = f"lists and tables nest too deep (more than {MAX_DEPTH} levels)"


def load(data: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        UnicodeDecodeError: it is no UTF-8.
        json.JSONDecodeError: it is no JSON, with the place.
        ValueError: it is none for another reason, in words.
    """
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError as problem:
        if "digits" in str(problem):
            raise ValueError("a number of more digits than can be read") from None
        raise
    if _may_be_deep(data, 0, len(data)) and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    return value


def lines(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Each line of a file: where it starts, where it ends, and its value.

    The value is None where the line is to be read by itself with `load`, which says what is wrong
    with it; also for a line that is empty, or null.
    """
    start = 0
    while start < len(data):
        stop = data.rfind(b"\n", start, start + _BLOCK) + 1 \
            or data.find(b"\n", start) + 1 or len(data)
        yield from _block(data, start, stop)
        start = stop


def _block(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int, Any]]:
    values = _at_once(data, start, stop)
    number = 0
    while start < stop:
        end = data.find(b"\n", start, stop)
        end = end if end >= 0 else stop
        value = values[number]
        if value is not None and _may_be_deep(data, start, end) and _is_deep(value):
            value = None
        yield start, end, value
        start, number = end + 1, number + 1


def _at_once(data: bytes, start: int, stop: int) -> list[Any]:
    """The values of all lines in a block.

    They are decoded as one list, which takes a third of the time. NaN, which is no JSON, stands
    between them: the decoder tells that it read one by calling us. So a line that is only part of
    a value, or several of them, cannot pass for one.
    """
    lines = data[start:stop].removesuffix(b"\n")
    if b"NaN" in lines:
        return _one_by_one(lines)
    try:
        text = lines.replace(b"\n", b",NaN,").decode("utf-8")
        found: list[Any] = _JOINED.decode(f"[{text}]")
    except (ValueError, RecursionError):
        return _one_by_one(lines)
    between = lines.count(b"\n")
    if len(found) != 2 * between + 1 or found.count(_BETWEEN) != between:
        return _one_by_one(lines)
    return found[::2]


def _one_by_one(lines: bytes) -> list[Any]:
    """The same, slowly: None for a line that cannot be read."""
    found: list[Any] = []
    for line in lines.split(b"\n"):
        try:
            found.append(load(line) if line.strip() else None)
        except ValueError:  # noqa: PERF203 (each line by itself)
            found.append(None)
    return found


def _may_be_deep(data: bytes, start: int, end: int) -> bool:
    return end - start > 2 * MAX_DEPTH and \
        data.count(b"{", start, end) + data.count(b"[", start, end) > MAX_DEPTH


def _is_deep(value: Any) -> bool:
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [inner for one in level
                 for inner in (one.values() if isinstance(one, dict) else one)
                 if isinstance(inner, dict | list)] if isinstance(value, dict | list) else []
    return depth > MAX_DEPTH


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in _INFINITE:
        raise ValueError(f"{text[:40]} is greater than any number that can be held")
    return number


def _between(name: str) -> object:
    return _BETWEEN if name == "NaN" else _no_number(name)


_INFINITE = (math.inf, -math.inf)
_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
#: Stands between values that are decoded together.
_BETWEEN = object()
_JOINED = json.JSONDecoder(parse_constant=_between, parse_float=_finite)
