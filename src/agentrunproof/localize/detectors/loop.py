"""The same call with the same result again and again: a loop without progress."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label
from agentrunproof.record.localization import Step

#: The third time in a row that nothing is different.
TIMES = 3
POINTS = 4


def find(trace: Trace) -> Iterator[Seen]:
    """Of each loop, its first call. What polls does so too, in runs that go well."""
    row: list[int] = []
    for at in trace.tools:
        if row and _said(trace.steps[at]) != _said(trace.steps[row[0]]):
            yield from _loop(trace, row)
            row = []
        if trace.steps[at].status == "ok" and any(_said(trace.steps[at])[1:3]):
            row.append(at)
    yield from _loop(trace, row)


def _loop(trace: Trace, row: list[int]) -> Iterator[Seen]:
    if len(row) >= TIMES:
        yield Seen(trace.writer(row[0]), f"{label(trace.steps[row[0]])} was called {len(row)} "
                   "times with the same input, and the result never changed", POINTS,
                   tuple(row[1:]), soft=True)


def _said(step: Step) -> tuple[str, str, str, str, str]:
    return (step.tool, step.input, step.facts.get("input_digest", ""), step.output,
            step.facts.get("output_digest", ""))
