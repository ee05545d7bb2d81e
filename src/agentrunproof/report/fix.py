"""A fix record in plain text of 80 columns: which fix holds, and how surely."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from agentrunproof.ablation import fixing
from agentrunproof.ablation.statistics import LARGEST_E
from agentrunproof.record.ablation import Rate
from agentrunproof.record.fix import Candidate, Change, Deed, Fix
from agentrunproof.report.text import Paint, indented, plain, printable, wrap

_QUOTED = 100
_STATUS = {
    "PASS": "", "NONE": "No fix passes.",
    "UNSTABLE": "The unchanged request does not decide so any more: there is nothing to fix.",
    "BUDGET": "The budget ran out before there was an answer.",
    "STOPPED": "It was interrupted; what was measured by then stands above."}


def lines(record: Fix, paint: Paint = plain) -> list[str]:
    """All that a fix record says.

    Args:
        record: of it.
        paint: colours.
    """
    told = [*wrap(printable(f"{record.target}: unchanged, the model decides so in "
                            f"{_rate(record.base, record.deterministic)}")), ""]
    if record.base.hits:
        told += [*_table(record, paint), "", *wrap(_legend(record)), ""]
        told += _instead(record)
    told += wrap(_STATUS[record.status])
    best = record.candidates[0]
    if best.verdict == "PASS":
        told += ["", *wrap(f"{best.name}, to be taken over into your agent:"),
                 *_change(best.change)]
    return told


def _rate(rate: Rate, deterministic: bool) -> str:
    said = f"{rate.hits} of {rate.runs}"
    if deterministic:
        return f"{said} (it always does the same)"
    return f"{said} (95% interval {percent(rate.low, math.floor)} to {percent(rate.high)})"


def percent(value: str, rounded: Callable[[Fraction], int] = math.ceil) -> str:
    """A rate in percent with one decimal, rounded up unless told otherwise."""
    tenths = rounded(Fraction(value) * 1000)
    return f"{tenths // 10}.{tenths % 10}%" if tenths % 10 else f"{tenths // 10}%"


def _table(record: Fix, paint: Paint) -> Iterator[str]:
    yield "verdict  decides so  at most  e-value  fix"
    for one in record.candidates:
        rate = f"{one.rate.hits} of {one.rate.runs}"
        at_most, e = ("-", "-") if record.deterministic else (percent(one.upper), _e(one.e))
        yield (f"{paint(one.verdict, one.verdict.ljust(7))}  {rate:>10}  {at_most:>7}  {e:>7}  "
               f"{printable(one.name)[:37]}")


def _e(value: str) -> str:
    e = Fraction(value)
    if e >= LARGEST_E:
        return f">{LARGEST_E - 1}"
    return f"{int(e)}" if e >= 10 else f"{float(e):.2g}"


def _legend(record: Fix) -> str:
    if record.deterministic:
        return "The model always does the same, so that one rerun of each request tells everything."
    wanted = math.ceil(fixing.design_of(record).wanted)
    return (
        "at most: the exact one-sided 95% upper bound (Clopper-Pearson) of the rate that remains. "
        f"e-value: {wanted} or more shows that the decision is rarer than unchanged (alpha "
        f"{record.alpha}, split over {len(record.candidates)}). PASS is both: rarer, and at most "
        f"{percent(record.tolerance)}; PART is rarer, but the bound is above that; FAIL is not "
        "shown to be rarer" + ("; OPEN did not come to its end." if any(
            one.verdict == "OPEN" for one in record.candidates) else "."))


def _instead(record: Fix) -> Iterator[str]:
    """What the model does with each fix; fixes with which it does the same stand together."""
    names: dict[tuple[str, bool], list[str]] = {}
    warned = record.target.startswith("tool:") and not any(
        _silent(record, one) for one in record.candidates if one.kind == "source")
    for one in record.candidates:
        done = fixing.counted(record.deeds, one.trials)
        if done:
            said = "; ".join(f"{_deed(deed)} ({count} of {one.rate.runs})" for deed, count in done)
            names.setdefault((said, warned and _silent(record, one)), []).append(one.name)
    for (said, silent), alike in names.items():
        yield from wrap(printable(f"{', '.join(alike)}: instead the model {said}"))
        if silent:
            yield from wrap("Mostly it calls no tool at all: see whether the agent still does its "
                            "work.", "  ")


def _silent(record: Fix, candidate: Candidate) -> bool:
    """Whether the model mostly does nothing but talk."""
    return 2 * sum(count for deed, count in fixing.counted(record.deeds, candidate.trials)
                   if deed.kind != "calls") > candidate.rate.runs


def _deed(deed: Deed) -> str:
    if deed.kind == "calls":
        return f"calls {deed.calls}"
    if deed.kind == "nothing":
        return "does nothing"
    return f'{deed.kind} "{_short(deed.example)}"'


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _QUOTED else words[:_QUOTED - 3] + "..."


def _change(change: Change) -> Iterator[str]:
    if change.system is not None:
        yield "  the system prompt becomes:"
        yield from indented(change.system, "    ")
    if change.added:
        yield "  at the end of the system prompt:"
        yield from indented(change.added, "    ")
    if change.marked:
        yield from wrap("around each tool result, with an ID that it cannot know (here a digest "
                        "of it):", "  ")
        yield from ("    <untrusted-content ID>", "    ...", "    </untrusted-content ID>")
    for id in change.removed:
        yield from wrap(printable(f"without {id}"), "  ")
    for one in change.replaced:
        yield from wrap(printable(f"in place of {one.id}:"), "  ")
        yield from indented(one.text, "    ")
