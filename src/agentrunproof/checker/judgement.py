"""What the checker says of a record, and how a step of it says no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from agentrunproof.errors import AgentRunProofError, RecordError
from agentrunproof.record.result import CheckResult


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The outcome of checking one record.

    Args:
        valid: whether every step held.
        code: ``OK``, or the code of the step that did not hold.
        message: what did not hold and where, in words.
        hint: what one may do about it, or nothing.
        id: the certificate's id, where the record came that far.
        scenario: the scenario it is about.
        verdict: the verdict of a valid record.
        checks: the judged checks of a valid record.
        profile: ``public`` or ``private``.
        notes: what a reader should know that is no reason to refuse the record.
        underived: how many facts of a private record could not be derived from its digests.
    """

    valid: bool
    code: str
    message: str = ""
    hint: str = ""
    id: str = ""
    scenario: str = ""
    verdict: str = ""
    checks: tuple[CheckResult, ...] = ()
    profile: str = "public"
    notes: tuple[str, ...] = ()
    underived: int = 0


def refused(problem: AgentRunProofError, **found: Any) -> Judgement:
    """The judgement of a record that an error ended.

    Args:
        problem: what did not hold.
        found: fields of the judgement that were known by then.
    """
    return Judgement(valid=False, code=problem.code, message=problem.message, hint=problem.hint,
                     **found)


def reject(code: str, message: str, hint: str = "") -> NoReturn:
    """End the procedure: the record does not hold."""
    raise RecordError(code, message, hint)
