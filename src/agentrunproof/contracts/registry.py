"""Every contract, in the order in which certificates list their checks."""

from __future__ import annotations

from collections.abc import Iterable

from agentrunproof.contracts import (
    agent_request,
    agent_tool,
    cancel_modes,
    cancellation,
    context_passing,
    error_data,
    error_fallback,
    exactly_once,
    execution_outcome,
    failure_raised,
    final_output,
    guardrail_before_effect,
    guardrail_results,
    guardrail_scope,
    handoff_history,
    handoff_input,
    hook_order,
    hook_subject,
    input_filter,
    input_list,
    max_turns,
    max_turns_fallback,
    mcp_call,
    mcp_listing,
    model_retry,
    model_script_consumed,
    model_settings,
    model_timeout,
    new_items,
    pending_approvals,
    raw_events,
    recursive_approval_routing,
    rejection,
    relation_approval,
    relation_history,
    relation_hooks,
    relation_state,
    relation_sync,
    relation_tracing,
    response_linkage,
    result_facts,
    server_conversation,
    session_input,
    session_persistence,
    session_suite,
    span_home,
    span_tree,
    span_truth,
    staged_input,
    state_fork_isolation,
    state_transition,
    sticky_decision,
    stop_at_tool,
    stream_complete,
    stream_items,
    stream_parity,
    task_cleanup,
    tool_arguments,
    tool_choice,
    tool_concurrency,
    tool_failure,
    tool_guardrail_timing,
    tool_linkage,
    tool_output,
    tool_timeout,
    tracing_disabled,
    tripwire_exception,
    turn_input,
    unfit_call,
    usage_sum,
    write_recovery,
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
    session_suite.CONTRACT,
    tool_output.CONTRACT,
    tool_arguments.CONTRACT,
    tool_failure.CONTRACT,
    tool_timeout.CONTRACT,
    unfit_call.CONTRACT,
    stop_at_tool.CONTRACT,
    final_output.CONTRACT,
    turn_input.CONTRACT,
    session_input.CONTRACT,
    new_items.CONTRACT,
    input_list.CONTRACT,
    pending_approvals.CONTRACT,
    rejection.CONTRACT,
    sticky_decision.CONTRACT,
    model_settings.CONTRACT,
    tool_choice.CONTRACT,
    max_turns_fallback.CONTRACT,
    relation_sync.CONTRACT,
    relation_hooks.CONTRACT,
    relation_tracing.CONTRACT,
    relation_state.CONTRACT,
    relation_approval.CONTRACT,
    relation_history.CONTRACT,
    guardrail_scope.CONTRACT,
    tool_guardrail_timing.CONTRACT,
    tripwire_exception.CONTRACT,
    failure_raised.CONTRACT,
    model_retry.CONTRACT,
    stream_items.CONTRACT,
    raw_events.CONTRACT,
    cancel_modes.CONTRACT,
    tracing_disabled.CONTRACT,
    span_home.CONTRACT,
    agent_tool.CONTRACT,
    error_data.CONTRACT,
    hook_subject.CONTRACT,
    server_conversation.CONTRACT,
    input_filter.CONTRACT,
    context_passing.CONTRACT,
    handoff_input.CONTRACT,
    mcp_call.CONTRACT,
    mcp_listing.CONTRACT,
    error_fallback.CONTRACT,
    model_timeout.CONTRACT,
    tool_concurrency.CONTRACT,
    write_recovery.CONTRACT,
    staged_input.CONTRACT,
    result_facts.CONTRACT,
    span_truth.CONTRACT,
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
