"""Confirming what the search found: fresh reruns, a second filler, an e-value for each claim.

A claim says: with these leaves gone, the decision is rarer. Only the few final claims come here,
so that alpha is split over few. Each block of a test is one rerun of the unchanged request, shared
by all claims, and one with the leaves gone, by turns overwritten with the other filler and cut out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from agentrunproof.ablation.derivation import TURNS
from agentrunproof.ablation.screen import Screen
from agentrunproof.ablation.statistics import EProcess, Guess
from agentrunproof.ablation.subject import Edit
from agentrunproof.ablation.trials import Step

#: The search flatters: what it singles out did better than it will, so that the guess of the rate
#: without a cause is at least this part of the rate with it.
_AT_LEAST = Fraction(3, 20)
#: No claim takes more blocks than this.
MOST_BLOCKS = 60
#: A test is given up when its e-value, after so many blocks, is below that.
_HOPELESS = ((8, Fraction(1, 300)), (16, Fraction(1, 10)), (30, Fraction(1)))


@dataclass(frozen=True)
class Conjecture:
    """A claim to be tested.

    Args:
        leaves: that are gone.
        guess: with which the test begins.
    """

    leaves: int
    guess: Guess


def conjectures(screen: Screen, sets: Sequence[int]) -> list[Conjecture]:
    """What the search found, as claims; their tests begin at the rates that it saw."""
    p, q = screen.belief.rates()
    high = Fraction(min(max(round(p * 100), 5), 95), 100)
    low = max(Fraction(round(q * 100), 100), high * _AT_LEAST, Fraction(1, 50))
    guess = Guess(high, Fraction(math.floor(low * 100), 100))
    return [Conjecture(leaves, guess) for leaves in sets]


def confirm(screen: Screen, claims: Sequence[Conjecture], alpha: Fraction) -> Step[None]:
    """Rerun for each claim until its e-value is reached or hopeless.

    Args:
        screen: whose trials the reruns are added to.
        claims: to be tested; alpha is split over them.
        alpha: the chance, at most, that any is confirmed wrongly.
    """
    wanted = len(claims) / alpha
    for claim in claims:
        yield from _test(screen, claim, wanted)


def _test(screen: Screen, claim: Conjecture, wanted: Fraction) -> Step[None]:
    trials = screen.trials
    process = EProcess(claim.guess)
    while process.value < wanted and process.blocks < MOST_BLOCKS and not hopeless(process):
        block = process.blocks
        ahead = _fewest(process, wanted)
        with_it = trials.tally("confirm", Edit())
        if len(with_it.outcomes) < block + ahead:
            yield from trials.ask("confirm", Edit(), block + ahead - len(with_it.outcomes))
        for n in range(block, block + ahead):
            gone = yield from trials.ask("confirm", Edit(claim.leaves, TURNS[n % 2]), 1)
            process.add(with_it.outcomes[n] == "hit", gone.outcomes[-1] == "hit")


def _fewest(process: EProcess, wanted: Fraction) -> int:
    """How many blocks it takes at least."""
    best = process.copy()
    while best.value < wanted and best.blocks < process.blocks + 5:
        best.add(True, False)
    return max(1, best.blocks - process.blocks)


def hopeless(process: EProcess) -> bool:
    """Whether a test is to be given up: its e-value is far too low for its blocks."""
    return any(process.blocks >= blocks and process.value < value for blocks, value in _HOPELESS)
