"""The search's one question: does the decision become rarer with these leaves overwritten?"""

from __future__ import annotations

import math
from collections.abc import Callable

from agentrunproof.ablation.belief import Belief
from agentrunproof.ablation.derivation import FEWEST_HITS
from agentrunproof.ablation.subject import Edit, Subject, Target, Way
from agentrunproof.ablation.trials import Step, Tally, Trials

#: Odds at which a test stops: to go on with the search, and before something is relied upon.
LIKELY = 9.0
SURE = 30.0

#: The unchanged request is rerun until it has decided so this often, or so many times in all.
_ENOUGH_HITS = 5
_MOST_BASE = 40
#: Before a flip is pursued the unchanged request has been rerun so often.
_SECOND_LOOK = 8
#: With no hit in so many reruns, nothing is stable enough.
_NONE_IN = 20
#: Where the search was cut short, a set of at most so many leaves will do.
_SMALL = 3
#: No more reruns than these are asked for before the odds are looked at again.
_MOST_AT_ONCE = 6
#: No edit is rerun more often than this in the search.
_MOST_RUNS = 40


class SearchSpent(Exception):
    """The calls that the search may make are made; what it found so far holds."""


class Screen:
    """Sequential tests of edits, each stopped as early as the odds allow.

    Args:
        subject: what is explained.
        target: what is asked about it.
        limit: of calls before claims are confirmed.
    """

    def __init__(self, subject: Subject, target: Target, limit: int) -> None:
        self._limit = limit
        self.subject = subject
        self.trials = Trials(subject, target)
        self.belief = Belief()
        self.kept = 0  # leaves that are never overwritten
        self.released = False

    def base(self) -> Step[bool]:
        """Rerun the unchanged request; whether it decides so often enough to be explained."""
        if self.subject.deterministic:
            tally = yield from self.trials.ask("base", Edit(), 1)
            return tally.hits == 1
        wanted = _ENOUGH_HITS
        while wanted > 0:
            tally = yield from self.trials.ask("base", Edit(), wanted)
            wanted = min(_ENOUGH_HITS - tally.hits, _MOST_BASE - tally.hits - tally.misses)
            if not tally.hits and tally.misses >= _NONE_IN:
                break
        self.belief.base(tally.hits, tally.misses)
        return tally.hits >= FEWEST_HITS

    def base_again(self, runs: int = _SECOND_LOOK) -> Step[None]:
        """Have the unchanged request rerun so often in all: was it only lucky, or unlucky?"""
        tally = self.trials.tally("base", Edit())
        missing = runs - len(tally.outcomes)
        if missing > 0 and not self.subject.deterministic:
            self._check_limit()
            yield from self.trials.ask("base", Edit(), missing)
            self.belief.base(tally.hits, tally.misses)

    def flips(self, leaves: int, prior: float, clear: float, way: Way = "filler", *,
              afresh: bool = False) -> Step[bool]:
        """Whether it is likelier than not that the decision is rarer with leaves overwritten;
        see `odds`."""
        return (yield from self.odds(leaves, prior, clear, way, afresh=afresh)) > 1

    def odds(self, leaves: int, prior: float, clear: float, way: Way = "filler", *,
             afresh: bool = False) -> Step[float]:
        """The odds that the decision is rarer with leaves overwritten.

        Args:
            leaves: to be overwritten, those to be kept aside.
            prior: the chance of it before anything is known.
            clear: odds at which to stop, either way; some stay unclear.
            way: how; what was seen in another way does not count.
            afresh: don't rely on what flips so far have told of the rate.
        """
        edit = Edit(leaves & ~self.kept, way)
        while edit.leaves:
            tally = self.trials.tally("search", edit)
            if self.subject.deterministic and tally.outcomes:
                return 0 if tally.hits else math.inf
            after = self.belief.odds(edit, prior, afresh=afresh)
            now = after(tally.hits, tally.misses)
            if now >= clear or now <= 1 / clear or len(tally.outcomes) >= _MOST_RUNS:
                self.belief.tested(edit, tally.hits, tally.misses, prior)
                return now
            if len(tally.outcomes) > len(self.trials.tally("base", Edit()).outcomes):
                # what is unclear of two rates is cleared up by looking at both
                yield from self.base_again(len(tally.outcomes))
                continue
            runs = 1 if self.subject.deterministic else _needed(tally, after, clear)
            yield from self._asked(edit, runs)
            edit = Edit(leaves & ~self.kept, way)
        return 0

    def _asked(self, edit: Edit, runs: int) -> Step[None]:
        self._check_limit()
        yield from self.trials.ask("search", edit, runs)
        self._keep_prerequisites()

    def _check_limit(self) -> None:
        if self.trials.calls >= self._limit:
            raise SearchSpent

    def _keep_prerequisites(self) -> None:
        """A call made again says that its result is needed: it stays from now on."""
        if not self.released:
            for item in self.trials.prerequisites:
                self.kept |= item.result

    def likeliest(self) -> list[int]:
        """The one small set that most likely flips, by all that was tried; none if none does."""
        for size in range(1, _SMALL + 1):
            odds = {edit.leaves: self.belief.odds(edit, 0.5, afresh=True)(tally.hits, tally.misses)
                    for (phase, edit), tally in self.trials.tallies.items()
                    if phase == "search" and edit.leaves.bit_count() == size}
            best = max(odds, key=lambda leaves: odds[leaves], default=0)
            if best and odds[best] >= LIKELY:
                return [best]
        return []

    def release(self) -> None:
        """Overwrite from now on what the model needs, too: the cause may stand in the midst."""
        self.kept, self.released = 0, True


def _needed(tally: Tally, after: Callable[[int, int], float], clear: float) -> int:
    """How many reruns it takes at least until the odds can be clear."""
    for more in range(1, _MOST_AT_ONCE):
        if (after(tally.hits + more, tally.misses) <= 1 / clear
                or after(tally.hits, tally.misses + more) >= clear):
            return more
    return _MOST_AT_ONCE
