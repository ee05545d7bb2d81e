"""How well strategies name the onset of labelled runs: integer equality, nothing nearer.

Silence on a run that went wrong is a miss, and costs as many steps of distance as the run has.
What is claimed of a healthy run is a false onset. Beside each figure stands what chance gives: a
step drawn at random from the run, computed, not drawn. That a run started and ended is no step of
it here: nobody did it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from agentrunproof.ablation.statistics import decimal, interval
from agentrunproof.localize.datasets import Case
from agentrunproof.localize.strategies import Strategy
from agentrunproof.localize.trace import Trace

#: An onset named this many steps off; 0 is the figure that counts.
TOLERANCES = (0, 1, 3)
CHANCE = "random"


@dataclass(frozen=True)
class Rate:
    """Hits of runs, and the exact 95% interval of the rate; of no runs, nothing is said.

    Args:
        hits: runs in which it was right; of chance, the expected number.
        runs: all of them.
    """

    hits: Fraction
    runs: int

    @property
    def percent(self) -> str:
        """Such as ``42.3%``, or ``not scored``."""
        if not self.runs:
            return "not scored"
        return f"{float(100 * self.hits / self.runs):.1f}%"

    @property
    def interval(self) -> tuple[str, str] | None:
        """Clopper-Pearson, as decimals; None of chance and of no runs."""
        if not self.runs or self.hits.denominator != 1:
            return None
        return interval(int(self.hits), self.runs)


@dataclass(frozen=True)
class Score:
    """What one strategy reaches on some labelled runs.

    Args:
        strategy: its name.
        within: of each of `TOLERANCES`, how often the first step named is so near.
        top3: how often the onset is among the first three.
        agent: how often the first step named is of the agent that made the mistake, where that
            is labelled.
        distance: mean distance in steps of the first step named; None of no runs.
        false: healthy runs of which an onset is claimed.
    """

    strategy: str
    within: tuple[Rate, ...]
    top3: Rate
    agent: Rate
    distance: Fraction | None
    false: Rate

    def to_json(self) -> dict[str, object]:
        """The figures as a table of words and whole numbers."""
        return {"strategy": self.strategy,
                **{f"within_{off}" if off else "top_1": _rate(rate)
                   for off, rate in zip(TOLERANCES, self.within, strict=True)},
                "top_3": _rate(self.top3), "agent": _rate(self.agent),
                "distance": None if self.distance is None else decimal(self.distance, 2),
                "false_onsets": _rate(self.false)}


def score(name: str, strategy: Strategy, cases: Sequence[Case]) -> Score:
    """What a strategy reaches."""
    return _total(name, [_judge(case, strategy(Trace(case.steps, failed=case.failed)))
                         for case in cases])


def chance(cases: Sequence[Case]) -> Score:
    """What three different steps drawn at random reach, in expectation.

    A draw always speaks, so it is wrong about every healthy run.
    """
    return _total(CHANCE, [_expected(case) for case in cases])


@dataclass(frozen=True)
class _Judged:
    """Of one run: the chance that each figure is hit. `healthy` says whether it is about that."""

    healthy: bool
    within: tuple[Fraction, ...] = ()
    top3: Fraction = Fraction(0)
    agent: Fraction | None = None
    distance: Fraction = Fraction(0)
    false: Fraction = Fraction(0)


def _judge(case: Case, named: list[int]) -> _Judged:
    if case.onset is None:
        return _Judged(True, false=Fraction(bool(named)))
    far = abs(named[0] - case.onset) if named else len(_done(case))
    return _Judged(
        False, tuple(Fraction(bool(named) and far <= off) for off in TOLERANCES),
        Fraction(case.onset in named[:3]), _agent(case, named[:1]), Fraction(far))


def _expected(case: Case) -> _Judged:
    if case.onset is None:
        return _Judged(True, false=Fraction(1))
    numbers = _done(case)
    runs = len(numbers)
    off = [abs(number - case.onset) for number in numbers]
    agents = [_agent(case, [number]) for number in numbers] if case.agent else []
    return _Judged(
        False, tuple(Fraction(sum(far <= most for far in off), runs) for most in TOLERANCES),
        Fraction(min(3, runs), runs),
        sum((one or Fraction(0) for one in agents), Fraction(0)) / runs if agents else None,
        Fraction(sum(off), runs))


def _done(case: Case) -> list[int]:
    """The numbers of the steps that somebody did."""
    return [step.number for step in case.steps if step.kind not in ("start", "end")]


def _agent(case: Case, named: list[int]) -> Fraction | None:
    """Whether the first step named is of the labelled agent; a call is its writer's."""
    if not case.agent:
        return None
    steps = {step.number: step for step in case.steps}
    by = ""
    if named:
        step = steps[named[0]]
        if not step.agent and step.asked_by is not None:
            step = steps[step.asked_by]
        by = step.agent
    return Fraction(by.lower() == case.agent.lower())


def _total(name: str, judged: Sequence[_Judged]) -> Score:
    bad = [one for one in judged if not one.healthy]
    good = [one for one in judged if one.healthy]
    agents = [one.agent for one in bad if one.agent is not None]
    zero = Fraction(0)
    return Score(
        name, tuple(Rate(sum((one.within[place] for one in bad), zero), len(bad))
                    for place in range(len(TOLERANCES))),
        Rate(sum((one.top3 for one in bad), zero), len(bad)),
        Rate(sum(agents, zero), len(agents)),
        sum((one.distance for one in bad), zero) / len(bad) if bad else None,
        Rate(sum((one.false for one in good), zero), len(good)))


def _rate(rate: Rate) -> dict[str, object]:
    hits = str(rate.hits) if rate.hits.denominator == 1 else decimal(rate.hits, 2)
    found = rate.interval
    return {"hits": hits, "runs": rate.runs, "rate": rate.percent,
            "interval": list(found) if found else None}
