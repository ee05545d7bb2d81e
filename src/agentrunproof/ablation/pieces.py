"""A request as pieces that can be overwritten, replaced or cut out, exactly.

Overwriting is the intervention of the search: each leaf gives way to filler of its own size, so
that nothing moves, the request stays valid, and "a lot of text is gone" is never what is tested.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from agentrunproof.ablation import text as texts
from agentrunproof.ablation.dialects import Body, Path, Slot, dialect
from agentrunproof.ablation.draft import Draft
from agentrunproof.ablation.leaves import Leaves
from agentrunproof.ablation.subject import (
    AblationError,
    Call,
    Earlier,
    Edit,
    Leaf,
    Piece,
    Way,
    arguments_of,
)
from agentrunproof.ablation.text import Part
from agentrunproof.shape import nearest

FILLERS: dict[Way, str] = {
    "filler": "Nothing to note in this part. It was left out and has no bearing on the matter. ",
    "other": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. "}

Ranges = list[tuple[int, int]]


class Context:
    """The pieces of one request body.

    Args:
        body: the JSON body, which is never changed.
        name: of its dialect.
    """

    def __init__(self, body: Body, name: str) -> None:
        self.body = body
        self.dialect = dialect(name)
        slots = list(self.dialect.slots(body))
        self.texts = Leaves([slot.text for slot in slots])
        self.slots: list[Slot] = []
        self.groups: list[tuple[int, int]] = []
        for slot, (low, high) in zip(slots, self.texts.groups, strict=True):
            if low < high:
                self.slots.append(slot)
                self.groups.append((low, high))
        self._firsts = [low for low, _ in self.groups]
        self._split: dict[int, list[Part]] = {}
        self._blanks: dict[tuple[int, Way], str] = {}
        self._blank_bodies: dict[Way, Body] = {}

    # What there is.

    def _parts(self, low: int, high: int) -> list[Part]:
        """Some leaves of one slot, with their exact places in its text."""
        n = self._slot_of(low)
        if n not in self._split:
            slot = self.slots[n]
            self._split[n] = ([Part(0, len(slot.text), slot.text, literal=True)] if slot.literal
                              else texts.parts(slot.text))
        first = self._firsts[n]
        return self._split[n][low - first:high - first]

    def _part(self, leaf: int) -> Part:
        return self._parts(leaf, leaf + 1)[0]

    def leaf(self, n: int) -> Leaf:
        """Leaf number `n`."""
        group = self._slot_of(n)
        slot, part = self.slots[group], self._part(n)
        id, place = _named(slot.id, slot.place, part.path)
        if texts.in_comment(slot.text, part.start):
            place += ", HTML comment"
        if part.number:
            id, place = f"{id} sentence {part.number}", f"{place}, sentence {part.number}"
        return Leaf(id, slot.kind, part.text, place, group)

    def span(self, n: int) -> tuple[Path, int, int]:
        """Where leaf number `n` stands: the path of its text in the body, start and end there."""
        slot, part = self.slots[self._slot_of(n)], self._part(n)
        return slot.path, part.start, part.end

    def group_id(self, n: int) -> str:
        """The id of text number `n`."""
        return self.slots[n].id

    @cached_property
    def earlier(self) -> tuple[Earlier, ...]:
        """The calls in the context that have a result, in their order."""
        results = {slot.call: 0 for slot in self.slots if slot.kind == "tool_result"}
        for slot, (low, high) in zip(self.slots, self.groups, strict=True):
            if slot.kind == "tool_result":
                results[slot.call] |= mask_of(low, high)
        ids = {slot.call: slot.id.split(" ")[0] for slot in self.slots
               if slot.kind == "tool_result"}
        return tuple(Earlier(Call(call.name, arguments_of(call.arguments)), results[call.id],
                             ids[call.id])
                     for call in self.dialect.calls(self.body) if call.id in results)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, as trees: a text, its JSON items, paragraphs, sentences."""
        found: list[Piece] = []
        for slot, (low, high) in zip(self.slots, self.groups, strict=True):
            whole = Piece(slot.id, slot.kind, slot.text, slot.place, (low, high),
                          _unless_alone(slot.id, self._children(slot, low, high, ())))
            if slot.kind == "tool_description":
                _add_to_definition(found, whole, slot.name)
            else:
                found.append(whole)
        return tuple(found)

    def _children(self, slot: Slot, low: int, high: int, steps: tuple[str, ...]
                  ) -> Iterator[Piece]:
        """The parts of what stands under `steps` in a text: JSON values, or its paragraphs."""
        depth = len(steps)
        for first, last in _runs_of(low, high, lambda n: _steps(self._part(n).path)[:depth + 1]):
            here = _steps(self._part(first).path)[:depth + 1]
            if len(here) == depth:
                yield from self._prose(slot, first, last)
                continue
            id, place = _named(slot.id, slot.place, "".join(here).lstrip("."))
            yield Piece(id, slot.kind, self._said(slot, first, last), place, (first, last),
                        _unless_alone(id, self._children(slot, first, last, here)))

    def _prose(self, slot: Slot, low: int, high: int) -> Iterator[Piece]:
        runs = list(_runs_of(low, high, lambda n: self._part(n).paragraph))
        for first, last in runs:
            leaves = [self._leaf_piece(n) for n in range(first, last)]
            if len(runs) == 1 or len(leaves) == 1:
                yield from leaves
                continue
            id, place = _named(slot.id, slot.place, self._part(first).path)
            number = self._part(first).paragraph
            yield Piece(f"{id} paragraph {number}", slot.kind, self._said(slot, first, last),
                        f"{place}, paragraph {number}", (first, last), tuple(leaves))

    def _leaf_piece(self, n: int) -> Piece:
        leaf = self.leaf(n)
        return Piece(leaf.id, leaf.kind, leaf.text, leaf.place, (n, n + 1))

    def _said(self, slot: Slot, first: int, last: int) -> str:
        return slot.text[self._part(first).start:self._part(last - 1).end]

    @cached_property
    def _by_id(self) -> dict[str, Piece]:
        return {piece.id: piece for root in self.pieces for piece in root.walk()}

    def piece(self, id: str) -> Piece:
        """The piece of that id.

        Raises:
            AblationError: ``PIECE_UNKNOWN``.
        """
        if id not in self._by_id:
            raise AblationError("PIECE_UNKNOWN", f"there is no piece {id!r}",
                                nearest(id, self._by_id) or "`pieces` lists them")
        return self._by_id[id]

    # What becomes of it.

    def edited(self, edit: Edit) -> Body:
        """The body with leaves taken away; what is untouched is shared with the original."""
        if edit.way == "removed":
            draft = Draft(self.body)
            self._remove(draft, edit.leaves)
            return draft.finished(self.dialect)
        kept = mask_of(0, len(self.texts)) & ~edit.leaves
        if edit.leaves.bit_count() <= kept.bit_count():
            draft, touched = Draft(self.body), self._touched(edit.leaves)
        else:  # it takes less to put back what is kept
            draft = Draft(self._blanked(edit.way))
            touched = ((n, self._others(n, ranges)) for n, ranges in self._touched(kept))
        for n, ranges in touched:
            self._put(draft, n, self._overwritten(n, edit.way, ranges))
        return draft.body

    def _blanked(self, way: Way) -> Body:
        """The body with all leaves overwritten."""
        if way not in self._blank_bodies:
            draft = Draft(self.body)
            for n in range(len(self.slots)):
                self._put(draft, n, self._blank(n, way))
            self._blank_bodies[way] = draft.body
        return self._blank_bodies[way]

    def _blank(self, n: int, way: Way) -> str:
        """A slot's text with every leaf overwritten."""
        if (n, way) not in self._blanks:
            slot = self.slots[n]
            self._blanks[n, way] = (texts.blank(slot.text) if slot.literal
                                    else texts.overwritten(slot.text, FILLERS[way]))
        return self._blanks[n, way]

    def _others(self, n: int, ranges: Ranges) -> Ranges:
        """The runs of a slot's leaves that lie between some."""
        first, last = self.groups[n]
        ends = [first, *(end for run in ranges for end in run), last]
        return [run for run in zip(ends[::2], ends[1::2], strict=True) if run[0] < run[1]]

    def _overwritten(self, n: int, way: Way, ranges: Ranges) -> str:
        """A slot's text with some leaves overwritten, neighbours in one value as one."""
        if ranges == [self.groups[n]]:
            return self._blank(n, way)
        text, filler = self.slots[n].text, FILLERS[way]
        out, at = [], 0
        for low, high in ranges:
            for part, end in _in_one_value(self._parts(low, high)):
                out += [text[at:part.start], texts.blank(part.text) if part.literal
                        else texts.filled(end - part.start, filler)]
                at = end
        out.append(text[at:])
        return "".join(out)

    def without(self, ids: Iterable[str], replace: Mapping[str, str] | None = None) -> Body:
        """The body with pieces cut out and others replaced by texts.

        Raises:
            AblationError: ``PIECE_UNKNOWN``; ``PIECE_TWICE`` where two edits overlap.
        """
        draft = Draft(self.body)
        gone, changes = 0, {}
        for id, new in (replace or {}).items():
            piece = self.piece(id)
            if gone & mask_of(*piece.leaves):
                raise AblationError("PIECE_TWICE", f"{id!r} is replaced twice")
            gone |= mask_of(*piece.leaves)
            changes[piece.leaves[0]] = (piece.leaves[1], new)
        replaced, gone = gone, 0
        for piece in map(self.piece, ids):
            gone |= mask_of(*piece.leaves)
            if piece.kind == "tool_definition":
                draft.drop(self.slots[self._slot_of(piece.leaves[0])].path[:2])
        if replaced & gone:
            raise AblationError("PIECE_TWICE", "a piece is both left out and replaced")
        self._replace(draft, changes)
        self._remove(draft, gone)
        return draft.finished(self.dialect)

    def _replace(self, draft: Draft, changes: Mapping[int, tuple[int, str]]) -> None:
        """Write new texts, the last first, so that the offsets before them stay."""
        for first in sorted(changes, reverse=True):
            last, new = changes[first]
            n = self._slot_of(first)
            start, end = self._part(first), self._part(last - 1)
            written = json.dumps(new) if start.literal else texts.escaped(new, start.depth)
            old = draft.texts.get(n, self.slots[n].text)
            self._put(draft, n, old[:start.start] + written + old[end.end:])

    def _remove(self, draft: Draft, leaves: int) -> None:
        for n, ranges in self._touched(leaves):
            slot = self.slots[n]
            if ranges != [self.groups[n]]:
                gone = [part for low, high in ranges for part in self._parts(low, high)]
                self._put(draft, n, _cut(draft.texts.get(n, slot.text), gone))
            elif slot.unit:
                draft.drop(slot.unit)
                if slot.kind == "tool_result":
                    draft.drop(*(call.unit for call in self.dialect.calls(self.body)
                                 if call.id == slot.call))
            elif slot.kind == "arguments" and not slot.literal:
                self._put(draft, n, "{}" if _is_object(slot.text) else "")
            else:
                draft.clear(slot.path)

    def _put(self, draft: Draft, n: int, new: str) -> None:
        draft.texts[n] = new
        slot = self.slots[n]
        draft.put(slot.path, json.loads(new) if slot.literal else new)

    def _slot_of(self, leaf: int) -> int:
        return bisect_right(self._firsts, leaf) - 1

    def _touched(self, leaves: int) -> Iterator[tuple[int, Ranges]]:
        """The slots that an edit touches, with the runs of its leaves in each."""
        slot = -1
        ranges: Ranges = []
        for low, high in runs(leaves):
            n = self._slot_of(low)
            while low < high:
                if n != slot:
                    if ranges:
                        yield slot, ranges
                    slot, ranges = n, []
                end = min(high, self.groups[n][1])
                ranges.append((low, end))
                low = end
                n += 1
        if ranges:
            yield slot, ranges


def mask_of(low: int, high: int) -> int:
    """A bit mask of the leaves from `low` up to, not including, `high`."""
    return (1 << high) - (1 << low)


def runs(leaves: int) -> list[tuple[int, int]]:
    """The runs of neighbouring leaves in a bit mask, in their order."""
    return [found.span() for found in _ONES.finditer(bin(leaves)[:1:-1])]


_ONES = re.compile("1+")


def _in_one_value(parts: Iterable[Part]) -> Iterator[tuple[Part, int]]:
    """Neighbouring parts of the same JSON string or prose: the first, and the end of the last."""
    run: list[Part] = []
    for part in parts:
        if run and part.number <= 1:  # a first or only one
            yield run[0], run[-1].end
            run = []
        run.append(part)
    if run:
        yield run[0], run[-1].end


def _cut(text: str, parts: Iterable[Part]) -> str:
    """A text without some of its parts: a sentence goes with the white space after it, of a JSON
    string nothing but the quotes is left, and of another JSON value null."""
    out, at = [], 0
    for part in parts:
        out += [text[at:part.start], "null" if part.literal else ""]
        space = _space(part.depth).match(text, part.end) if part.number else None
        at = space.end() if space else part.end
    out.append(text[at:])
    return "".join(out)


@cache
def _space(depth: int) -> re.Pattern[str]:
    """White space as it is written in so many JSON strings."""
    return re.compile(rf"(?:\s|\\{{{2 ** depth // 2}}}[nrt])*" if depth else r"\s*")


def _is_object(text: str) -> bool:
    return text.strip()[:1] == "{"


def _steps(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\[\d+\]|\.?[^.\[]+", path))


def _named(id: str, place: str, path: str) -> tuple[str, str]:
    if not path:
        return id, place
    return (id + path if path.startswith("[") else f"{id}.{path}"), f"{place}, {path}"


def _runs_of(low: int, high: int, key: Callable[[int], Any]) -> Iterator[tuple[int, int]]:
    """Neighbours with the same key."""
    first = low
    for n in range(low + 1, high + 1):
        if n == high or key(n) != key(first):
            yield first, n
            first = n


def _unless_alone(id: str, pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The parts of a piece, unless its one part is itself."""
    children = tuple(pieces)
    return children[0].children if [child.id for child in children] == [id] else children


def _add_to_definition(found: list[Piece], description: Piece, name: str) -> None:
    """Put a description under the definition of its tool."""
    id = f"tools.{name}"
    before = found.pop() if found and found[-1].id == id else None
    children = (*(before.children if before else ()), description)
    found.append(Piece(id, "tool_definition", "\n".join(child.text for child in children),
                       f"tool {name}", (children[0].leaves[0], description.leaves[1]), children))
