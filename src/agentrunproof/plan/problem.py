"""One thing that is wrong with a plan, and the two that occur most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agentrunproof.shape import nearest


class Problem(NamedTuple):
    """A breach of a rule: its code, its place in the plan, what is wrong, and what to do."""

    code: str
    place: str
    text: str
    hint: str = ""


def unknown(place: str, what: str, name: str, known: Iterable[str]) -> Problem:
    """`name` is not among the `known` names of that kind."""
    names = sorted(known)
    listed = "known: " + ", ".join(names[:12]) if names else "none is declared"
    return Problem("PLAN_UNKNOWN_NAME", place, f"unknown {what} {name!r}",
                   nearest(name, names) or listed)


def repeated(place: str, names: Iterable[str], what: str = "") -> Iterator[Problem]:
    """A problem for each name that stands more than once."""
    for name, count in Counter(names).items():
        if count > 1:
            yield Problem("PLAN_DUPLICATE", place, f"{what or 'names'} {name!r} {count} times")
