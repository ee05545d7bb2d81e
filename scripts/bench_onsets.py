"""How often `localize` names the labelled onset: the tables of docs/localize-method.md.

    python scripts/bench_onsets.py [--points] [FILE...]

The packaged set is always scored, beside the labelled files that are named. Three tables: figures
of each set; the same of its two halves (every second run, from the first and from the second on);
and runs won or lost, top-1 / top-3, if one detector or term is left out, in each half. With
``--points`` a fourth: what one point more or less of each number changes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from agentrunproof.localize import datasets, ranking, scoring
from agentrunproof.localize.datasets import Case
from agentrunproof.localize.detectors import DETECTORS
from agentrunproof.localize.scoring import Score
from agentrunproof.localize.strategies import STRATEGIES
from agentrunproof.localize.trace import Trace

Cases = Sequence[Case]
Hits = tuple[int, int]


def main(arguments: list[str]) -> None:
    """Print the tables."""
    files = [Path(word) for word in arguments if word != "--points"]
    packaged = datasets.read(datasets.packaged(), datasets.PACKAGED)
    sets = {f"{datasets.PACKAGED}, detectable": [case for case in packaged if case.detectable],
            datasets.PACKAGED: list(packaged),
            **{file.stem: list(datasets.read(file.read_bytes(), file.name)) for file in files}}
    _figures(sets)
    sets.pop(f"{datasets.PACKAGED}, detectable")
    halves = {f"{name} {half}": cases[start::2] for name, cases in sets.items()
              if any(case.onset is not None for case in cases)
              for start, half in enumerate(("even", "odd"))}
    _halves(halves)
    _ablation(halves)
    if "--points" in arguments:
        _points(halves)


def _figures(sets: dict[str, list[Case]]) -> None:
    print("set | runs | random | rule | top-1 | top-3 | agent: random, ours | distance: rule, ours "
          "| false")
    for name, cases in sets.items():
        ours, chance = scoring.score("ours", _named(), cases), scoring.chance(cases)
        rule = scoring.score("rule", STRATEGIES["simple rule"], cases)
        low, high = ours.within[0].interval or ("", "")
        span = f" ({float(low):.0%}-{float(high):.0%})" if low else ""
        print(" | ".join((
            name, str(ours.top3.runs), chance.within[0].percent, rule.within[0].percent,
            f"{ours.within[0].hits} {ours.within[0].percent}{span}",
            f"{ours.top3.hits} {ours.top3.percent}",
            f"{chance.agent.percent}, {ours.agent.percent}",
            f"{_short(rule)}, {_short(ours)}", f"{ours.false.hits} of {ours.false.runs}")))


def _short(score: Score) -> str:
    return "-" if score.distance is None else f"{float(score.distance):.1f}"


def _halves(halves: dict[str, list[Case]]) -> None:
    print("\nhalf | runs | rule: top-1 | ours: top-1 / top-3")
    for name, cases in halves.items():
        rule = scoring.score("rule", STRATEGIES["simple rule"], cases)
        top1, top3 = _hits(cases)
        print(f"{name} | {rule.top3.runs} | {rule.within[0].hits} | {top1} / {top3}")


def _ablation(halves: dict[str, list[Case]]) -> None:
    print("\nleft out | " + " | ".join(halves))
    whole = [_hits(cases) for cases in halves.values()]
    for name in (*DETECTORS, *ranking.TERMS):
        _row(name, whole, [_hits(cases, {name}) for cases in halves.values()])


def _points(halves: dict[str, list[Case]]) -> None:
    print("\npoint | " + " | ".join(halves))
    whole = [_hits(cases) for cases in halves.values()]
    for module, name in _numbers():
        value = getattr(module, name)
        for change in (-1, 1):
            setattr(module, name, value + change)
            _row(f"{module.__name__.rsplit('.', 1)[1]}.{name} {change:+d}", whole,
                 [_hits(cases) for cases in halves.values()])
        setattr(module, name, value)


def _numbers() -> Iterator[tuple[ModuleType, str]]:
    modules = [import_module(find.__module__) for find in DETECTORS.values()]
    for module in (*modules, ranking):
        yield from ((module, name) for name in vars(module) if name.startswith("POINTS"))


def _row(name: str, whole: list[Hits], left: list[Hits]) -> None:
    print(f"{name} | " + " | ".join(
        "" if was == now else f"{now[0] - was[0]:+d} / {now[1] - was[1]:+d}"
        for was, now in zip(whole, left, strict=True)))


def _hits(cases: Cases, without: set[str] | None = None) -> Hits:
    """Runs of which the first, and one of the first three steps named, is the onset."""
    score = scoring.score("ours", _named(without), cases)
    return int(score.within[0].hits), int(score.top3.hits)


def _named(without: set[str] | None = None) -> Callable[[Trace], list[int]]:
    return lambda trace: [suspect.step for suspect in
                          ranking.localize(trace, without=without or ()).suspects]


if __name__ == "__main__":
    main(sys.argv[1:])
