"""Results that report an error in words, where the trace calls the call a success."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize import conversation
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label

#: Words are weaker than a status: many tools answer so when all is well.
POINTS = 2
_ERROR = re.compile(
    r"\s*(?:\W{0,3}error\b|traceback \(most recent|exception\b|failed\b|an error occurred|"
    r"fatal:|\{\"error\"|permission denied|unauthorized|forbidden|access denied|invalid\b|"
    r"not found\b)", re.I)


def find(trace: Trace) -> Iterator[Seen]:
    """Of each writer the first: who wrote the call is to blame, not the call that said it."""
    known: set[int] = set()
    for at in trace.tools:
        step = trace.steps[at]
        said = conversation.printed(step)
        if step.status == "ok" and _ERROR.match(said):
            by = trace.writer(at)
            first = said.split("\n")[0][:80]
            yield Seen(by, f"{label(step)} answered at step {step.number}: {first}",
                       0 if by in known else POINTS, (at,) if by != at else (), soft=True)
            known.add(by)
