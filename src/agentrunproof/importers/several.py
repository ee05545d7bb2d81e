"""Which run is meant, of several in one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from agentrunproof.errors import RecordError
from agentrunproof.importers.source import Source
from agentrunproof.shape import nearest

T = TypeVar("T")

#: so many ids are named
_NAMED = 20


def choose(source: Source, runs: Mapping[str, T]) -> tuple[str, T]:
    """The id and the content of the run that the user wants, or of the only one.

    Args:
        source: the file, with what the user said.
        runs: content by id, in the order of the file; at least one.

    Raises:
        RecordError: ``IMPORT_RUN``: there are several, or none of the id that the user named.
    """
    if source.run:
        if source.run not in runs:
            raise RecordError("IMPORT_RUN", f"{source.name}: there is no run {source.run!r:.60}",
                              nearest(source.run, runs) or f"runs: {listed(runs)}")
        return source.run, runs[source.run]
    if len(runs) > 1:
        raise RecordError("IMPORT_RUN", f"{source.name}: holds {len(runs)} runs: {listed(runs)}",
                          "import or localize it with --run ID, which takes one of them")
    return next(iter(runs.items()))


def listed(runs: Mapping[str, object]) -> str:
    """The ids of runs for a message, the first of many."""
    ids = [f"{id:.100}" for id in runs]
    return ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")
