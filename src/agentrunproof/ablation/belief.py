"""What the search believes of the model's rates: cheap, uncorrected, sequential tests.

The model decides so at a rate *p* with the request unchanged, and at a lower rate *q* once a cause
is gone. Both are unknown; a grid of pairs (p, q/p) is weighed by all that was seen. A test asks
which of the two rates an edit has, and stops as soon as the odds are clear enough. Nothing here
is ever claimed: claims are confirmed on fresh reruns (`agentrunproof.ablation.confirm`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from operator import add, mul, sub

_RATES = (.1, .15, .2, .25, .3, .35, .4, .5, .6, .7, .8, .9, .95, .98, .995)
#: q as a part of p, and how likely each is beforehand.
_PARTS = ((.004, 4.), (.1, 2.), (.2, 1.5), (.33, 1.5), (.45, 1.), (.55, 1.), (.7, .7))

#: An edit tells no more of the rates than so many reruns: the effects of edits differ.
_MOST_LEARNED = 4

_CELLS = [(p, p * part, weight) for p in _RATES for part, weight in _PARTS]
_PRIOR = [math.log(weight) for _, _, weight in _CELLS]
_LOW = [(math.log(q), math.log(1 - q)) for _, q, _ in _CELLS]
_HIGH = [(math.log(p), math.log(1 - p)) for p in _RATES]


@lru_cache(maxsize=4096)
def _likelihoods(hits: float, misses: float) -> tuple[list[float], list[float]]:
    """How likely outcomes are at each rate p, and at each rate q of all pairs."""
    return ([math.exp(hits * a + misses * b) for a, b in _HIGH],
            [math.exp(hits * c + misses * d) for c, d in _LOW])


class Belief:
    """The weights of all pairs of rates, kept up with the counts of every tested edit."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, list[float]] = {}
        self._log = _PRIOR

    def base(self, hits: int, misses: int) -> None:
        """Take what the unchanged request gave, in place of what was said of it before."""
        self._note("base", [hits * a + misses * b for a, b in _HIGH for _ in _PARTS])

    def tested(self, edit: Hashable, hits: int, misses: int, prior: float) -> None:
        """Take what an edit gave, whichever of the two rates it has."""
        if hits + misses == 0:
            return
        odds = self.odds(edit, prior)(hits, misses)
        share = odds / (1 + odds)
        part = min(1.0, _MOST_LEARNED / (hits + misses))
        high, low = _likelihoods(hits * part, misses * part)
        self._note(edit, [math.log(share * b + (1 - share) * a + 1e-300)
                          for a, b in zip(_each_part(high), low, strict=True)])

    def _note(self, edit: Hashable, logs: list[float]) -> None:
        old = self._seen.get(edit)
        self._seen[edit] = logs
        if old is not None:
            logs = list(map(sub, logs, old))
        self._log = list(map(add, self._log, logs))

    def odds(self, edit: Hashable, prior: float, *, afresh: bool = False
             ) -> Callable[[int, int], float]:
        """The odds that an edit with some outcomes made the decision rarer.

        Args:
            edit: whose outcomes they are; what was noted of it before does not count twice.
            prior: the chance of it before.
            afresh: leave aside what flips have told of q. They were singled out for being rare,
                so that they make q look smaller than it is.

        Returns:
            The odds, of reruns that decided so and reruns that did not.
        """
        weights = self._weights(edit)
        rates = [sum(weights[n:n + len(_PARTS)]) for n in range(0, len(weights), len(_PARTS))]
        if afresh:
            weights = [rate * weight for rate in rates for _, weight in _PARTS]
            rates = [rate * sum(weight for _, weight in _PARTS) for rate in rates]

        def odds(hits: int, misses: int) -> float:
            high, low = _likelihoods(hits, misses)
            return prior / (1 - prior) * _dot(weights, low) / max(_dot(rates, high), 1e-300)

        return odds

    def rates(self) -> tuple[float, float]:
        """The rates p and q to expect."""
        weights = self._weights()
        total = sum(weights)
        return (sum(w * p for w, (p, _, _) in zip(weights, _CELLS, strict=True)) / total,
                sum(w * q for w, (_, q, _) in zip(weights, _CELLS, strict=True)) / total)

    def _weights(self, without: Hashable = None) -> list[float]:
        logs = self._log
        if without in self._seen:
            logs = list(map(sub, logs, self._seen[without]))
        top = max(logs)
        return [math.exp(log - top) for log in logs]


def _dot(one: list[float], two: list[float]) -> float:
    products: Iterator[float] = map(mul, one, two)
    return sum(products)


def _each_part(rates: list[float]) -> Iterator[float]:
    """What is known of the rates p, for each of their pairs."""
    return (rate for rate in rates for _ in _PARTS)
