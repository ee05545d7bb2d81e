"""A tool call that failed, was blocked, timed out or was cancelled."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.recovery import recovered
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label

#: A failure that the run did not get over explains what comes after it. Who wrote the call is to
#: blame, not the call that reported the failure; a call that nobody is known to have written
#: stands for its writer.
POINTS = 4
#: What stands in the task was not written in the run.
POINTS_OF_TASK = 2

_WORDS = {"error": "failed", "timeout": "timed out", "blocked": "was blocked",
          "cancelled": "was cancelled"}


def find(trace: Trace) -> Iterator[Seen]:
    """Of each writer the first failure counts: more of them say no more about it."""
    over = recovered(trace)
    known: set[int] = set()
    for at in trace.tools:
        step = trace.steps[at]
        if step.status not in _WORDS:
            continue
        # What takes too long need not have been asked wrongly.
        by = at if step.status == "timeout" else trace.writer(at)
        points = POINTS_OF_TASK if trace.steps[by].kind == "input" else POINTS
        said = step.error or step.output.strip().split("\n")[0]
        message = f"{label(step)} {_WORDS[step.status]}" + (f": {said[:80]}" if said else "")
        if by != at:
            message = f"wrote the call that failed at step {step.number}: {message}"
        yield Seen(by, message, 0 if by in known else points, (at,) if by != at else (),
                   failure=True, recovered=at in over)
        if at not in over:
            known.add(by)
