"""A session of the OpenAI Agents SDK that is one JSON file: the library whose job this is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class JsonFileSession:
    """The items of one conversation, as a JSON array in a file.

    Args:
        session_id: the conversation's id.
        path: the file; it need not exist yet.
    """

    #: Part of the protocol of sessions from SDK 0.8.0 on.
    session_settings: Any = None

    def __init__(self, session_id: str, path: str | Path) -> None:
        self.session_id = session_id
        self._path = Path(path)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The newest `limit` items, oldest first; all of them without a limit."""
        items = self._read()
        if limit is None:
            return items
        return items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """Append items."""
        self._write([*self._read(), *items])

    async def pop_item(self) -> Any | None:
        """Remove and return the newest item."""
        items = self._read()
        if not items:
            return None
        last = items.pop()
        self._write(items)
        return last

    async def clear_session(self) -> None:
        """Remove all items."""
        self._write([])

    def _read(self) -> list[Any]:
        if not self._path.exists():
            return []
        items: list[Any] = json.loads(self._path.read_text("utf-8"))
        return items

    def _write(self, items: list[Any]) -> None:
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(items, ensure_ascii=False), "utf-8")
        os.replace(draft, self._path)
