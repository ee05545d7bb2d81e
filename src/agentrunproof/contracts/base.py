"""What a contract is: a promise, when it applies, and how a run violates it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun
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
        of_calls: whether it judges plans of calls as well; the others judge runs.
        of_sent: whether it judges what models were sent. The others judge what the run had ready
            for them, before a filter of the plan's (`Run.input_filter`) changed it.
    """

    name: str
    promise: str
    source: str
    codes: dict[str, str]
    applies: Callable[[Plan, Observation], bool]
    violations: Callable[[Plan, Observation], Iterator[Violation | Unobserved]]
    of_calls: bool = False
    of_sent: bool = False


def judge_one(contract: Contract, plan: Plan, seen: Observation) -> CheckResult | None:
    """The result of one contract, or None where it does not apply.

    The first violation names code and place; `also` counts the others.
    """
    if plan.run.input_filter is not None and not contract.of_sent:
        seen = seen.mapped(_before_the_filter)
    if (plan.calls and not contract.of_calls) or not contract.applies(plan, seen):
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


def _before_the_filter(run: PhaseRun) -> PhaseRun:
    """The run with each model called with what was ready for it, before the filter."""
    ready: dict[tuple[str, str], Event] = {}
    events = []
    for event in run.events:
        lane = event.get("agent", ""), event.get("parent", "")
        if event["kind"] == "input_filtered":
            ready[lane] = event
        elif event["kind"] == "model_called" and lane in ready:
            event = event | {"input": ready[lane]["given"],
                             "instructions": ready[lane]["given_instructions"]}
        events.append(event)
    return PhaseRun(run.mode, run.phase, tuple(events))
