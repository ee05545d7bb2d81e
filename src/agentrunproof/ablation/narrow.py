"""From a set of leaves that flips the decision to a smallest one: splitting with second thoughts.

A set that flips is split in two. If a half flips too, it takes the set's place. If none does,
something in each is needed: the one half is narrowed with the other gone, then the other with
what was found gone (Junker, "QuickXplain", AAAI 2004; Zeller and Hildebrandt, "Simplifying and
isolating failure-inducing input", 2002). With a noisy model any answer may be wrong: an answer that
leads to a contradiction is asked again with more care, and the search steps back (Feige et al.,
"Computing with noisy information", 1994). Counts are kept per edit, so that nothing is asked
twice for nothing.

A model may also do something else because so much of its text is gone, whatever it said. Then other
leaves in place of those that were found needed do as well: a control of the same size, which is
tested wherever many leaves are gone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

from agentrunproof.ablation.pieces import mask_of, runs
from agentrunproof.ablation.screen import LIKELY, SURE, Screen
from agentrunproof.ablation.subject import Way
from agentrunproof.ablation.trials import Step

#: The chance that both halves of a flipping set are needed, neither being enough.
BOTH = 0.1
#: How halves are asked: at which odds, and how they are taken away (anew where answers disagree).
_CARE: dict[Way, tuple[tuple[float, Way], ...]] = {
    "filler": ((LIKELY, "filler"), (SURE, "filler"), (SURE, "other")),
    "other": ((LIKELY, "other"), (SURE, "other"))}


#: Of fewer leaves gone together nobody would say that they are a lot.
MANY = 3


class TooMuch(Exception):
    """So many leaves gone flip the decision, whichever they are.

    Args:
        count: of the leaves.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class Weights:
    """How likely each leaf is a cause, relative to the others.

    Args:
        plain: of any leaf.
        more: what some have besides, in the order of leaves.
    """

    def __init__(self, plain: float, more: Mapping[int, float]) -> None:
        self._plain = plain
        self._leaves = list(more)
        self._sums = list(accumulate(more.values(), initial=0.0))

    def before(self, leaf: int) -> float:
        """The weight of all leaves before one."""
        return self._plain * leaf + self._sums[bisect_left(self._leaves, leaf)]

    def between(self, low: int, high: int) -> float:
        """The weight of leaves from `low` up to, not including, `high`."""
        return self.before(high) - self.before(low)


class Narrowing:
    """Narrows sets of leaves.

    Args:
        screen: answers whether a set flips the decision.
        weights: of the leaves.
        groups: the leaves of each text; sets are split between texts as long as they can.
    """

    def __init__(self, screen: Screen, weights: Weights,
                 groups: Sequence[tuple[int, int]]) -> None:
        self._screen = screen
        self._weights = weights
        self._starts = [low for low, _ in groups]
        self._all = mask_of(0, groups[-1][1])

    def weight(self, leaves: int) -> float:
        """The weight of a set."""
        return sum(self._weights.between(low, high) for low, high in runs(leaves))

    def smallest(self, leaves: int) -> Step[int | None]:
        """A smallest part of a flipping set that flips; nothing if it turns out not to flip.

        Raises:
            TooMuch: it flips because a lot is gone.
        """
        flips = self._screen.flips
        found = yield from self._narrow(leaves, 0, "filler")
        if found is None or not (yield from flips(found, 0.6, SURE, "removed", afresh=True)):
            return None  # asked afresh, in another way, it does not flip
        for leaf in singles(found):  # one may have come in by a wrong answer
            fewer = found & ~leaf
            if fewer and (yield from flips(fewer, 0.3, SURE, "removed")):
                found = fewer
        return found

    def _narrow(self, leaves: int, gone: int, way: Way) -> Step[int | None]:
        """`smallest`, while `gone` is overwritten too (and doesn't flip by itself)."""
        flips = self._screen.flips
        leaves &= ~self._screen.kept
        if leaves.bit_count() <= 1:
            sure = leaves and (yield from flips(gone | leaves, 0.5, SURE, way))
            return leaves if sure else None
        one, two = self._halves(leaves)
        share = self.weight(one) / self.weight(leaves)
        for odds, how in _CARE[way]:
            for part, prior in ((one, 0.9 * share), (two, 0.85)):
                if (yield from flips(gone | part, min(max(prior, 0.1), 0.9), odds, how)):
                    found = yield from self._narrow(part, gone, how)
                    if found is not None:
                        return found
            if not (yield from flips(gone | leaves, BOTH, SURE, way)):
                return None
        first = yield from self._narrow(one, gone | two, way)
        if first is None:
            return None
        yield from self._compare(gone | two, first, way)
        second = yield from self._narrow(two, gone | first, way)
        return None if second is None else first | second

    def _compare(self, gone: int, needed: int, way: Way) -> Step[None]:
        """A control: would as much other text do as well as what is needed?"""
        if gone.bit_count() >= MANY:
            control = self._as_much(needed, self._all & ~(gone | needed) & ~self._screen.kept)
            if control and (yield from self._screen.flips(gone | control, BOTH, LIKELY, way)):
                raise TooMuch((gone | needed).bit_count())

    def _as_much(self, leaves: int, others: int) -> int:
        """As much text as leaves have, of other leaves from all over; nothing if there is none."""
        texts = self._screen.subject.texts
        pool = [n for low, high in runs(others) for n in range(low, high)]
        wanted = sum(len(texts[n]) for low, high in runs(leaves) for n in range(low, high))
        step = max(1, len(pool) // (4 * leaves.bit_count()))
        control = size = 0
        for n in pool[step // 2::step]:
            if size < wanted:
                control |= 1 << n
                size += len(texts[n])
        return control if size >= wanted else 0

    def _halves(self, leaves: int) -> tuple[int, int]:
        """Two parts of about the same weight, cut between two texts where one is near."""
        spans = runs(leaves)
        half = self.weight(leaves) / 2
        before = 0.0  # weight of the spans before the one in which half is reached
        for low, high in spans:
            span = self._weights.between(low, high)
            if before + span >= half or high == spans[-1][1]:
                break
            before += span
        exact = low + bisect_left(range(low, high), half - before,
                                  key=lambda cut: self._weights.between(low, cut))
        at = bisect_left(self._starts, exact)
        texts = [start for start in self._starts[max(at - 1, 0):at + 1] if low < start < high]
        first, last = spans[0][0], spans[-1][1]
        cuts = [cut for cut in (exact - 1, exact, exact + 1, low, high, *texts)
                if low <= cut <= high and first < cut < last]

        def off(cut: int) -> float:
            inside = cut not in texts and low < cut < high
            missed = abs(before + self._weights.between(low, cut) - half) / half
            return missed + (0.3 if inside and texts else 0.0)

        one = leaves & mask_of(0, min(cuts, key=off))
        return one, leaves & ~one


def singles(leaves: int) -> list[int]:
    """The sets of one leaf in a set."""
    return [1 << n for low, high in runs(leaves) for n in range(low, high)]
