"""How the run ended: badly, or well by its own words though its last check failed."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import BAD, Trace, label

_GOOD = {"success", "completed", "ok"}
#: as much of an error is told
_SHOWN = 100


def find(trace: Trace) -> Iterator[Seen]:
    """What the run's last word says; who is to blame is for others to tell."""
    if not trace.end:
        return
    last = len(trace) - 1
    if trace.outcome in BAD:
        error = trace.end.error.removeprefix(f"{trace.outcome}: ")
        error = f": {error[:_SHOWN]}" if error else ""
        yield Seen(last, f"the run ended: {trace.outcome}{error}", failure=True)
    elif trace.outcome in _GOOD and trace.tools:
        check = trace.tools[-1]
        if trace.steps[check].status in ("error", "timeout", "blocked"):
            yield Seen(last, f"the run says {trace.outcome}, but its last call, "
                       f"{label(trace.steps[check])}, failed", others=(check,), failure=True)
