"""What the search believes of the model's rates: cheap, uncorrected, sequential tests.

The model decides so at a rate *p* with the request unchanged, and at a lower rate *q* once a cause
is gone. Both are unknown; a grid of pairs (p, q/p) is weighed by all that was seen. A test asks
which of the two rates an edit has, and stops as soon as the odds are clear enough. Nothing here
is ever claimed: claims are confirmed on fresh reruns (`agentrunproof.ablation.confirm`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable

_RATES = (.1, .15, .2, .25, .3, .35, .4, .5, .6, .7, .8, .9, .95, .98, .995)
#: q as a part of p, and how likely each is beforehand.
_PARTS = ((.004, 4.), (.1, 2.), (.2, 1.5), (.33, 1.5), (.45, 1.), (.55, 1.), (.7, .7))

#: An edit tells no more of the rates than so many reruns: the effects of edits differ.
_MOST_LEARNED = 4


class Belief:
    """The weights of all pairs of rates, kept up with the counts of every tested edit."""

    def __init__(self) -> None:
        cells = [(p, p * part, weight) for p in _RATES for part, weight in _PARTS]
        self._high = [(math.log(p), math.log(1 - p)) for p, _, _ in cells]
        self._low = [(math.log(q), math.log(1 - q)) for _, q, _ in cells]
        self._pairs = [(p, q) for p, q, _ in cells]
        self._prior = [math.log(weight) for _, _, weight in cells]
        self._seen: dict[Hashable, list[float]] = {}
        self._log = self._prior

    def base(self, hits: int, misses: int) -> None:
        """Take what the unchanged request gave, in place of what was said of it before."""
        self._note("base", [hits * a + misses * b for a, b in self._high])

    def tested(self, edit: Hashable, hits: float, misses: float, prior: float) -> None:
        """Take what an edit gave, whichever of the two rates it has."""
        if hits + misses == 0:
            return
        odds = self.odds(edit, hits, misses, prior)
        share = odds / (1 + odds)
        part = min(1.0, _MOST_LEARNED / (hits + misses))
        hits, misses = hits * part, misses * part
        self._note(edit, [
            math.log(share * math.exp(hits * c + misses * d)
                     + (1 - share) * math.exp(hits * a + misses * b) + 1e-300)
            for (a, b), (c, d) in zip(self._high, self._low, strict=True)])

    def _note(self, edit: Hashable, logs: list[float]) -> None:
        old = self._seen.get(edit)
        self._seen[edit] = logs
        if old is None:
            self._log = [log + new for log, new in zip(self._log, logs, strict=True)]
        else:
            self._log = [log + new - gone
                         for log, new, gone in zip(self._log, logs, old, strict=True)]

    def odds(self, edit: Hashable, hits: float, misses: float, prior: float, *,
             afresh: bool = False) -> float:
        """The odds that an edit with these outcomes made the decision rarer.

        Args:
            edit: whose outcomes they are; what was noted of it before does not count twice.
            hits: reruns that decided so.
            misses: reruns that did not.
            prior: the chance of it before.
            afresh: leave aside what flips have told of q. They were singled out for being rare,
                so that they make q look smaller than it is.
        """
        weights = self._weights(edit)
        if afresh:
            count = len(_PARTS)
            rates = [sum(weights[n:n + count]) for n in range(0, len(weights), count)]
            weights = [rate * weight for rate in rates for _, weight in _PARTS]
        low = sum(w * math.exp(hits * a + misses * b)
                  for w, (a, b) in zip(weights, self._low, strict=True))
        high = sum(w * math.exp(hits * a + misses * b)
                   for w, (a, b) in zip(weights, self._high, strict=True))
        return prior / (1 - prior) * low / max(high, 1e-300)

    def rates(self) -> tuple[float, float]:
        """The rates p and q to expect."""
        weights = self._weights()
        total = sum(weights)
        return (sum(w * p for w, (p, _) in zip(weights, self._pairs, strict=True)) / total,
                sum(w * q for w, (_, q) in zip(weights, self._pairs, strict=True)) / total)

    def _weights(self, without: Hashable = None) -> list[float]:
        logs = self._log
        if without in self._seen:
            logs = [log - own for log, own in zip(logs, self._seen[without], strict=True)]
        top = max(logs)
        return [math.exp(log - top) for log in logs]
