"""Which failures a run got over."""

from __future__ import annotations

from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step


def recovered(trace: Trace) -> frozenset[int]:
    """Where the failed calls stand that the run got over.

    The very same call succeeded later, or the call right after it did, of the same tool: its
    input was mended. In a run of which nothing bad is known, any later call that succeeds will do:
    someone saw the failure and found another way. What executes programs (calls without arguments
    of their own) may have succeeded at anything else, so in a run that is known to be bad its
    failures stay. A failed request to a model was got over if a later one was answered.
    """
    over: set[int] = set()
    succeeded: set[tuple[str, str]] = set()
    answered = worked = False
    after: Step | None = None
    for at in reversed(range(len(trace.steps))):
        step = trace.steps[at]
        if step.kind == "answer":
            if step.status == "ok":
                answered = True
            elif answered and not trace.bad:
                over.add(at)
        elif step.kind == "tool":
            if step.status == "ok":
                succeeded.add((step.tool, step.input))
                worked = True
            elif (worked and not trace.bad) or (step.input and (
                    (step.tool, step.input) in succeeded or
                    (after is not None and after.tool == step.tool and after.status == "ok"))):
                over.add(at)
            after = step
    return frozenset(over)
