"""The search: which smallest sets of leaves, overwritten, make the decision rarer.

First the suspects, then everything else at once, so that nothing is left untested; where neither
flips the decision, halves by turns, in which a cause may lie without the text that pushes the other
way. A set that flips is narrowed (`agentrunproof.ablation.narrow`). What was found is then kept
and all the rest overwritten: if that still flips the decision, there is more to be found. Where so
much gone flips the decision by itself, the same is done block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from agentrunproof.ablation import suspects
from agentrunproof.ablation.narrow import MANY, Narrowing, TooMuch, Weights, singles
from agentrunproof.ablation.pieces import mask_of, runs
from agentrunproof.ablation.screen import LIKELY, SURE, Screen, SearchSpent
from agentrunproof.ablation.subject import Subject, Target
from agentrunproof.ablation.trials import Step

#: No more sets than these are looked for.
MOST_SETS = 6
#: Halves by turns use so many binary digits of a leaf's place within its text.
_MOST_DIGITS = 5


@dataclass
class Found:
    """What the search has found so far; it holds even where the search was cut short.

    Args:
        sets: smallest sets that flip the decision, in the order found.
        complete: whether all the rest, gone at once, was seen to do nothing.
        cut_short: whether the search had no more calls to make.
    """

    sets: list[int] = field(default_factory=list)
    complete: bool = False
    cut_short: bool = False

    @property
    def leaves(self) -> int:
        """The leaves of all sets."""
        total = 0
        for leaves in self.sets:
            total |= leaves
        return total


class Search:
    """The search for one target.

    Args:
        subject: what is explained.
        target: what is asked about it.
        screen: asks the model.
        hints: leaves to look at first, with weights; see `explain.Explanation`.
    """

    def __init__(self, subject: Subject, target: Target, screen: Screen,
                 hints: Mapping[int, float]) -> None:
        self._screen = screen
        self._groups = subject.groups
        self._count = len(subject.texts)
        self.all = mask_of(0, self._count)
        score = suspects.scores(subject.texts, target.recorded, hints)
        self.suspects = sum(1 << n for n in suspects.suspects(score))
        # The many together weigh as much as the suspects do.
        plain = max(1.0, sum(score.values())) / self._count
        self._narrowing = Narrowing(screen, Weights(plain, score), self._groups)
        self._most = self._count  # leaves that are gone at once
        self.found = Found()

    def run(self) -> Step[Found]:
        """Search until nothing more flips the decision."""
        try:
            while not (yield from self._all_looked_at()):
                pass
        except SearchSpent:
            self.found.cut_short = True
            if not self.found.sets:
                self.found.sets += self._screen.likeliest()
        return self.found

    def _all_looked_at(self) -> Step[bool]:
        """Search; not to the end where it has to be done again with less gone at once."""
        try:
            if not self.found.sets:
                yield from self._first()
            if not self.found.sets and self._screen.kept:
                self._screen.release()
                yield from self._first()
            nothing_else = not self.found.sets or (yield from self._rest())
            self.found.complete = nothing_else and self._most == self._count
        except TooMuch as problem:
            before, self._most = self._most, max(MANY, min(problem.count, self._most) // 2)
            return self._most == before
        return True

    def _first(self) -> Step[None]:
        """The first set: among suspects, among all, or in halves by turns."""
        for leaves, prior in chain(((self.suspects, 0.5), (self.all, 0.4)),
                                   ((half, 0.15) for half in self._halves_by_turns())):
            for block, share in self._blocks(leaves):
                if (yield from self._flips_for_good(block, max(prior * share, 0.15))) and (
                        yield from self._add(block)):
                    return

    def _flips_for_good(self, leaves: int, prior: float) -> Step[bool]:
        """Whether a set flips clearly, even after a second look at the unchanged request."""
        if not leaves or not (yield from self._screen.flips(leaves, prior, LIKELY)):
            return False
        yield from self._screen.base_again()
        return (yield from self._screen.odds(leaves, prior, SURE)) >= LIKELY

    def _rest(self) -> Step[bool]:
        """Further sets; whether the rest was seen to do nothing."""
        flips = self._screen.flips
        while len(self.found.sets) < MOST_SETS:
            unclear = False
            for leaves, prior, afresh in list(self._others()):
                if (yield from flips(leaves, prior, SURE, afresh=afresh)):
                    if (yield from self._add(leaves)):
                        break
                    unclear = True
            else:
                return not unclear
        return False

    def _others(self) -> Iterator[tuple[int, float, bool]]:
        """What else may flip, with the chance of it: the rest; and where a set has several leaves,
        the rest with all of them but one."""
        rest = list(self._blocks(self.all & ~self.found.leaves))
        for block, share in rest:
            yield block, 0.25 * share, True
        for one in self.found.sets:
            if one.bit_count() > 1:
                for leaf in singles(one):
                    for block, share in rest:
                        yield block | one & ~leaf, 0.2 * share, False

    def _blocks(self, leaves: int) -> Iterator[tuple[int, float]]:
        """A set in parts that are not too much to be gone at once, with the share of each, called
        a fifth where it is less. While nothing is known to be too much, there is but one."""
        size = leaves.bit_count()
        for block in blocks(leaves, self._most):
            yield block, max(0.2, block.bit_count() / size)

    def _add(self, leaves: int) -> Step[bool]:
        """Narrow a set that flips; whether that gave a new smallest set."""
        smallest = yield from self._narrowing.smallest(leaves)
        if smallest is None or any(one & ~smallest == 0 for one in self.found.sets):
            return False
        self.found.sets = [one for one in self.found.sets if smallest & ~one] + [smallest]
        return True

    def _halves_by_turns(self) -> Iterator[int]:
        """Halves of every text, quarters by turns, and so on: any two leaves of a text are apart
        in one of them, and most leaves of different texts are."""
        longest = max((high - low for low, high in self._groups), default=0)
        for digit in range(min((longest - 1).bit_length(), _MOST_DIGITS)):
            odd = 0
            for number, (low, high) in enumerate(self._groups):
                blocks = 2 << digit
                size = high - low
                for block in range(1 - number % 2, blocks, 2):
                    odd |= mask_of(low + block * size // blocks,
                                   low + (block + 1) * size // blocks)
            yield odd
            yield self.all & ~odd


def blocks(leaves: int, most: int) -> Iterator[int]:
    """A set in parts of so many leaves, in their order."""
    block = size = 0
    for low, high in runs(leaves):
        while low < high:
            end = min(high, low + most - size)
            block |= mask_of(low, end)
            size += end - low
            low = end
            if size == most:
                yield block
                block = size = 0
    if block:
        yield block
