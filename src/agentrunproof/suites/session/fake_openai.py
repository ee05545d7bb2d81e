"""A stand-in for the OpenAI client that sessions over the API are given: everything in memory.

It refuses what the API refuses: more than 20 items in one request, pages of more than 100.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

MOST_CREATED = 20
MOST_LISTED = 100


class FakeOpenAI:
    """Conversations and the compaction of responses.

    Attributes:
        kept: items of each conversation.
        begun: how many conversations were ever begun.
    """

    def __init__(self) -> None:
        self.kept: dict[str, list[dict[str, Any]]] = {}
        self.begun = 0
        self._made = 0
        items = SimpleNamespace(create=self._add, list=self._list, delete=self._remove)
        self.conversations = SimpleNamespace(
            create=self._create, delete=self._delete, items=items)
        self.responses = SimpleNamespace(compact=self._compact)

    def with_options(self, **_: Any) -> FakeOpenAI:
        return self

    def _number(self, kind: str) -> str:
        self._made += 1
        return f"{kind}_{self._made}"

    async def _create(self, items: Any = (), **_: Any) -> Any:
        id = self._number("conv")
        self.begun += 1
        self.kept[id] = []
        return SimpleNamespace(id=id)

    async def _delete(self, conversation_id: str, **_: Any) -> None:
        del self.kept[conversation_id]

    async def _add(self, conversation_id: str, items: Any, **_: Any) -> None:
        items = list(items)
        if len(items) > MOST_CREATED:
            raise ValueError(f"{len(items)} items in one request, of at most {MOST_CREATED}")
        self.kept[conversation_id] += [
            {"id": self._number("item")} | copy.deepcopy(item) for item in items]

    def _list(self, conversation_id: str, *, order: str = "desc", limit: int = 20, **_: Any
              ) -> AsyncIterator[Any]:
        async def pages() -> AsyncIterator[Any]:
            if not 1 <= limit <= MOST_LISTED:
                raise ValueError(f"a page of {limit} items, of 1 to {MOST_LISTED}")
            found = copy.deepcopy(self.kept[conversation_id])
            for item in found if order == "asc" else reversed(found):
                yield _Item(item)

        return pages()

    async def _remove(self, item_id: str, *, conversation_id: str, **_: Any) -> None:
        items = self.kept[conversation_id]
        self.kept[conversation_id] = [item for item in items if item["id"] != item_id]

    async def _compact(self, **_: Any) -> Any:
        return SimpleNamespace(
            id=self._number("resp"), usage=None,
            output=[{"type": "compaction", "id": self._number("cmp"), "encrypted_content": "x"}])


class _Item:
    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self._fields
