"""A run that hit a limit: of turns, time, tokens, money or requests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

_LIMIT = re.compile(
    r"stalled\.\.\.|"
    r"max(?:imum)?[ _]?(?:number of )?(?:turns?|rounds?|time|steps?|iterations?|tokens?)\b"
    r"[^.\n]{0,40}\b(?:reached|exceeded)|replan counter exceeded|budget (?:was )?exceeded|"
    r"rate limit (?:reached|exceeded)|insufficient[_ ]quota|context[_ ]length[_ ]exceeded|"
    r"MaxTurnsExceeded", re.I)
#: a limit ends a run: it is told in the last words
_LAST = 3


def find(trace: Trace) -> Iterator[Seen]:
    """Worth saying only: what used the budget up is what went wrong."""
    for at in range(max(0, trace.last + 1 - _LAST), len(trace)):
        step = trace.steps[at]
        hit = _LIMIT.search(step.error) or _LIMIT.search(step.output[:2000])
        if hit:
            yield Seen(at, f"the run hit a limit: {hit[0][:60]}")
            return
