"""Backends that need no other package, most of them the SDK's: what a case is tried on by name."""

from __future__ import annotations

import atexit
import copy
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from agentrunproof.suites.session.case import Backend
from agentrunproof.suites.session.fake_openai import FakeOpenAI

#: What sessions on a storage support, and those that can be closed.
STORED = frozenset({"reopen", "settings"})
CLOSED = STORED | {"close"}


class Files:
    """Database files, one for each case: the ids of a case differ in their last word alone.

    So what one case leaves behind, a lock say, is not there for the next.
    """

    def __init__(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="agentrunproof-sessions-")
        atexit.register(folder.cleanup)
        self._folder = Path(folder.name)

    def path(self, session_id: str) -> Path:
        """The file of a session."""
        return self._folder / f"{session_id.rpartition('-')[0]}.db"

    def effects(self, session: Any) -> Any:
        """All rows of both tables, without their times."""
        with closing(sqlite3.connect(self.path(session.session_id))) as database:
            made = {name for name, in database.execute("select name from sqlite_master")}
            return [row for name, columns in (("agent_sessions", "session_id"),
                                              ("agent_messages", "id, message_data"))
                    if name in made
                    for row in database.execute(f"select {columns} from {name} order by 1")]

    def damage(self, session: Any, row: str = "{") -> None:
        """Overwrite the newest row of a session."""
        with closing(sqlite3.connect(self.path(session.session_id))) as database:
            database.execute(
                "update agent_messages set message_data = ? where id = "
                "(select max(id) from agent_messages where session_id = ?)",
                (row, session.session_id))
            database.commit()


class Memory:
    """A session in a list, without threads: what is begun at once happens in one order."""

    session_settings: Any = None

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._items: list[Any] = []

    async def get_items(self, limit: int | None = None) -> list[Any]:
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        items = self._items if limit is None else self._items[max(0, len(self._items) - limit):]
        return copy.deepcopy(items)

    async def add_items(self, items: list[Any]) -> None:
        self._items += copy.deepcopy(items)

    async def pop_item(self) -> Any:
        return self._items.pop() if self._items else None

    async def clear_session(self) -> None:
        self._items.clear()


def memory() -> Backend:
    """A sound session of ours, for what the SDK's wrappers do with one."""
    return Backend(Memory)


def sqlite_file() -> Backend:
    """`SQLiteSession` on files."""
    from agents import SQLiteSession

    files = Files()
    return Backend(lambda id: SQLiteSession(id, files.path(id)), CLOSED, damage=files.damage,
                   effects=files.effects)


def conversations() -> Backend:
    """`OpenAIConversationsSession` over a client in memory."""
    from agents import OpenAIConversationsSession

    client = FakeOpenAI()
    made: dict[str, Any] = {}

    def make(id: str) -> Any:
        """The conversation that the last session of this id has begun, if it has."""
        last = made.get(id)
        made[id] = OpenAIConversationsSession(
            openai_client=client,  # type: ignore[arg-type]
            conversation_id=last and last._session_id)
        return made[id]

    return Backend(make, STORED, effects=lambda _: client.begun)


#: By name.
BACKENDS: dict[str, Callable[[], Backend]] = {
    "memory": memory, "sqlite": sqlite_file, "conversations": conversations}
