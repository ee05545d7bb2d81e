"""The result of one check, as contracts give it and records hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentrunproof.shape import Count, Name

Verdict = Literal["PASS", "FAIL", "UNTESTABLE", "ERROR"]

OK = "OK"


@dataclass(frozen=True)
class CheckResult:
    """The judgement of one contract over a whole observation.

    Args:
        check: name of the contract.
        verdict: its verdict.
        code: ``OK``, or the code of the first violation.
        where: ``mode/phase`` of that violation.
        detail: what was seen there, in words.
        also: how many more violations there are.
    """

    check: Name
    verdict: Verdict
    code: str
    where: str = ""
    detail: str = ""
    also: Count = 0
