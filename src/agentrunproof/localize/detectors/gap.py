"""Events that are missing in the middle of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import median_low

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

#: Numbers may skip for other reasons; a hole is far wider than what is usual in the trace.
_WIDER = 3
_LEAST = 5


def find(trace: Trace) -> Iterator[Seen]:
    """Worth saying only: any conclusion is drawn over the hole."""
    numbers = [step.number for step in trace.steps]
    jumps = [later - earlier for earlier, later in pairwise(numbers)]
    usual = median_low(jumps) if jumps else 1
    for at, jump in enumerate(jumps, 1):
        lost = trace.steps[at].facts.get("lost")
        if lost or (jump >= _LEAST and jump > _WIDER * usual):
            yield Seen(at, f"{lost or jump - 1} events before this one are missing",
                       others=(at - 1,))
