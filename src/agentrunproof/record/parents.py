"""Parents that go round in a circle, which no trace should have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

K = TypeVar("K")


def circle(parents: Mapping[K, K]) -> tuple[K, ...]:
    """The ids of one circle of parents, in its order; empty if there is none.

    Args:
        parents: id -> the id of its parent, of all that have one.
    """
    done: set[K] = set()
    for start in parents:
        way: dict[K, None] = {}
        at = start
        while at in parents and at not in done and at not in way:
            way[at] = None
            at = parents[at]
        if at in way:
            ids = list(way)
            return tuple(ids[ids.index(at):])
        done.update(way)
    return ()


def note(parents: Mapping[K, K]) -> list[str]:
    """What a user must be told of parents that go round in a circle; nothing if none do."""
    ids = circle(parents)
    if not ids:
        return []
    return ["parents go round in a circle: " + " in ".join(
        f"{id[-1] if isinstance(id, tuple) else id!s:.40}" for id in ids[:5])
            + "; what is inside of what is told without that"]
