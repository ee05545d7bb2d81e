"""The table of the localization benchmark."""

from __future__ import annotations

from collections.abc import Sequence

from agentrunproof.localize.scoring import Rate, Score

_NAME = 22


def lines(title: str, scores: Sequence[Score]) -> list[str]:
    """The figures of several strategies on one set of runs.

    Args:
        title: what the runs are, and how many.
        scores: in the order in which they are to stand.
    """
    rows = [title]
    if scores[0].top3.runs:
        rows.append(f"  {'':{_NAME}}{'top-1':>6} {'95%':>8}{'+-1':>8}{'+-3':>8}{'top-3':>8}"
                    f"{'agent':>8}{'steps':>8}")
        rows += map(_row, scores)
    else:
        rows.append("  onset not scored: no run in it went wrong (n = 0)")
    if scores[0].false.runs:
        rows += [f"  {'':{_NAME}}false onsets",
                 *(f"  {one.strategy:{_NAME}}{one.false.hits} of {one.false.runs} healthy runs"
                   f"{_percents(one.false, '  (95%: ', ')')}" for one in scores)]
    else:
        rows.append("  false onsets not scored: no healthy run (n = 0)")
    return rows


def _row(score: Score) -> str:
    exact, near, far = score.within
    distance = "" if score.distance is None else f"{float(score.distance):.2f}"
    return (f"  {score.strategy:{_NAME}}{exact.percent:>6} {_percents(exact):>8}{near.percent:>8}"
            f"{far.percent:>8}{score.top3.percent:>8}"
            f"{score.agent.percent if score.agent.runs else '-':>8}{distance:>8}")


def _percents(rate: Rate, before: str = "", after: str = "") -> str:
    found = rate.interval
    if found is None:
        return ""
    low, high = (round(100 * float(end)) for end in found)
    return f"{before}{low}-{high}{after}"
