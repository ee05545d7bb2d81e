"""Formats that are known by sight and not read: a refusal says which one a file is of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


def name_of(value: Any) -> str:
    """Whose format a file's first value is of; empty if it is none that is known by sight."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return ""
    return next((name for name, tells in _KNOWN if tells(first)), "")


def _has(*keys: str) -> Callable[[Json], bool]:
    return lambda table: all(key in table for key in keys)


def _holds(key: str, tells: Callable[[Json], bool]) -> Callable[[Json], bool]:
    def first_tells(table: Json) -> bool:
        inner = table.get(key)
        return isinstance(inner, list) and bool(inner) and isinstance(inner[0], dict) \
            and tells(inner[0])

    return first_tells


_KNOWN: tuple[tuple[str, Callable[[Json], bool]], ...] = (
    ("a Temporal workflow history", _holds("events", _has("eventId", "eventType"))),
)
