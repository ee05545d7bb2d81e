"""The smallest plan that still fails in the same way: delta debugging over a plan's elements.

The minimising delta debugging of Zeller and Hildebrandt, "Simplifying and Isolating
Failure-Inducing Input" (IEEE TSE 28(2), 2002): take groups of elements away, in groups of all
sizes, until not one element alone can go (1-minimal). All groups of a round are judged at once,
and then the unions of those that could go, so that several processes can share the work.

Nothing here runs a plan: that is the `Oracle`'s work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from agentrunproof.ablation.derivation import Ended
from agentrunproof.ablation.reduction import WORDS
from agentrunproof.plan.model import Plan
from agentrunproof.record.ablation import PLAN_LETTERS
from agentrunproof.why.elements import Element, Reduced, Whole


@dataclass(frozen=True)
class Outcome:
    """What became of a plan: its letter in records, and what happened where that doesn't say it."""

    letter: str
    instead: str = ""

    def __str__(self) -> str:
        return self.instead or WORDS[self.letter]


#: What becomes of a plan that fails as the whole one does.
SAME = Outcome(PLAN_LETTERS["same"])

#: Judges plans one after the other. Raises `OutOfBudget` where it must not go on.
Oracle = Callable[[Sequence[Plan]], Iterable[Outcome]]


class OutOfBudget(Exception):
    """No more plans may be run."""


@dataclass(frozen=True)
class Trial:
    """One judged plan, the elements left in it, and what came of it."""

    reduced: Reduced
    outcome: Outcome


@dataclass(frozen=True)
class Smallest:
    """What the search came to.

    Args:
        reduced: the smallest plan found that fails the same, and the elements left in it.
        needed: elements of it without each of which alone it does not fail the same, with what
            happens instead.
        fixed: elements of it that cannot be taken away alone and leave a plan.
        gone: elements that did not matter.
        trials: every plan judged, in order.
        ended: why the search ended.
    """

    reduced: Reduced
    needed: dict[str, Outcome]
    fixed: tuple[str, ...]
    gone: tuple[str, ...]
    trials: tuple[Trial, ...]
    ended: Ended = "done"


@dataclass
class Search:
    """One search; `best` is right at any time, whatever stops it.

    Args:
        whole: the plan, which fails.
        oracle: judges smaller ones.
        tell: told in a line how far the search is.
    """

    whole: Whole
    oracle: Oracle
    tell: Callable[[str], None] = lambda _: None
    trials: dict[frozenset[str], Trial] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        found = self.whole.without(())
        assert found is not None, "the whole plan is a plan"
        self.best: Reduced = found

    def run(self) -> Smallest:
        """Search until not one element can go."""
        ended: Ended = "done"
        try:
            while self._round():
                self.tell(f"{len(self.best.left)} of {len(self.whole.elements)} elements left")
        except OutOfBudget:
            ended = "budget"
        except KeyboardInterrupt:
            ended = "stopped"
        self._take_best()
        return replace(self._found(), ended=ended)

    def _round(self) -> bool:
        """Take away what can go; whether anything could."""
        free = self._judge(groups(self._present()))
        if not free:
            return False
        # The largest first: most of the others lie within it.
        free.sort(key=lambda group: (-len(group), min(group)))
        unions = [free[0]]
        for group in free[1:]:
            if not group <= unions[-1]:
                unions.append(unions[-1] | group)
        self._judge(unions[1:])
        self._take_best()
        return True

    def _take_best(self) -> None:
        """Go on from the smallest plan among all that were judged; the first of equals."""
        failing = [trial.reduced for trial in self.trials.values() if trial.outcome == SAME]
        self.best = min([self.best, *failing], key=lambda reduced: len(reduced.left))

    def _present(self) -> list[Element]:
        return [one for one in self.whole.elements if one.id in self.best.left]

    def _without(self, group: Iterable[str]) -> Reduced | None:
        """The smallest plan so far without these of its elements."""
        every = {one.id for one in self.whole.elements}
        return self.whole.without((every - self.best.left).union(group))

    def _judge(self, tried: Iterable[frozenset[str]]) -> list[frozenset[str]]:
        """Those groups without which the plan still fails the same."""
        made: dict[frozenset[str], Reduced] = {}
        for group in dict.fromkeys(tried):
            reduced = self._without(group)
            if reduced is not None and len(reduced.left) < len(self.best.left):
                made[group] = reduced
        new = {one.left: one for one in made.values() if one.left not in self.trials}
        outcomes = self.oracle([one.plan for one in new.values()]) if new else ()
        for reduced, outcome in zip(new.values(), outcomes, strict=True):
            self.trials[reduced.left] = Trial(reduced, outcome)
        return [group for group, one in made.items() if self.trials[one.left].outcome == SAME]

    def _found(self) -> Smallest:
        """What is needed follows from the trials of single elements on the smallest plan."""
        needed: dict[str, Outcome] = {}
        fixed: list[str] = []
        for element in self._present():
            reduced = self._without({element.id})
            if reduced is None:
                fixed.append(element.id)
            elif reduced.left in self.trials:
                needed[element.id] = self.trials[reduced.left].outcome
        gone = tuple(one.id for one in self.whole.elements if one.id not in self.best.left)
        return Smallest(self.best, needed, tuple(fixed), gone, tuple(self.trials.values()))


def groups(present: Sequence[Element]) -> list[frozenset[str]]:
    """Groups of all sizes, from halves to single elements, each size a partition of all."""
    found = []
    size = (len(present) + 1) // 2
    while size:
        found += [frozenset(one.id for one in present[at:at + size])
                  for at in range(0, len(present), size)]
        size //= 2
    return found


def outermost(ids: Iterable[str], whole: Whole) -> list[Element]:
    """Those of some elements that lie within no other of them."""
    chosen = set(ids)
    named = [one for one in whole.elements if one.id in chosen]
    return [one for one in named if not any(other.holds(one) for other in named)]


def innermost(ids: Iterable[str], whole: Whole) -> list[Element]:
    """Those of some elements that hold no other of them."""
    chosen = set(ids)
    named = [one for one in whole.elements if one.id in chosen]
    return [one for one in named if not any(one.holds(other) for other in named)]
