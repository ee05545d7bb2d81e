"""A session in memory that keeps every promise; miniatures break one of them each."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from agentrunproof.suites.session import Backend

Rows = dict[str, list[str]]


class Sound:
    """Items as JSON text, in a table that sessions of one backend share.

    Args:
        session_id: the key in the table.
        rows: the table.
    """

    def __init__(self, session_id: str, rows: Rows) -> None:
        self.session_id: Any = session_id
        self.session_settings: Any = None
        self.key = session_id
        self.rows = rows
        self.is_closed = False

    async def get_items(self, limit: int | None = None) -> list[Any]:
        self.must_be_open()
        await asyncio.sleep(0)
        items = self.readable()
        limit = self.effective(limit)
        return items if limit is None else items[-limit:] if limit else []

    async def add_items(self, items: list[Any]) -> None:
        self.must_be_open()
        self.store([self.written(item) for item in items])
        await asyncio.sleep(0)

    async def pop_item(self) -> Any:
        self.must_be_open()
        rows = self.mine()
        while rows:
            item = _read(rows.pop())
            if item is not None:
                await asyncio.sleep(0)
                return item
        return None

    async def clear_session(self) -> None:
        self.must_be_open()
        self.rows.pop(self.key, None)

    def close(self) -> None:
        self.is_closed = True

    # What miniatures change

    def mine(self) -> list[str]:
        return self.rows.get(self.key, [])

    def readable(self) -> list[Any]:
        return [item for row in self.mine() if (item := _read(row)) is not None]

    def effective(self, limit: int | None) -> int | None:
        if limit is None and self.session_settings is not None:
            return self.session_settings.limit
        return limit

    def written(self, item: Any) -> str:
        return json.dumps(item)

    def store(self, rows: list[str]) -> None:
        if rows:
            self.rows.setdefault(self.key, []).extend(rows)

    def must_be_open(self) -> None:
        if self.is_closed:
            raise RuntimeError("the session is closed")


def _read(row: str) -> Any:
    try:
        return json.loads(row)
    except ValueError:
        return None


def damage(session: Sound) -> None:
    """Make the newest row unreadable."""
    session.rows[session.key][-1] = "{"


def effects(session: Sound) -> dict[str, list[str]]:
    """All rows."""
    return {key: list(rows) for key, rows in session.rows.items()}


def backend(kind: Callable[[str, Rows], Any], **options: Any) -> Backend:
    """A backend of sessions of one class on one table, which declares all it can."""
    rows: Rows = {}
    given: dict[str, Any] = {"supports": frozenset({"reopen", "settings", "close"}),
                             "damage": damage, "effects": effects}
    return Backend(lambda session_id: kind(session_id, rows), **(given | options))


def runner_functions() -> list[str]:
    """Names of the SDK's functions that wait for the present call."""
    names, frame = [], sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("agents."):
            names.append(frame.f_code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return names
