"""Which run is meant, of several in one file; and where in a file runs of ours begin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from agentrunproof.errors import RecordError
from agentrunproof.record import json_lines
from agentrunproof.shape import nearest

T = TypeVar("T")

#: so many ids are named
_NAMED = 20
_STARTED = b'"run_started"'


def choose(file: str, wanted: str, runs: Mapping[str, T], code: str) -> tuple[str, T]:
    """The id and the content of the run that the user wants, or of the only one.

    Args:
        file: its name, for messages.
        wanted: the id that the user named; empty: there is but one.
        runs: content by id, in the order of the file; at least one.
        code: of the error.

    Raises:
        RecordError: there are several, or none of the id that the user named.
    """
    if wanted:
        if wanted not in runs:
            raise RecordError(code, f"{file}: there is no run {wanted!r:.60}",
                              nearest(wanted, runs) or f"runs: {listed(runs)}")
        return wanted, runs[wanted]
    if len(runs) > 1:
        raise RecordError(code, f"{file}: holds {len(runs)} runs: {listed(runs)}",
                          "import, localize, why or fix it with --run ID, which takes one of them")
    return next(iter(runs.items()))


def listed(runs: Mapping[str, object]) -> str:
    """The ids of runs for a message, the first of many."""
    ids = [f"{id:.100}" for id in runs]
    return ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")


def recorded(data: bytes) -> dict[str, tuple[int, int]]:
    """The recorded runs that stand one after the other in a file: where each begins and ends.

    A run is known by what it was called; of several called the same, the second is ``NAME#2``.
    """
    starts = list(_starts(data))
    bounds = [0, *(at for at, _ in starts[1:]), len(data)]
    found: dict[str, tuple[int, int]] = {}
    for number, (_, name) in enumerate(starts or [(0, "")]):
        again = sum(other == name for _, other in starts[:number])
        found[f"{name}#{again + 1}" if again else name] = bounds[number], bounds[number + 1]
    return found


def _starts(data: bytes) -> Iterator[tuple[int, str]]:
    """Where the first events of runs stand, and the runs' names."""
    at = data.find(_STARTED)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        try:
            event = json_lines.load(data[begin:end])
        except ValueError:
            event = None
        if isinstance(event, dict) and event.get("kind") == "run_started":
            yield begin, str(event.get("name") or "")
        at = data.find(_STARTED, end)
