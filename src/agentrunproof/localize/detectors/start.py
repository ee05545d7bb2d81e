"""A trace that begins in the middle of a run."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace


def find(trace: Trace) -> Iterator[Seen]:
    """Worth saying only: what came before cannot be blamed for anything."""
    if trace.steps and trace.steps[0].kind not in ("start", "input"):
        yield Seen(0, "the trace begins in the middle of a run: its task is unknown")
