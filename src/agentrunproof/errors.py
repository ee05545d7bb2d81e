"""Errors that a user can be told about in one line.

Every error carries a *code* (stable, for machines), a *message* (what is wrong, naming the file,
key or value) and a *hint* (what to do about it). Nothing here prints or exits: the command line
turns an error into its exit code in one place (`agentrunproof.cli.exits`).
"""

from __future__ import annotations

from typing import Any


class AgentRunProofError(Exception):
    """Root of everything this package raises on purpose.

    Args:
        code: stable upper-case identifier, such as ``PLAN_UNKNOWN_KEY``.
        message: one sentence naming what is wrong and where.
        hint: one sentence saying what to do, or ``""``.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors come back from other processes, and each class has its own arguments.
        return _restore, (type(self), self.args, vars(self))


def _restore(cls: type[AgentRunProofError], args: tuple[Any, ...],
             state: dict[str, Any]) -> AgentRunProofError:
    error = cls.__new__(cls, *args)
    vars(error).update(state)
    return error


def said(error: BaseException) -> str:
    """What somebody else's error says, in one line of at most 200 letters."""
    return " ".join(str(error).split())[:200]


class ShapeError(AgentRunProofError):
    """A value does not have the declared shape; `path` is its place, such as ``phases[0].id``."""

    def __init__(self, code: str, path: str, problem: str, hint: str = "") -> None:
        super().__init__(code, f"{path or 'top level'}: {problem}", hint)
        self.path = path
        self.problem = problem


class JsonError(AgentRunProofError):
    """Bytes are not the strict JSON that records are made of."""


class PlanError(AgentRunProofError):
    """A plan cannot be used: unreadable, of the wrong shape, or contradicting itself."""


class RecordError(AgentRunProofError):
    """A record cannot be read or written."""


class LabError(AgentRunProofError):
    """An environment, a worker or the network stood in the way of a run."""
