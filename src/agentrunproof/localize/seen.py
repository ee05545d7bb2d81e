"""What a detector saw, before it is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentrunproof.localize.trace import Trace


@dataclass(frozen=True)
class Seen:
    """One thing that a detector saw.

    Args:
        at: where the step stands that is to blame for it.
        message: what was seen, in words.
        points: what it adds to that step's score; 0: it only has to be said.
        others: where the other steps stand that show it.
        failure: whether it is a failure by itself: a run with it did not go well, unless it got
            over it.
        recovered: whether the run got over it.
        soft: whether it is found in runs that went well too, so that it counts only in a run that
            is known to have failed.
    """

    at: int
    message: str
    points: int = 0
    others: tuple[int, ...] = ()
    failure: bool = False
    recovered: bool = False
    soft: bool = False


Detector = Callable[[Trace], Iterator[Seen]]
