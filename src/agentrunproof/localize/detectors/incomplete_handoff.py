"""A task handed over without what it needs."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

POINTS = 4


def find(trace: Trace) -> Iterator[Seen]:
    """Each handoff of which the trace says what is missing, or which says nothing at all."""
    for at, step in enumerate(trace.steps):
        if step.kind == "handoff" and step.facts.get("missing"):
            yield Seen(at, f"handed over to {step.facts.get('to', 'another')} without "
                       f"{step.facts['missing'][:80]}", POINTS, soft=True)
