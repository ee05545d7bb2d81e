"""Work that was asked for again: whoever did it first did not deliver."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

#: Much is asked for again only because it takes several steps.
POINTS = 1
#: how much of the shorter request's words the other has as well
_SAME = 0.6
_WORD = re.compile(r"\w{4,}")


def find(trace: Trace) -> Iterator[Seen]:
    """The first work that the next request asks for again."""
    work = frozenset(trace.workers)
    asked: set[str] = set()
    done: int | None = None
    for at, step in enumerate(trace.steps):
        if step.kind == "handoff":
            words = set(_WORD.findall(step.output.lower()))
            if done is not None and asked and words and \
                    len(asked & words) >= _SAME * min(len(asked), len(words)):
                yield Seen(done, f"the same was asked for again at step {step.number}", POINTS,
                           (at,), soft=True)
                return
            asked, done = words, None
        elif at in work and done is None:
            done = at
