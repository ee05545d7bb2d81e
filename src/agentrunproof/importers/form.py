"""What a format is: its name, how it is recognised, how it is read."""

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
        why_not: why a file is not of this format; empty if it is. Raises `RecordError` for a file
            that is, with something wrong in it.
        read: what a file says; its second argument says that the user named the format. Raises
            `NotThisFormat` and `RecordError`.
    """

    name: str
    looks_for: str
    why_not: Callable[[Source], str]
    read: Callable[[Source, bool], Draft]
