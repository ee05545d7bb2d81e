"""What follows from the trials of an ablation record: rates, e-values, verdicts, the answer.

Whoever makes a record and whoever checks one derive it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from agentrunproof.ablation import statistics
from agentrunproof.record.ablation import (
    Arm,
    Claim,
    Guess,
    Phase,
    Rate,
    Requirement,
    Status,
    Way,
    leaves_runs,
)

#: An unchanged request that decided so less often than this is not stable enough to be explained.
FEWEST_HITS = 3
#: The ways in which the blocks of a claim's test take the leaves away, by turns.
TURNS: tuple[Way, Way] = ("other", "removed")

Arms = Mapping[tuple[Phase, Way | None, str], str]
Ended = Literal["done", "budget", "stopped"]


def outcomes_by_arm(arms: Iterable[Arm]) -> Arms:
    """The outcomes of each arm, by phase, way and leaves."""
    return {(arm.phase, arm.way, arm.leaves): arm.outcomes for arm in arms}


def rate(outcomes: str) -> Rate:
    """The rate that outcomes show."""
    hits, runs = outcomes.count("h"), len(outcomes)
    low, high = statistics.interval(hits, runs) if runs else ("0", "1")
    return Rate(hits=hits, runs=runs, low=low, high=high)


def base(arms: Arms) -> Rate:
    """The rate of the unchanged request before anything was claimed."""
    return rate(arms.get(("base", None, ""), ""))


def claim(arms: Arms, leaves: str, guess: Guess, alpha: Fraction, claims: int,
          deterministic: bool) -> Claim:
    """A claim and its verdict.

    Args:
        arms: all trials.
        leaves: of the claim.
        guess: with which its test began.
        alpha: for all claims together.
        claims: how many there are.
        deterministic: whether one rerun each, made by the search, tells everything.
    """
    if deterministic:
        return _certain(arms, leaves, guess)
    without = without_stream(arms, leaves)
    with_it = arms.get(("confirm", None, ""), "")[:len(without)]
    best = statistics.e_value(
        statistics.Guess(Fraction(guess.high), Fraction(guess.low), guess.weight),
        [letter == "h" for letter in with_it], [letter == "h" for letter in without])
    return Claim(leaves=leaves, guess=guess, with_=rate(with_it), without=rate(without),
                 e=statistics.e_decimal(best),
                 verdict="CONFIRMED" if best * alpha >= claims else "OPEN")


def _certain(arms: Arms, leaves: str, guess: Guess) -> Claim:
    """A claim about a subject that always does the same: one rerun each, and nothing to test."""
    with_it, without = base(arms), rate(arms.get(("search", "filler", leaves), ""))
    differs = with_it.hits == with_it.runs > 0 == without.hits and without.runs > 0
    return Claim(leaves=leaves, guess=guess, with_=with_it, without=without, e="1",
                 verdict="CONFIRMED" if differs else "OPEN")


def without_stream(arms: Arms, leaves: str) -> str:
    """The fresh outcomes with a claim's leaves gone: its two arms by turns."""
    first, second = (arms.get(("confirm", way, leaves), "") for way in TURNS)
    blocks = min(2 * len(first), 2 * len(second) + 1)
    return "".join((second if n % 2 else first)[n // 2] for n in range(blocks))


def strength(claim: Claim) -> tuple[bool, Fraction, tuple[int, ...]]:
    """Sorts claims, the strongest first: confirmed ones, then by how much rarer the decision is."""
    drop = _part(claim.with_) - _part(claim.without)
    return (claim.verdict != "CONFIRMED", -drop,
            tuple(int(word) for word in claim.leaves.replace("-", " ").split()))


def _part(rate: Rate) -> Fraction:
    return Fraction(rate.hits, rate.runs) if rate.runs else Fraction(0)


def requirement(arms: Arms, leaves: str, reason: Literal["repeat", "asks"]
                ) -> Requirement | None:
    """A requirement, if any rerun of the search shows it.

    Args:
        arms: all trials.
        leaves: that are required.
        reason: what the model did without them: ``repeat`` counts wherever any of them were gone,
            ``asks`` where exactly they were.
    """
    wanted = leaves_set(leaves)
    runs = sum(
        outcomes.count(reason[0]) for (phase, _, gone), outcomes in arms.items()
        if phase == "search" and (gone == leaves if reason == "asks"
                                  else not wanted.isdisjoint(leaves_set(gone))))
    return Requirement(leaves=leaves, reason=reason, runs=runs) if runs else None


def leaves_set(leaves: str) -> frozenset[int]:
    """The leaves that a text of them names."""
    return frozenset(n for low, high in leaves_runs(leaves) for n in range(low, high))


def status(base: Rate, claims: Iterable[Claim], ended: Ended, deterministic: bool) -> Status:
    """The answer."""
    if any(claim.verdict == "CONFIRMED" for claim in claims):
        return "CAUSE"
    if ended == "stopped":
        return "STOPPED"
    if base.hits < (1 if deterministic else FEWEST_HITS):
        return "UNSTABLE" if ended == "done" else "BUDGET"
    return "NONE" if ended == "done" else "BUDGET"
