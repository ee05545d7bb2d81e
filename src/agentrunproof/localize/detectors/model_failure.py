"""A request to a model that failed, or an answer that was cut short."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.recovery import recovered
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

#: Whoever goes on after that acts without a plan, or on half of one.
POINTS = 4


def find(trace: Trace) -> Iterator[Seen]:
    """A failed request is a failure; a cut answer only where the run failed besides."""
    over = recovered(trace)
    for at in trace.answers:
        step = trace.steps[at]
        if step.status == "cut":
            reason = step.facts.get("finish", "its limit")
            yield Seen(at, f"the answer was cut short ({reason})", POINTS, soft=True)
        elif step.status != "ok" and step.status != "open":
            said = f": {step.error[:80]}" if step.error else ""
            yield Seen(at, f"the request to the model failed{said}", POINTS, failure=True,
                       recovered=at in over)
