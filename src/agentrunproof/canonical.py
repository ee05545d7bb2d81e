"""Strict JSON in, RFC 8785 bytes out, SHA-256 names: the only importer of ``rfc8785``.

Python's ``json`` takes more than JSON (NaN, duplicate keys, a byte order mark, UTF-16, escaped
lone surrogates) and ``rfc8785`` leaks ``UnicodeEncodeError`` and ``RecursionError`` and is no
fixed point on floats. Here each of these is a `JsonError` with a code of its own, so what `parse`
returns `dumps` can always write, and what `dumps` wrote `parse` always reads back.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import rfc8785

from agentrunproof.errors import JsonError

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 64
MAX_INT = 2**53 - 1

_BRACKETS = re.compile(r"[\[{]+|[\]}]+")
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True,
                            separators=(",", ":"))
_BEYOND = re.compile("[^\0-\ud7ff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(data: bytes, *, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Read one JSON text.

    Args:
        data: the whole text, in UTF-8 without a byte order mark.
        max_bytes: refuse anything longer, unread.
        max_depth: how deep lists and tables may nest.

    Raises:
        JsonError: ``JSON_TOO_LARGE``, ``JSON_EMPTY``, ``JSON_BOM``, ``JSON_ENCODING``,
            ``JSON_TOO_DEEP``, ``JSON_NOT_A_NUMBER``, ``JSON_FLOAT``, ``JSON_INTEGER_RANGE``,
            ``JSON_DUPLICATE_KEY``, ``JSON_SURROGATE``, ``JSON_TRAILING`` or ``JSON_SYNTAX``.
    """
    if len(data) > max_bytes:
        raise JsonError("JSON_TOO_LARGE", f"{len(data)} bytes, more than the limit of {max_bytes}")
    text = _text(data)
    _check_depth(text, max_depth)
    try:
        value = json.loads(text, object_pairs_hook=_table, parse_float=_no_float,
                           parse_int=_integer, parse_constant=_no_constant)
    except json.JSONDecodeError as problem:
        code = "JSON_TRAILING" if problem.msg == "Extra data" else "JSON_SYNTAX"
        place = f"line {problem.lineno}, column {problem.colno}"
        raise JsonError(code, f"not JSON: {problem.msg} at {place}") from None
    if _ESCAPED_SURROGATE.search(text):
        _check_surrogates(value)
    return value


def dumps(value: Any, *, max_depth: int = MAX_DEPTH) -> bytes:
    """The canonical bytes of a JSON value (RFC 8785).

    Raises:
        JsonError: ``JSON_FLOAT``, ``JSON_INTEGER_RANGE``, ``JSON_SURROGATE``, ``JSON_TOO_DEEP``,
            or ``JSON_TYPE`` for what is no JSON value at all.
    """
    _check_values((value,), max_depth)
    return rewrite(value)


def rewrite(value: Any) -> bytes:
    """The same for a value that `parse` gave, or a part of one: it has been checked."""
    text = _ENCODER.encode(value)
    # Python sorts keys by code points. Up to U+D7FF that is the order of their UTF-16 units, and
    # without floats the two encoders do not differ in anything else (RFC 8785, 3.2.2 and 3.2.3).
    return rfc8785.dumps(value) if _BEYOND.search(text) else text.encode("utf-8")


def key(value: Any) -> str:
    """A text that only the same JSON value has; ``==`` does not tell 1 from true."""
    return _ENCODER.encode(value)


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are the same."""
    return key(a) == key(b)


def digest(value: Any) -> str:
    """``sha256:`` and the hex digest of the canonical bytes of `value`."""
    return digest_bytes(dumps(value))


def digest_bytes(data: bytes) -> str:
    """``sha256:`` and the hex digest of `data`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _text(data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise JsonError("JSON_BOM", "the text starts with a byte order mark",
                        "save it as UTF-8 without BOM")
    # A NUL is nowhere allowed in JSON, and UTF-16 or UTF-32 text has one in its first two letters.
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        raise JsonError("JSON_ENCODING", "not UTF-8 (it looks like UTF-16 or a binary file)",
                        "save it as UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise JsonError("JSON_ENCODING", f"not UTF-8: invalid byte at {problem.start}",
                        "save it as UTF-8") from None
    if not text.strip(" \t\r\n"):
        raise JsonError("JSON_EMPTY", "empty: there is no JSON value in it")
    return text


def _check_depth(text: str, limit: int) -> None:
    """Refuse deep nesting before a parser recurses into it, in linear time.

    Up to the first syntax error, at which the parser stops, the pieces between unescaped quotes
    are in turn outside and inside of strings.
    """
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    depth = 0
    for match in _BRACKETS.finditer(outside):
        size = match.end() - match.start()
        depth += size if match[0][0] in "[{" else -size
        if depth > limit:
            raise _too_deep(limit)


def _too_deep(limit: int) -> JsonError:
    return JsonError("JSON_TOO_DEEP", f"lists and tables nest deeper than {limit}")


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise JsonError("JSON_DUPLICATE_KEY", f"the key {twice[:60]!r} stands twice in one table")
    return table


def _no_float(text: str) -> NoReturn:
    raise JsonError("JSON_FLOAT", f"{text[:40]}: records hold no floating point numbers",
                    "write decimals as strings")


def _integer(text: str) -> int:
    # The length first: Python refuses to convert thousands of digits, with an error of its own.
    if len(text) > 17 or abs(int(text)) > MAX_INT:
        raise JsonError("JSON_INTEGER_RANGE", f"{text[:40]} is beyond 2^53 - 1")
    return int(text)


def _no_constant(text: str) -> NoReturn:
    raise JsonError("JSON_NOT_A_NUMBER", f"{text} is not JSON")


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _surrogate() from None


def _surrogate() -> JsonError:
    return JsonError("JSON_SURROGATE", "a string holds half of a surrogate pair")


def _check_values(values: Iterable[Any], room: int) -> None:
    """Refuse what has no canonical form; `room` is how much deeper it may nest."""
    for value in values:
        if isinstance(value, str):
            if not value.isascii():
                _check_surrogates(value)
        elif isinstance(value, dict | list | tuple):
            if room == 0:
                raise JsonError("JSON_TOO_DEEP", "lists and tables nest too deep to be written")
            if isinstance(value, dict):
                for key in value:
                    if not isinstance(key, str):
                        raise JsonError("JSON_TYPE", f"the key {key!r} of a table is not a string")
                _check_values(value, room)
            _check_values(value.values() if isinstance(value, dict) else value, room - 1)
        elif isinstance(value, float):
            _no_float(repr(value))
        elif isinstance(value, int):
            if abs(value) > MAX_INT:
                raise JsonError("JSON_INTEGER_RANGE", "an integer is beyond 2^53 - 1")
        elif value is not None:
            raise JsonError("JSON_TYPE", f"{type(value).__name__} is not a JSON value")
