"""A whole number told right after a call, which nothing that was read says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize import conversation
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

#: Counting long lists is what models do badly, and nobody checks it again.
POINTS = 4
#: Amounts of money, ranges, times and dates are put together from others; ids are long.
_COUNT = re.compile(r"(?<![\w.,$€£#:/\-\u2013\u2014])\d{2,4}(?![\w:/%\-\u2013\u2014]|[.,]\d)")
_NUMBER = re.compile(r"(?<!\d)\d{2,4}(?!\d)")
_LIST = re.compile(r"^\s*\d+[.)]\s", re.M)


def find(trace: Trace) -> Iterator[Seen]:
    """The first such number of an agent whose calls have named tools."""
    if not trace.answers:
        return
    told: set[str] = set()
    after_call = False
    for at, step in enumerate(trace.steps):
        if step.kind == "tool":
            after_call = bool(step.input)
        elif step.kind == "answer" and after_call and at not in trace.asked:
            after_call = False
            own = [number for number in _COUNT.findall(_LIST.sub("", step.output))
                   if number not in told]
            if own:
                yield Seen(at, f"told {own[0]}, which no call before it returned", POINTS,
                           soft=True)
                return
        told.update(_NUMBER.findall(conversation.text(step)))
        told.update(_NUMBER.findall(step.input))
