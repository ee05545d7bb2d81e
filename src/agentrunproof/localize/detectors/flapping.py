"""State that is set to one value, to another, and back again."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace

#: Back at a value that was left before: two steps disagree about what is to be.
POINTS = 4


def find(trace: Trace) -> Iterator[Seen]:
    """Of each name whose value came back, the first step that set it."""
    history: dict[str, list[tuple[int, str]]] = {}
    told: set[str] = set()
    for at, step in enumerate(trace.steps):
        for name, value in step.changes.items():
            past = history.setdefault(name, [])
            if past and past[-1][1] == value:
                continue
            back = next((place for place, old in past if old == value), None)
            past.append((at, value))
            if back is not None and name not in told:
                told.add(name)
                yield Seen(past[0][0], f"{name} was set to {value!r:.40}, changed, and set back",
                           POINTS, tuple(place for place, _ in past[1:]), soft=True)
