"""Python values as JSON: what runs hold, floats and objects of other libraries included.

Records that are hashed are stricter and use `agentrunproof.canonical`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any


def dump(value: Any) -> bytes:
    """The JSON text of a plain value, compact and in UTF-8.

    Raises:
        ValueError, TypeError: the value is no JSON, such as NaN.
    """
    try:
        return _COMPACT.encode(value).encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair: only an escape can write it
        return _ASCII.encode(value).encode("ascii")


def plain(value: Any, lost: Callable[[str], None] | None = None) -> Any:
    """A copy of a value as JSON has it; objects of libraries become the tables they dump.

    Args:
        value: anything.
        lost: told the type of what cannot be written, in whose place a text then stands.

    Raises:
        ValueError, TypeError: something cannot be written as JSON, and nobody wants to be told.
    """
    if value is None or type(value) in (str, int, bool):
        return value
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        return _DECODER.decode(_STRICT.encode(value))  # nothing in it is out of the ordinary

    def other(part: Any) -> Any:
        try:
            return _table_of(part)
        except Exception:
            if lost is None:
                raise
            return _placeholder(type(part).__name__, lost)

    def constant(name: str) -> str:
        if lost is None:
            raise ValueError(f"{name} is not JSON")
        return _placeholder(name, lost)

    try:
        return json.loads(json.dumps(value, default=other), parse_constant=constant)
    except (ValueError, TypeError, RecursionError):  # a circle, a key that is no text
        if lost is None:
            raise
        return _placeholder(type(value).__name__, lost)


_DECODER = json.JSONDecoder()
_STRICT = json.JSONEncoder(allow_nan=False)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_ASCII = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def _placeholder(what: str, lost: Callable[[str], None]) -> str:
    lost(what)
    return f"[not recorded: {what}]"


def _table_of(value: Any) -> Any:
    if hasattr(value, "model_dump"):  # pydantic, as the SDKs' replies are
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
