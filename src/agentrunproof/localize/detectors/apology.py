"""An agent that takes back what it did: the mistake was made before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

POINTS = 2
_SORRY = re.compile(r"\bI (?:sincerely )?apologi[sz]e for (?:the|my|that)|\bmy (?:mistake|"
                    r"apologies|error)\b|\bI (?:made|have made) an? (?:mistake|error)|"
                    r"\bI was (?:wrong|mistaken)\b|"
                    r"\bI mis(?:read|understood|counted|calculated|stated)\b", re.I)


def find(trace: Trace) -> Iterator[Seen]:
    """The answer of the same agent before the first apology."""
    before: dict[str, int] = {}
    for at in trace.answers:
        step = trace.steps[at]
        sorry = _SORRY.search(step.output)
        if sorry and step.agent in before:
            yield Seen(before[step.agent], f"taken back at step {step.number}: "
                       f"{sorry[0]!r}", POINTS, (at,), soft=True)
            return
        before[step.agent] = at
