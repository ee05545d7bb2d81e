"""One thing that is wrong with a plan, and those that occur most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

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


def seconds_problems(part: Any, keys: Iterable[str], place: str) -> Iterator[Problem]:
    """A problem for each of these keys of a part that says no time above 0."""
    for key in keys:
        value = getattr(part, key)
        if value is not None and (value.startswith("-") or value == "0"):
            yield Problem("PLAN_RANGE", f"{place}.{key}",
                          f"expected seconds above 0, found {value}")


def names_problems(place: str, what: str, names: Iterable[str], known: Collection[str]
                   ) -> Iterator[Problem]:
    """A problem for each name that is not known, or stands more than once."""
    names = tuple(names)
    for name in names:
        if name not in known:
            yield unknown(place, what, name, known)
    yield from repeated(place, names)


def guardrail_problems(guardrails: Mapping[str, Any], names: tuple[str, ...], kind: str,
                       place: str) -> Iterator[Problem]:
    """The same for names of guardrails, which must also be of this kind."""
    yield from names_problems(place, "guardrail", names, guardrails)
    for name in names:
        if name in guardrails and guardrails[name].kind != kind:
            yield Problem("PLAN_KIND", place, f"{name!r} is not an {kind} guardrail",
                          f"set kind = \"{kind}\" in guardrails.{name}")
