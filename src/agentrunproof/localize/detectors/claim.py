"""A claim that nothing supports, or that what was seen contradicts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label

POINTS = 4
_SUCCESS = re.compile(r"\b(?:pass(?:es|ed)|succe(?:ss|ssful|ssfully|eded)|fixed|works|all (?:green|"
                      r"good)|completed?|done)\b", re.I)
_DENIAL = re.compile(r"\b(?:not|n't|fail\w*|unable|cannot|could not|unsuccessful\w*)\b", re.I)


def find(trace: Trace) -> Iterator[Seen]:
    """Each claim that the trace calls so, and each of success right after a call that failed."""
    failed: int | None = None
    for at, step in enumerate(trace.steps):
        if step.kind == "tool":
            failed = None if step.status == "ok" else at
        elif step.kind == "claim":
            support = step.facts.get("support", "")
            if support in ("unsupported", "contradicted"):
                yield Seen(at, f"claimed something {support}", POINTS, soft=True)
            elif failed is not None and _SUCCESS.search(step.output) \
                    and not _DENIAL.search(step.output):
                yield Seen(at, f"claimed success, right after {label(trace.steps[failed])} had "
                           f"failed at step {trace.steps[failed].number}", POINTS, (failed,),
                           soft=True)
