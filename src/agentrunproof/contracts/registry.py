"""Every contract, in the order in which certificates list their checks."""

from __future__ import annotations

from collections.abc import Iterable

from agentrunproof.contracts import (
    agent_request,
    cancellation,
    exactly_once,
    execution_outcome,
    guardrail_before_effect,
    guardrail_results,
    handoff_history,
    hook_order,
    max_turns,
    model_script_consumed,
    recursive_approval_routing,
    response_linkage,
    session_persistence,
    span_tree,
    state_fork_isolation,
    state_transition,
    stream_complete,
    stream_parity,
    task_cleanup,
    tool_linkage,
    usage_sum,
)
from agentrunproof.contracts.base import CheckResult, Contract, judge_one
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation

#: All contracts. The order is part of the certificate format: append only.
CONTRACTS: tuple[Contract, ...] = (
    execution_outcome.CONTRACT,
    stream_parity.CONTRACT,
    tool_linkage.CONTRACT,
    exactly_once.CONTRACT,
    model_script_consumed.CONTRACT,
    state_transition.CONTRACT,
    state_fork_isolation.CONTRACT,
    recursive_approval_routing.CONTRACT,
    session_persistence.CONTRACT,
    hook_order.CONTRACT,
    span_tree.CONTRACT,
    usage_sum.CONTRACT,
    response_linkage.CONTRACT,
    stream_complete.CONTRACT,
    handoff_history.CONTRACT,
    guardrail_before_effect.CONTRACT,
    max_turns.CONTRACT,
    task_cleanup.CONTRACT,
    agent_request.CONTRACT,
    guardrail_results.CONTRACT,
    cancellation.CONTRACT,
)


def find(name: str) -> Contract | None:
    """The contract of that name, or None."""
    return next((contract for contract in CONTRACTS if contract.name == name), None)


def judge(plan: Plan, seen: Observation) -> tuple[CheckResult, ...]:
    """The result of every contract that applies, in the order of `CONTRACTS`.

    A release that lacks what the plan needs was not run, so there is nothing to judge.
    """
    if seen.missing:
        return ()
    results = (judge_one(contract, plan, seen) for contract in CONTRACTS)
    return tuple(result for result in results if result is not None)


def verdict(results: Iterable[CheckResult], missing: Iterable[str] = ()) -> str:
    """The verdict over all checks: the first of these rules that holds.

    1. The release lacks something the plan needs: ``UNTESTABLE``.
    2. No check applied, so nothing was judged: ``ERROR``.
    3. Any check is ``ERROR``, else any ``FAIL``, else any ``UNTESTABLE``: that.
    4. Otherwise ``PASS``.
    """
    if tuple(missing):
        return "UNTESTABLE"
    found = {result.verdict for result in results}
    if not found:
        return "ERROR"
    return next((name for name in ("ERROR", "FAIL", "UNTESTABLE") if name in found), "PASS")
