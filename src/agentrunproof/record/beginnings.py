"""How much of a conversation is old: lists and request texts held against earlier ones.

A Python list is held against snapshots of earlier lists. A snapshot shares the list's strings, so
that comparing them stays in the interpreter's C code and ends at the first difference. A request's
text is held against the beginnings of earlier texts byte by byte; only what follows is parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Any

from agentrunproof.record.jsonable import plain

#: How many lists a new one is held against: as many conversations may go on at once.
REMEMBERED = 256
#: How many elements at a text's end are compared one by one: there it is that texts part.
LATEST = 64
#: The lists that grow with a conversation, by the names the APIs have for them.
GROWING = ("messages", "input")


@dataclass(frozen=True)
class Block:
    """The texts of neighbouring elements of a list, compared at once.

    Args:
        text: all of them, with what stands before each.
        ends: where in it each of them ends.
    """

    text: bytes
    ends: tuple[int, ...]

    def elements(self, count: int) -> list[bytes]:
        """The texts of the first ones."""
        return [self.text[start:end]
                for start, end in zip((0, *self.ends), self.ends[:count], strict=False)]


@dataclass(eq=False)
class Listed:
    """A list that has a number, and the numbers of its items."""

    number: int
    items: list[int]
    #: A snapshot of each element; of a text, the latest elements with what stands before each.
    look: list[Any] = field(default_factory=list)
    #: Of a text: all before its first element, and the elements before `look`.
    opening: bytes = b""
    blocks: tuple[Block, ...] = ()


class Snapshots:
    """The latest lists of Python values."""

    def __init__(self) -> None:
        self._known: list[Listed] = []

    def nearest(self, values: list[Any]) -> tuple[Listed | None, int]:
        """The list that `values` has most elements in common with, and how many."""
        best, kept = None, -1
        for one in reversed(self._known):
            same = 0
            if values and one.look and one.look[0] == values[0]:
                same = common(one.look, values)
            if same > kept and (same or not one.items):
                best, kept = one, same
                if same == len(one.items):
                    break
        return best, max(kept, 0)

    def remember(self, made: Listed, base: Listed | None, kept: int, values: list[Any],
                 new: list[Any]) -> None:
        """Keep how a list looked.

        Args:
            made: the list.
            base: what it begins with.
            kept: how many elements of that.
            values: all its elements as they were given.
            new: those from `kept` on, as JSON.
        """
        made.look = (base.look[:kept] if base else []) + [
            _snapshot(value, table) for value, table in zip(values[kept:], new, strict=True)]
        _replace(self._known, base, made)
        del self._known[:-REMEMBERED]


@dataclass(frozen=True)
class ReadText:
    """A request's table, with a growing list that holds only what is new.

    Args:
        table: the request; the list under `key` lacks its first `kept` elements.
        key: the name of the growing list, empty if there is none whose places are known.
        base: the list it begins with.
        kept: how many elements of that.
        opening: the text before the first element.
        new: the text of each element of the table's list, with what stands before it.
    """

    table: dict[str, Any]
    key: str = ""
    base: Listed | None = None
    kept: int = 0
    opening: bytes = b""
    new: tuple[bytes, ...] = ()


class Texts:
    """The beginnings of the latest request texts."""

    def __init__(self) -> None:
        self._known: list[Listed] = []

    def read(self, text: bytes) -> ReadText:
        """Parse a request without the part that it shares with an earlier one.

        Raises:
            ValueError: it is not a JSON table.
        """
        base, kept, end = self._nearest(text)
        if base is None:
            return _parse(text)
        comma = text[end:end + 1] == b","
        read = _parse(base.opening + text[end + comma:])
        if read.opening != base.opening:  # the list is another one than it seemed
            return _parse(text)
        new = read.new
        if comma and new:
            new = (b"," + new[0], *new[1:])
        return replace(read, base=base, kept=kept, new=new)

    def remember(self, made: Listed, read: ReadText) -> None:
        """Keep the text of a list's elements."""
        base = read.base
        made.opening = read.opening
        if base is not None:
            made.blocks, made.look = _first(base, read.kept)
        made.look += read.new
        while len(made.look) > 2 * LATEST:
            made.blocks += (_block(made.look[:LATEST]),)
            made.look = made.look[LATEST:]
        _replace(self._known, base, made)
        del self._known[:-REMEMBERED]

    def _nearest(self, text: bytes) -> tuple[Listed | None, int, int]:
        """The list that begins as the one of `text` does, how far, and where that ends."""
        best, kept, place = None, 0, 0
        for one in reversed(self._known):
            same, end = _same_elements(one, text)
            if same > kept:
                best, kept, place = one, same, end
                if same == len(one.items):
                    break
        return best, kept, place


class Beginning(Sequence[Any]):
    """The first elements of a list that from now on only grows.

    A conversation is a request at each of its turns. That these are beginnings of one list need
    not be found out, and they take no room.

    Args:
        whole: the list.
        size: how many of its elements.
    """

    __slots__ = ("size", "whole")

    def __init__(self, whole: list[Any], size: int) -> None:
        self.whole = whole
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self.whole[number] for number in range(*at.indices(self.size))]
        return self.whole[range(self.size)[at]]

    def __iter__(self) -> Iterator[Any]:
        return islice(self.whole, self.size)


def common(a: Any, b: Any) -> int:
    """How many elements two sequences of one type have in common at their beginning."""
    if isinstance(a, Beginning) and isinstance(b, Beginning) and a.whole is b.whole:
        return min(a.size, b.size)
    size = min(len(a), len(b))
    if a[:size] == b[:size]:
        return size
    same, different = 0, size
    while different - same > 1:
        middle = (same + different) // 2
        if a[same:middle] == b[same:middle]:
            same = middle
        else:
            different = middle
    return same


def _replace(known: list[Listed], base: Listed | None, made: Listed) -> None:
    """What a list grew from is, as a rule, not grown from again."""
    if base in known:
        known.remove(base)
    known.append(made)


class _Exactly:
    """Stands for a number in a snapshot: ``==`` alone takes 1, 1.0 and true for the same."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self.value) and repr(other) == repr(self.value)


class _Dumped:
    """Stands for an object of a library: the same one, as long as it dumps the same."""

    __slots__ = ("table", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, table: Any) -> None:
        self.value = value
        self.table = table

    def __eq__(self, other: object) -> bool:
        return other is self.value and bool(plain(other, _ignored) == self.table)


def _ignored(what: str) -> None:
    """It was told when the object was first seen."""


def _snapshot(value: Any, table: Any) -> Any:
    """A copy that equals a value as long as nobody changes it, and shares its strings."""
    if value is None or type(value) is str:
        return value
    if type(value) is dict and type(table) is dict:
        return {key: _snapshot(inner, table.get(key)) for key, inner in value.items()}
    if type(value) is list and type(table) is list:
        return [_snapshot(inner, outer) for inner, outer in zip(value, table, strict=True)]
    if type(value) in (bool, int, float):
        return _Exactly(value)
    return _Dumped(value, table)


def _same_elements(known: Listed, text: bytes) -> tuple[int, int]:
    """How many elements of a list stand at the same places in `text`, and where they end."""
    if not text.startswith(known.opening):
        return 0, 0
    same, place = 0, len(known.opening)
    rest: list[bytes] = known.look
    for block in known.blocks:
        if not text.startswith(block.text, place):
            rest = block.elements(len(block.ends))
            break
        same, place = same + len(block.ends), place + len(block.text)
    for element in rest:
        if not text.startswith(element, place):
            break
        same, place = same + 1, place + len(element)
    return (same, place) if text[place:place + 1] in (b",", b"]") else (0, 0)


def _block(elements: list[bytes]) -> Block:
    return Block(b"".join(elements), tuple(accumulate(map(len, elements))))


def _first(known: Listed, count: int) -> tuple[tuple[Block, ...], list[bytes]]:
    """The first elements of a list: whole blocks, and the texts of those after them."""
    for number, block in enumerate(known.blocks):
        if count < len(block.ends):
            return known.blocks[:number], block.elements(count)
        count -= len(block.ends)
    return known.blocks, known.look[:count]


_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[ \t\r\n,]*")


def _parse(text: bytes) -> ReadText:
    """Parse all of a request and find where the elements of its growing list stand.

    Only lists of tables have such places: a table's last byte says that it ends there.
    """
    table = json.loads(text)
    if not isinstance(table, dict):
        raise ValueError("a request that is not a JSON table")
    found = []
    for key in GROWING:
        value = table.get(key)
        opening = re.search(rb'"%s"\s*:\s*\[' % key.encode(), text)
        if opening and isinstance(value, list) and all(type(one) is dict for one in value):
            start = opening.end()
            elements = _elements(text[start:].decode("utf-8"), value)
            if elements is not None:
                found.append(ReadText(table, key, opening=text[:start], new=elements))
    return min(found, key=lambda read: len(read.opening), default=ReadText(table))


def _elements(text: str, values: list[Any]) -> tuple[bytes, ...] | None:
    """The texts of a list's elements; None if these are not what stands there."""
    elements, position = [], 0
    for value in values:
        start = position
        between = _BETWEEN.match(text, position)
        assert between is not None  # it matches nothing, too
        try:
            found, position = _DECODER.raw_decode(text, between.end())
        except ValueError:
            return None
        if found != value:
            return None
        elements.append(text[start:position].encode("utf-8"))
    return tuple(elements)
