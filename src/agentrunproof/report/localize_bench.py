"""The table of the localization benchmark."""

from __future__ import annotations

from collections.abc import Sequence

from agentrunproof.localize.datasets import Left
from agentrunproof.localize.scoring import Rate, Score
from agentrunproof.report import text

_NAME = 22
#: as many runs are named
_NAMED = 10


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


LEGEND = ("top-1, +-1, +-3: share of runs in which the first step named is the labelled one, or "
          "at most so many steps off; top-3: in which it is among the first three; steps: how far "
          "off, on average. Silence counts as a miss, and as off by all of the run's steps.")


def left(runs: Sequence[Left], notes: Sequence[str]) -> list[str]:
    """What of a set is not in the figures, by its reasons, and what is to be said of its labels.

    Args:
        runs: what is not scored.
        notes: one line each.
    """
    by_reason: dict[str, list[str]] = {}
    for one in runs:
        by_reason.setdefault(one.reason, []).append(
            f"{one.name} {one.detail}" if one.detail else one.name)
    rows = [f"not scored: {len(runs)}"] if runs else []
    for reason, names in by_reason.items():
        more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        rows += text.wrap(f"{len(names)}: {reason}: {', '.join(names[:_NAMED])}{more}", "  ")
    for note in notes[:_NAMED]:
        rows += text.wrap(f"note: {note}", "")
    return rows + ([f"note: {len(notes) - _NAMED} more such notes"] if len(notes) > _NAMED else [])


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
