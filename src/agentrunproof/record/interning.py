"""Content that stands once: values by number, and lists as growths of earlier lists.

Each request of an agent repeats the whole conversation before it. What is written costs only what
is new: a value seen before is its number, and a list that begins as an earlier one did is that
list's number, how much of it stays, and the numbers of what follows. What is old is recognised
without being read as JSON again (`record.beginnings`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from agentrunproof.record.beginnings import Beginning, Listed, Snapshots, Texts
from agentrunproof.record.jsonable import dump, plain

#: Texts and tables of a request beyond this size in bytes become items.
SMALL = 200


class Interner:
    """Gives numbers to content and emits what is new.

    Args:
        emit: takes each new line of a run file, without its end, that says what a number stands
            for.
        change: what is done to each value before it is written (secrets taken out).
        lost: told the type of each value that cannot be written.
    """

    def __init__(self, emit: Callable[[bytes], None], change: Callable[[Any], Any],
                 lost: Callable[[str], None]) -> None:
        self._emit = emit
        self._change = change
        self._lost = lost
        self._numbers: dict[bytes, int] = {}
        self._lists = 0
        self._snapshots: dict[str, Snapshots] = {}
        #: by the id of the list: its latest beginning, and that one's number
        self._begun: dict[int, tuple[Beginning, int]] = {}
        self._texts = Texts()

    def item(self, value: Any) -> int:
        """The number of a plain JSON value."""
        text = dump(value)
        key = hashlib.sha256(text).digest()
        if key not in self._numbers:
            number = self._numbers[key] = len(self._numbers)
            changed = self._change(value)
            if changed != value:
                text = dump(changed)
            self._emit(b'{"item":%d,"value":%b}' % (number, text))
        return self._numbers[key]

    def body(self, body: Mapping[str, Any] | bytes) -> dict[str, Any]:
        """A request body in stored form.

        Args:
            body: the request's table, or its JSON text as it was sent.

        Returns:
            ``body`` with null where something is taken out; ``lists`` and ``items`` with the
            numbers of what was taken out, by key.

        Raises:
            ValueError: the text is not a JSON table.
        """
        lists: dict[str, int] = {}
        items: dict[str, int] = {}
        if isinstance(body, bytes):
            table = self._read(body, lists)
        else:
            table = dict(body)
        for key, value in table.items():
            if key not in lists and isinstance(value, Beginning):
                lists[key] = self._beginning(value)
            elif key not in lists and isinstance(value, list | tuple):
                lists[key] = self._list(key, list(value))
        rest: dict[str, Any] = {}
        for key, value in table.items():
            rest[key] = None
            if key not in lists:
                small = plain(value, self._lost)
                if isinstance(small, str | dict) and len(dump(small)) > SMALL:
                    items[key] = self.item(small)
                else:
                    rest |= self._change({key: small})  # the key may say that it is secret
        return {"body": rest, **({"lists": lists} if lists else {}),
                **({"items": items} if items else {})}

    def _beginning(self, values: Beginning) -> int:
        """The number of the first elements of a list: what was begun with is not looked at."""
        before, number = self._begun.get(id(values.whole), (None, 0))
        kept = 0 if before is None else min(before.size, values.size)
        if before is None or before.size != values.size:
            items = [self.item(plain(value, self._lost)) for value in values[kept:]]
            number = self._number(items, number if kept else None, kept if before is not None
                                  and kept < before.size else None)
            self._begun[id(values.whole)] = values, number
        return number

    def _list(self, key: str, values: list[Any]) -> int:
        snapshots = self._snapshots.setdefault(key, Snapshots())
        base, kept = snapshots.nearest(values)
        if base is not None and kept == len(values) == len(base.items):
            return base.number
        new = [plain(value, self._lost) for value in values[kept:]]
        made = self._grow(base, kept, new)
        snapshots.remember(made, base, kept, values, new)
        return made.number

    def _read(self, text: bytes, lists: dict[str, int]) -> dict[str, Any]:
        """The table of a JSON text; its growing list is numbered and left without elements."""
        read = self._texts.read(text)
        if read.key:
            new = read.table[read.key]
            base = read.base
            if base is None or new or read.kept < len(base.items):
                base = self._grow(base, read.kept, new)
                self._texts.remember(base, read)
            lists[read.key] = base.number
        return read.table

    def _grow(self, base: Listed | None, kept: int, new: list[Any]) -> Listed:
        """Number a list that begins with the first `kept` elements of `base`."""
        start = base.items[:kept] if base is not None else []
        items = [self.item(value) for value in new]
        number = self._number(items, base.number if base is not None and kept else None,
                              kept if base is not None and kept < len(base.items) else None)
        return Listed(number, start + items)

    def _number(self, items: list[int], after: int | None, keep: int | None) -> int:
        """Number a list: `items`, after the first `keep` (None: all) of the list `after`."""
        line: dict[str, Any] = {"list": self._lists, "items": items}
        if after is not None:
            line["after"] = after
            if keep is not None:
                line["keep"] = keep
        self._emit(dump(line))
        self._lists += 1
        return int(line["list"])
