"""The smallest plan that still fails in the same way: delta debugging over a plan's elements.

The minimising delta debugging of Zeller and Hildebrandt, "Simplifying and Isolating
Failure-Inducing Input" (IEEE TSE 28(2), 2002): take groups of elements away, in groups of all
sizes, until not one element alone can go (1-minimal). Since a process that judges plans starts
slowly and judges fast, all groups of a round are judged at once, and then the unions of those
that could go.

Nothing here runs a plan: that is the `Oracle`'s work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentrunproof import canonical
from agentrunproof.plan.model import Plan
from agentrunproof.why.elements import Element, Reduced, Whole

#: What becomes of a plan that fails as the whole one does.
SAME = "fails the same"

#: Judges plans, by digest, one after the other: `SAME`, or in words what happens instead.
#: Raises `OutOfBudget` where it must not go on.
Oracle = Callable[[Mapping[str, Plan]], Iterable[tuple[str, str]]]


class OutOfBudget(Exception):
    """No more plans may be run."""


@dataclass(frozen=True)
class Trial:
    """One judged plan: the elements that were taken away, its digest, and what came of it."""

    removed: tuple[str, ...]
    plan: str
    result: str


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
        stopped: why the search ended early: ``budget``, ``interrupted``, or nothing.
    """

    reduced: Reduced
    needed: dict[str, str]
    fixed: tuple[str, ...]
    gone: tuple[str, ...]
    trials: tuple[Trial, ...]
    stopped: str = ""


@dataclass
class Search:
    """One search; `best` is right at any time, whatever stops it."""

    whole: Whole
    oracle: Oracle
    tell: Callable[[str], None] = lambda _: None
    results: dict[str, str] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        found = self.whole.without(())
        assert found is not None, "the whole plan is a plan"
        self.best: Reduced = found
        self.removed: frozenset[str] = frozenset()

    def run(self) -> Smallest:
        """Search until not one element can go."""
        stopped = ""
        try:
            while self._round():
                self.tell(f"{len(self.best.left)} of {len(self.whole.elements)} elements left")
        except OutOfBudget:
            stopped = "budget"
        except KeyboardInterrupt:
            stopped = "interrupted"
        if stopped:
            self._take_best()
        return replace(self._found(), stopped=stopped)

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
        self._accept(max([free[0], *self._judge(unions[1:])], key=len))
        return True

    def _take_best(self) -> None:
        """Go on from the smallest plan among all that were judged."""
        for trial in self.trials:
            if trial.result == SAME and len(trial.removed) > len(self.removed):
                self.removed = frozenset()
                self._accept(frozenset(trial.removed))

    def _present(self) -> list[Element]:
        return [one for one in self.whole.elements if one.id in self.best.left]

    def _accept(self, group: frozenset[str]) -> None:
        reduced = self.whole.without(self.removed | group)
        assert reduced is not None
        self.best, self.removed = reduced, self.removed | group

    def _judge(self, tried: Iterable[frozenset[str]]) -> list[frozenset[str]]:
        """Those groups without which the plan still fails the same."""
        made: dict[frozenset[str], tuple[str, Plan]] = {}
        for group in dict.fromkeys(tried):
            reduced = self.whole.without(self.removed | group)
            if reduced is not None and len(reduced.left) < len(self.best.left):
                made[group] = (canonical.digest(reduced.plan.to_json()), reduced.plan)
        new = {digest: plan for digest, plan in made.values() if digest not in self.results}
        try:
            for digest, result in self.oracle(new) if new else ():
                self.results[digest] = result
        finally:
            told = {trial.plan for trial in self.trials}
            for group, (digest, _) in made.items():
                if digest in self.results and digest not in told:
                    told.add(digest)
                    self.trials.append(Trial(tuple(sorted(self.removed | group)), digest,
                                             self.results[digest]))
        return [group for group, (digest, _) in made.items()
                if self.results.get(digest) == SAME]

    def _found(self) -> Smallest:
        """What is needed follows from the trials of single elements on the smallest plan."""
        needed: dict[str, str] = {}
        fixed: list[str] = []
        for element in self._present():
            reduced = self.whole.without(self.removed | {element.id})
            if reduced is None:
                fixed.append(element.id)
                continue
            result = self.results.get(canonical.digest(reduced.plan.to_json()))
            if result is not None and result != SAME:
                needed[element.id] = result
        gone = tuple(one.id for one in self.whole.elements if one.id not in self.best.left)
        return Smallest(self.best, needed, tuple(fixed), gone, tuple(self.trials))


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
