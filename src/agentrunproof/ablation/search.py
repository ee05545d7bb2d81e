"""The search: which smallest sets of leaves, overwritten, make the decision rarer.

First the suspects, then everything else at once, so that nothing is left untested; where neither
flips the decision, halves by turns, in which a cause may lie without the text that pushes the other
way. A set that flips is narrowed (`agentrunproof.ablation.narrow`). What was found is then kept
and all the rest overwritten: if that still flips the decision, there is more to be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from agentrunproof.ablation import suspects
from agentrunproof.ablation.narrow import Narrowing
from agentrunproof.ablation.pieces import mask_of, runs
from agentrunproof.ablation.screen import LIKELY, SURE, Screen, SearchSpent
from agentrunproof.ablation.subject import Subject, Target
from agentrunproof.ablation.trials import Step

#: No more sets than these are looked for.
MOST_SETS = 6
#: Halves by turns use so many binary digits of a leaf's place within its text.
_MOST_DIGITS = 5
#: Weight of a leaf that shares no word with the decision; suspects have up to 1 more.
_PLAIN = 0.05


@dataclass
class Found:
    """What the search has found so far; it holds even where the search was cut short.

    Args:
        sets: smallest sets that flip the decision, in the order found.
        complete: whether all the rest was seen to do nothing.
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
    """

    def __init__(self, subject: Subject, target: Target, screen: Screen) -> None:
        self._screen = screen
        self._groups = subject.groups
        self._count = len(subject.texts)
        self.all = mask_of(0, self._count)
        score = suspects.scores(subject.texts, target.recorded)
        top = max(score, default=0.0) or 1.0
        self.suspects = 0
        for n in suspects.suspects(score):
            self.suspects |= 1 << n
        # The many together weigh as much as the suspects do.
        plain = max(1.0, sum(score) / top) / max(self._count, 1)
        self._narrowing = Narrowing(screen, [plain + value / top for value in score],
                                    self._groups)
        self.found = Found()

    def run(self) -> Step[Found]:
        """Search until nothing more flips the decision."""
        try:
            yield from self._first()
            if not self.found.sets and self._screen.kept:
                self._screen.release()
                yield from self._first()
            self.found.complete = not self.found.sets or (yield from self._rest())
        except SearchSpent:
            self.found.cut_short = True
            if not self.found.sets:
                self.found.sets += self._screen.likeliest()
        return self.found

    def _first(self) -> Step[None]:
        """The first set: among suspects, among all, or in halves by turns."""
        for leaves, prior in chain(((self.suspects, 0.5), (self.all, 0.4)),
                                   ((half, 0.15) for half in self._halves_by_turns())):
            if (yield from self._flips_for_good(leaves, prior)) and (
                    yield from self._add(leaves)):
                return

    def _flips_for_good(self, leaves: int, prior: float) -> Step[bool]:
        """Whether a set flips, even after a second look at the unchanged request."""
        flips = self._screen.flips
        if not leaves or not (yield from flips(leaves, prior, LIKELY)):
            return False
        yield from self._screen.base_again()
        return (yield from flips(leaves, prior, LIKELY))

    def _rest(self) -> Step[bool]:
        """Further sets; whether the rest was seen to do nothing."""
        flips = self._screen.flips
        while len(self.found.sets) < MOST_SETS:
            rest = self.all & ~self.found.leaves
            if (yield from flips(rest, 0.25, SURE, afresh=True)) and (yield from self._add(rest)):
                continue
            for leaves in list(self._each_alone()):
                if (yield from flips(leaves, 0.2, SURE)) and (yield from self._add(leaves)):
                    break
            else:
                return True
        return False

    def _each_alone(self) -> Iterator[int]:
        """For each leaf of a set of several: everything but it and the other sets."""
        for one in self.found.sets:
            if one.bit_count() > 1:
                others = self.found.leaves & ~one
                for low, high in runs(one):
                    for n in range(low, high):
                        yield self.all & ~(1 << n) & ~others

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
