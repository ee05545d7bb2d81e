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
    try:
        text = data[start:stop].decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    at = 0
    while start < stop:
        end = data.find(b"\n", start, stop)
        end = end if end >= 0 else stop
        value = None
        if text:
            after = text.find("\n", at)
            after = after if after >= 0 else len(text)
            try:
                value, done = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                done = after + 1
            if (done != after and (done > after or text[done:after].strip("\r"))) \
                    or (_may_be_deep(data, start, end) and _is_deep(value)):
                value, text = None, ""  # the rest of the block line by line, which is slow but sure
            at = after + 1
        yield start, end, value
        start = end + 1


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


_INFINITE = (math.inf, -math.inf)
_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
