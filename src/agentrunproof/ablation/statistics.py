"""How sure: an anytime-valid two-sample test for rates, and exact intervals.

The test is the e-process of Turner, Ly and Grünwald, "Generic E-variables for exact sequential
k-sample tests that allow for optional stopping" (Journal of Statistical Planning and Inference
230, 2024), for two Bernoulli streams in blocks of one outcome each. Under the null hypothesis
that both rates are equal, its expectation never exceeds 1, whenever one stops, so that it reaches
1/alpha with a probability of at most alpha (Ville's inequality). The alternative is learned from
the blocks before, beginning at a guess, here the rates seen in the search; a bad guess costs power,
never validity.

Everything is computed in exact fractions and written as decimal strings, so that whoever checks
a record gets the very same digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

#: Decimals of rates and intervals in records.
PLACES = 4
#: An e-value beyond this is written as this: no claim needs more.
LARGEST_E = 10**6
#: The learned rates keep this many decimals, so that fractions stay short.
_GRAIN = 1000


@dataclass(frozen=True)
class Guess:
    """Where the alternative begins.

    Args:
        high: guessed rate with the thing that the claim is about.
        low: guessed rate without it.
        weight: of the guess, in outcomes of each stream.
    """

    high: Fraction = Fraction(3, 4)
    low: Fraction = Fraction(1, 4)
    weight: int = 6


class EProcess:
    """The e-process of one claim: the rate with something is higher than the rate without it.

    Args:
        guess: the rates from which the alternative is learned, between 0 and 1.
    """

    def __init__(self, guess: Guess) -> None:
        self._guess = guess
        self.value = Fraction(1)
        self.blocks = 0
        self._hits = [0, 0]

    def add(self, with_it: bool, without_it: bool) -> Fraction:
        """Take one block: an outcome of each stream. Returns the e-value so far."""
        first = self._rate(self._guess.high, self._hits[0])
        second = self._rate(self._guess.low, self._hits[1])
        if second < first:  # else this block bets nothing
            middle = (first + second) / 2
            self.value *= (_chance(first, with_it) * _chance(second, without_it)
                           / _chance(middle, with_it) / _chance(middle, without_it))
        self.blocks += 1
        self._hits[0] += with_it
        self._hits[1] += without_it
        return self.value

    def copy(self) -> EProcess:
        """The same process so far, to look ahead with."""
        other = EProcess(self._guess)
        other.value, other.blocks, other._hits = self.value, self.blocks, list(self._hits)
        return other

    def _rate(self, guess: Fraction, hits: int) -> Fraction:
        weight = self._guess.weight
        rate = (guess * weight + hits) / (weight + self.blocks)
        return Fraction(round(rate * _GRAIN), _GRAIN)


def _chance(rate: Fraction, outcome: bool) -> Fraction:
    return rate if outcome else 1 - rate


def e_value(guess: Guess, with_it: Sequence[bool], without_it: Sequence[bool]) -> Fraction:
    """The e-value after all blocks of two streams; what is left over of the longer one is unused.

    The largest value on the way counts: a test may stop when it is reached.
    """
    process = EProcess(guess)
    return max([process.value, *(process.add(a, b)
                                 for a, b in zip(with_it, without_it, strict=False))])


def decimal(value: Fraction | float, places: int = PLACES) -> str:
    """A number as a decimal string without trailing zeros, rounded half to even."""
    scaled = round(Fraction(value) * 10**places)
    sign, digits = ("-" if scaled < 0 else ""), f"{abs(scaled):0{places + 1}d}"
    whole, rest = digits[:-places], digits[-places:].rstrip("0")
    return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"


def e_decimal(value: Fraction) -> str:
    """An e-value as it stands in records: two decimals, rounded down, at most `LARGEST_E`."""
    capped = min(value, Fraction(LARGEST_E))
    return decimal(Fraction(math.floor(capped * 100), 100), 2)


def at_most(hits: int, runs: int, rate: Fraction) -> Fraction:
    """The exact chance of at most `hits` in `runs` at a rate."""
    a, b = rate.numerator, rate.denominator
    miss = b - a
    total = sum(math.comb(runs, k) * a**k * miss**(runs - k) for k in range(hits + 1))
    return Fraction(total, b**runs)


def interval(hits: int, runs: int, alpha: Fraction = Fraction(1, 20)) -> tuple[str, str]:
    """The exact interval of Clopper and Pearson (Biometrika 26, 1934) for a rate.

    Args:
        hits: how often it happened.
        runs: out of how many.
        alpha: the chance, at most, that the interval misses the rate.

    Returns:
        Its ends as decimals, rounded outwards.
    """
    side = alpha / 2
    low, high = 0, 10**PLACES
    if hits:  # the greatest rate at which so many hits are still too unlikely
        low = _last(lambda n: 1 - at_most(hits - 1, runs, Fraction(n, 10**PLACES)) <= side)
    if hits < runs:
        high = 1 + _last(lambda n: at_most(hits, runs, Fraction(n, 10**PLACES)) > side)
    return decimal(Fraction(low, 10**PLACES)), decimal(Fraction(high, 10**PLACES))


def upper_bound(hits: int, runs: int, alpha: Fraction = Fraction(1, 20)) -> str:
    """The exact one-sided upper bound for a rate: 0 of 10 says less than 0.2589."""
    return interval(hits, runs, 2 * alpha)[1]


def _last(holds: Callable[[int], bool]) -> int:
    """The last grid point up to which a property that holds first and then fails still holds."""
    low, high = 0, 10**PLACES
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
