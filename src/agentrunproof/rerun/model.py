"""A model that answers the requests of one API, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from agentrunproof.errors import AgentRunProofError

Body = dict[str, Any]

#: Takes one line for people: what is waited for, and why.
Tell = Callable[[str], None]


class ModelError(AgentRunProofError):
    """A model cannot be had, or gave no reply."""


class Model(Protocol):
    """Answers requests of one dialect (`record.dialects`). It can be pickled.

    Used from several threads at once, unless it is `local` and nobody asks for more workers.
    """

    @property
    def name(self) -> str:
        """For people and records: ``gpt-4.1 (openai.chat)``, ``python:inbox:model``."""

    @property
    def identity(self) -> str:
        """What its replies are cached under; empty if they are never to be."""

    @property
    def local(self) -> bool:
        """Whether it runs on this machine, so that it is asked one at a time by default."""

    @property
    def deterministic(self) -> bool:
        """Whether one rerun tells everything (temperature 0, or declared so)."""

    def ask(self, body: Body, /) -> Any:
        """The literal reply to a request, which is left as it is.

        Raises:
            ModelError: there is none, once all retries are spent.
        """

    def close(self) -> None:
        """Give up what is under way, and let go of connections. May be called twice."""


def silent(_: str) -> None:
    """Tell nobody."""
