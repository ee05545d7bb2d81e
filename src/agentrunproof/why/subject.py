"""A failing plan as a subject that can be rerun without some of its parts, as a model call can be.

Its leaves are the elements of the plan, in their order: an element before those that lie within it,
which go where it goes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import groupby

from agentrunproof.ablation.pieces import mask_of, runs
from agentrunproof.ablation.subject import Call, Decision, Earlier, Edit, Leaf, Piece
from agentrunproof.record.ablation import leaves_text
from agentrunproof.why.elements import Element, Whole
from agentrunproof.why.smallest import SAME, Oracle, Outcome

#: Decided by a plan of which nothing is left that could be run.
NO_PLAN = "no plan is left"


class _Texts(tuple[str, ...]):
    """What the elements say, each of them whole."""

    def holding(self, words: Sequence[str]) -> Iterator[list[int]]:
        """For each of some small letter words, the elements in which it stands as a whole word."""
        lowered = [text.lower() for text in self]
        for word in words:
            alone = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])")
            yield [n for n, text in enumerate(lowered) if alone.search(text)]


class FailingPlan:
    """A plan and the way it fails.

    Args:
        whole: the plan.
        check: that fails.
        code: with which it does.
        judge: runs smaller plans.
    """

    deterministic = True
    earlier: tuple[Earlier, ...] = ()

    def __init__(self, whole: Whole, check: str, code: str, judge: Oracle) -> None:
        self.whole, self._judge = whole, judge
        self._failure = Call(check, {"code": code})
        self.texts = _Texts(one.says for one in whole.elements)
        self._number = {one.id: n for n, one in enumerate(whole.elements)}

    @property
    def target(self) -> str:
        """What is asked about it, in the form of targets."""
        return f"tool:{self._failure.name}:code={self._failure.arguments['code']}"

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """The elements of each part of the plan: an agent, a tool, a phase, the session, ..."""
        found = []
        for _, part in groupby(enumerate(self.whole.elements), key=lambda pair: _part(pair[1])):
            numbers = [n for n, _ in part]
            found.append((numbers[0], numbers[-1] + 1))
        return found

    def group_id(self, n: int) -> str:
        """The place of the part."""
        return _part(self.whole.elements[self.groups[n][0]])

    def leaf(self, n: int) -> Leaf:
        """Element number `n`."""
        element = self.whole.elements[n]
        group = next(k for k, (low, high) in enumerate(self.groups) if low <= n < high)
        return Leaf(element.id, "plan", element.says, element.kind, group)

    def pieces(self) -> tuple[Piece, ...]:
        """All elements, each with those that lie within it."""
        return tuple(self._pieces(0, len(self.texts)))

    def _pieces(self, low: int, high: int) -> Iterator[Piece]:
        while low < high:
            element = self.whole.elements[low]
            end = low + 1
            while end < high and element.holds(self.whole.elements[end]):
                end += 1
            yield Piece(element.id, "plan", element.says, element.kind, (low, end),
                        tuple(self._pieces(low + 1, end)))
            low = end

    def rerun(self, edit: Edit) -> Decision:
        """How the plan fails without some of its elements; what else happens is in words."""
        gone = {self.whole.elements[n].id for low, high in runs(edit.leaves)
                for n in range(low, high)}
        reduced = self.whole.without(gone)
        if reduced is None:
            return Decision(text=NO_PLAN)
        (outcome,) = self._judge([reduced.plan])
        return self.decision(outcome)

    def decision(self, outcome: Outcome) -> Decision:
        """An outcome as a decision."""
        return Decision((self._failure,)) if outcome == SAME else Decision(text=str(outcome))

    def leaves(self, ids: Collection[str]) -> str:
        """Elements as they are written in records."""
        total = 0
        for id in ids:
            total |= mask_of(self._number[id], self._number[id] + 1)
        return leaves_text(runs(total))

    def number(self, id: str) -> int:
        """The number of an element."""
        return self._number[id]


def _part(element: Element) -> str:
    """The part of the plan in which an element stands, such as ``agents.clerk``."""
    first, *rest = element.path
    if first == "phases":
        return ".".join(element.id.split(".")[:2])
    return f"{first}.{rest[0]}" if rest and first in _NAMED else str(first)


#: Tables of named parts.
_NAMED = ("agents", "tools", "guardrails", "tool_guardrails", "handoffs", "types")
