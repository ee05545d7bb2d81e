"""What a contract is: a promise, when it applies, and how a run violates it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation
from agentrunproof.record.result import OK as OK
from agentrunproof.record.result import CheckResult as CheckResult


@dataclass(frozen=True)
class Violation:
    """One observed breach: its code, ``mode/phase``, and what was seen, in words."""

    code: str
    where: str
    detail: str


@dataclass(frozen=True)
class Unobserved:
    """The promise applies, but this run left nothing to judge it by."""

    code: str
    detail: str


@dataclass(frozen=True)
class Contract:
    """One promise of the Runner.

    Args:
        name: name of the check, as it stands in certificates.
        promise: the contract in one sentence.
        source: where the SDK promises it (documentation page, docstring, issue).
        codes: each code a violation may carry, with its meaning.
        applies: whether the plan and what was observed call for this check at all.
        violations: the breaches, in a fixed order; an `Unobserved` says it can't be told.
    """

    name: str
    promise: str
    source: str
    codes: dict[str, str]
    applies: Callable[[Plan, Observation], bool]
    violations: Callable[[Plan, Observation], Iterator[Violation | Unobserved]]


def judge_one(contract: Contract, plan: Plan, seen: Observation) -> CheckResult | None:
    """The result of one contract, or None where it does not apply.

    The first violation names code and place; `also` counts the others.
    """
    if not contract.applies(plan, seen):
        return None
    found = list(contract.violations(plan, seen))
    broken = [item for item in found if isinstance(item, Violation)]
    if broken:
        first = broken[0]
        return CheckResult(contract.name, "FAIL", first.code, first.where, first.detail,
                           len(broken) - 1)
    if found:
        return CheckResult(contract.name, "UNTESTABLE", found[0].code, "", found[0].detail)
    return CheckResult(contract.name, "PASS", OK)
