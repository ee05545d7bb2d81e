"""Calls that gave nothing: an empty list, none, no output."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize import conversation
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label

#: As good as a failure: what was to be learned was not, though nothing says so.
POINTS = 4
POINTS_OF_TASK = 2


def find(trace: Trace) -> Iterator[Seen]:
    """The first such call; what follows tries to mend it."""
    for at in trace.tools:
        step = trace.steps[at]
        if conversation.empty(step):
            by = trace.writer(at)
            of_task = trace.steps[by].kind == "input"
            yield Seen(by, f"{label(step)} gave nothing at step {step.number}",
                       POINTS_OF_TASK if of_task else POINTS, (at,) if by != at else (), soft=True)
            if not of_task:
                return
