"""What a format is: its name, and how it is recognised and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentrunproof.importers.draft import Draft
from agentrunproof.importers.source import Source


class NotThisFormat(Exception):
    """What was looked for and not found."""


@dataclass(frozen=True)
class Format:
    """A format of traces.

    Args:
        name: as users type it.
        looks_for: what tells it, in words.
        read: what a file says; its second argument says that the user named the format. Raises
            `NotThisFormat`, and `RecordError` for a file that is of it, with something wrong in it.
    """

    name: str
    looks_for: str
    read: Callable[[Source, bool], Draft]
