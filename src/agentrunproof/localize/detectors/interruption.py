"""A run that broke off: no end was recorded, or a call never came back."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label


def find(trace: Trace) -> Iterator[Seen]:
    """Only where the format has an end and a start, and the start is there."""
    if not trace.steps or trace.end or not _has_ends(trace):
        return
    last = len(trace) - 1
    yield Seen(last, "no end of the run was recorded: it broke off after "
               f"{label(trace.steps[last])}", failure=True)


def _has_ends(trace: Trace) -> bool:
    first = trace.steps[0]
    return first.kind == "start" and first.facts.get("ends") != "unknown"
