"""The same call made again and again while it fails."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label
from agentrunproof.record.localization import Step

#: Twice is a second try; from the third time on nothing is learned from the failures.
TIMES = 3
POINTS = 2
_FAILED = ("error", "timeout", "blocked", "cancelled")


def find(trace: Trace) -> Iterator[Seen]:
    """Of each storm, its first call."""
    row: list[int] = []
    for at in (*trace.tools, None):
        step = trace.steps[at] if at is not None else None
        if row and (step is None or step.status not in _FAILED or
                    _call(step) != _call(trace.steps[row[0]])):
            if len(row) >= TIMES:
                yield Seen(trace.writer(row[0]), f"{label(trace.steps[row[0]])} was called "
                           f"{len(row)} times and failed each time", POINTS, tuple(row[1:]))
            row = []
        if at is not None and step is not None and step.status in _FAILED:
            row.append(at)


def _call(step: Step) -> tuple[str, str, str]:
    return step.tool, step.input, step.facts.get("input_digest", "")
