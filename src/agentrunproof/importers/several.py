"""Which run is meant, of several in a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from agentrunproof.importers.source import Source
from agentrunproof.record import several

T = TypeVar("T")


def choose(source: Source, runs: Mapping[str, T]) -> tuple[str, T]:
    """The id and the content of the run that the user wants, or of the only one.

    Args:
        source: the file, with what the user said.
        runs: content by id, in the order of the file; at least one.

    Raises:
        RecordError: ``IMPORT_RUN``: there are several, or none of the id that the user named.
    """
    return several.choose(source.name, source.run, runs, "IMPORT_RUN")


listed = several.listed
