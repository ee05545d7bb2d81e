"""The same answer word for word again: a plan that is repeated, not changed."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize import conversation
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

POINTS = 1


def find(trace: Trace) -> Iterator[Seen]:
    """The first answer of some substance that is given again."""
    given: dict[str, int] = {}
    for at in trace.answers:
        step = trace.steps[at]
        words = " ".join(step.output.split())
        if not conversation.substantial(step):
            continue
        if words in given:
            yield Seen(given[words], f"said the same again at step {step.number}", POINTS, (at,),
                       soft=True)
            return
        given[words] = at
