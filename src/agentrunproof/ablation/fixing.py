"""What follows from the trials of a fix record: rates, bounds, e-values, verdicts, the answer.

Whoever makes a record and whoever checks one derive it here. The e-value is anytime-valid. The
bound is that of a sample whose size was fixed beforehand, so that only a candidate that was rerun
as often as planned can pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from agentrunproof.ablation import derivation, statistics
from agentrunproof.ablation.confirm import hopeless
from agentrunproof.ablation.derivation import Ended
from agentrunproof.ablation.statistics import EProcess, Guess
from agentrunproof.ablation.subject import Decision
from agentrunproof.ablation.trials import asks
from agentrunproof.record import fix as records
from agentrunproof.record.ablation import Rate
from agentrunproof.record.fix import Deed, Fix, Status, Verdict

#: Blocks after which a test is looked at.
LOOKS = (8, 16, 30)
#: A fix leaves at least this part of the rate, as far as its test guesses.
_LEAVES = Fraction(1, 10)
_ORDER: tuple[Verdict, ...] = ("PASS", "PART", "FAIL", "OPEN")


@dataclass(frozen=True)
class Design:
    """How candidates are tested.

    Args:
        runs: of each request.
        tolerance: the rate that is tolerated.
        wanted: the e-value at which a candidate is shown to be better.
        guess: with which each test begins.
        deterministic: whether one rerun tells everything; then `runs` is 1.
    """

    runs: int
    tolerance: Fraction
    wanted: Fraction
    guess: Guess
    deterministic: bool = False

    @property
    def looks(self) -> list[int]:
        """Numbers of blocks after which a test may end."""
        return [*(n for n in LOOKS if n < self.runs), self.runs]


@dataclass(frozen=True)
class Outcome:
    """What the trials of a candidate say; see `record.fix.Candidate`."""

    rate: Rate
    upper: str
    e: str
    verdict: Verdict


def design_of(record: Fix) -> Design:
    """How a record's candidates were tested."""
    guess = record.guess
    return Design(record.runs, Fraction(record.tolerance),
                len(record.candidates) / Fraction(record.alpha),
                Guess(Fraction(guess.high), Fraction(guess.low), guess.weight),
                record.deterministic)


def guess_of(rate: Rate | None) -> Guess:
    """Where a test begins, by the rate that an earlier finding saw of the unchanged request."""
    high = Fraction(3, 4)
    if rate is not None and rate.runs:
        high = min(max(Fraction(round(100 * Fraction(rate.hits, rate.runs)), 100),
                       Fraction(1, 20)), Fraction(19, 20))
    return Guess(high, max(high * _LEAVES, Fraction(1, 50)))


def outcome(design: Design, base: Sequence[bool], found: Sequence[bool]) -> Outcome:
    """What a candidate's trials say.

    Args:
        design: of its test.
        base: for each trial of the unchanged request, whether it was a hit.
        found: the same of the changed one; each has one of the unchanged request to go with.
    """
    hits, runs = sum(found), len(found)
    rate = derivation.rate("h" * hits + "o" * (runs - hits))
    if design.deterministic:
        return Outcome(rate, str(hits) if runs else "1", "1", _certain(base, found))
    upper = statistics.upper_bound(hits, runs) if runs else "1"
    e = statistics.e_value(design.guess, base, found)
    return Outcome(rate, upper, statistics.e_decimal(e), _verdict(design, base, found, e, upper))


def _certain(base: Sequence[bool], found: Sequence[bool]) -> Verdict:
    if not found:
        return "OPEN"
    return "PASS" if base[0] and not found[0] else "FAIL"


def _verdict(design: Design, base: Sequence[bool], found: Sequence[bool], e: Fraction, upper: str
             ) -> Verdict:
    if len(found) < design.runs:
        return "FAIL" if given_up(design, base, found) else "OPEN"
    if e < design.wanted:
        return "FAIL"
    return "PASS" if Fraction(upper) <= design.tolerance else "PART"


def given_up(design: Design, base: Sequence[bool], found: Sequence[bool]) -> bool:
    """Whether a candidate need not be rerun further: it is hopeless, or cannot be shown to be
    better any more, whatever the reruns that are left give."""
    if len(found) not in design.looks:
        return False
    process, best = EProcess(design.guess), Fraction(1)
    for a, b in zip(base, found, strict=False):
        best = max(best, process.add(a, b))
    if best >= design.wanted:
        return False
    return hopeless(process) or not _reachable(process, design.runs - len(found), design.wanted)


def _reachable(process: EProcess, blocks: int, wanted: Fraction) -> bool:
    ahead = process.copy()
    return any(ahead.add(True, False) >= wanted for _ in range(blocks))


def status(base: Rate, candidates: Iterable[records.Candidate], ended: Ended) -> Status:
    """The answer."""
    verdicts = {candidate.verdict for candidate in candidates}
    if "PASS" in verdicts:
        return "PASS"
    if ended == "stopped":
        return "STOPPED"
    if ended == "budget":
        return "BUDGET"
    return "NONE" if base.hits else "UNSTABLE"


def strength(candidate: records.Candidate) -> tuple[int, Fraction]:
    """Sorts candidates, the best first; equals stay as they are."""
    rate = candidate.rate
    return (_ORDER.index(candidate.verdict),
            Fraction(rate.hits, rate.runs) if rate.runs else Fraction(1))


# How many runs are needed.

def runs_for_bound(tolerance: Fraction) -> int:
    """The least number of runs of which none may decide so for the bound to be within a rate."""
    runs = math.ceil(math.log(0.05) / math.log1p(-float(tolerance)))
    while Fraction(statistics.upper_bound(0, runs)) > tolerance:  # it is rounded outwards
        runs += 1
    return runs


def runs_for_test(guess: Guess, wanted: Fraction, most: int) -> int:
    """About how many runs it takes to show that a fix which leaves nothing is better, where the
    unchanged request decides so at the guessed rate; `most` if it takes more."""
    process, due = EProcess(guess), Fraction(0)
    while process.value < wanted and process.blocks < most:
        due += guess.high
        process.add(due >= 1, False)
        due -= due >= 1
    return process.blocks


# What the model did.

def deed_of(decision: Decision, hit: bool) -> Deed:
    """What a decision comes to."""
    example = str(decision)
    if hit:
        return Deed(kind="hit", example=example)
    if decision.calls:
        return Deed(kind="calls", example=example,
                    calls=", ".join(sorted({call.name for call in decision.calls})))
    if not decision.text.strip():
        return Deed(kind="nothing")
    return Deed(kind="asks" if asks(decision.text) else "says", example=example)


def numbers(trials: str) -> list[int]:
    """The deeds of trials."""
    return [int(word) for word in trials.split()]


def hits_of(deeds: Sequence[Deed], trials: str) -> list[bool]:
    """For each trial, whether it was the decision asked about."""
    return [deeds[n].kind == "hit" for n in numbers(trials)]


def counted(deeds: Sequence[Deed], trials: str) -> list[tuple[Deed, int]]:
    """What the model did, and how often: the most frequent first, hits left aside."""
    counts = Counter(numbers(trials))
    return [(deeds[n], count) for n, count in sorted(counts.items(), key=lambda x: (-x[1], x[0]))
            if deeds[n].kind != "hit"]
