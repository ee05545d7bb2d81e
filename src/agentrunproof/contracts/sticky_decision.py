"""A decision for always spares the later calls of its tool another question.

"Per-call approvals are scoped to the specific call ID; pass always_approve=True or
always_reject=True to persist the same decision for future calls to the same tool identity during
the rest of the run." "Sticky decisions created with always_approve=True or always_reject=True are
stored in the run state, so they survive state.to_string() / RunState.from_string(...) and
state.to_json() / RunState.from_json(...) when you resume the same paused run later."
(https://openai.github.io/openai-agents-python/human_in_the_loop/#how-the-approval-flow-works)

That a call which was rejected so is not executed is exactly_once's matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import Call, calls
from agentrunproof.contracts.reading import decided, decisions, lineage, pending
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _later(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Call, bool]]:
    """Calls that a decision for always settles and none of their own, with what it says."""
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        made = decisions(plan, plan.phase(run.phase))
        for call in calls(runs):
            sticky = decided(plan, runs, call.id, call.name)
            if sticky is not None and not any(decision.call == call.id for decision in made):
                yield run, call, sticky


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, call, approve in _later(plan, seen):
        if call.id in pending(run):
            code = "STICKY_APPROVAL_IGNORED" if approve else "STICKY_REJECTION_IGNORED"
            yield Violation(code, run.where, f"call {call.id} waits for a decision, {call.name} "
                            f"was {'approved' if approve else 'rejected'} for always")


CONTRACT = Contract(
    name="sticky_decision",
    promise="A decision for always holds for the later calls of its tool.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#how-the-approval-flow-works",
    codes={
        "STICKY_APPROVAL_IGNORED": "a call waits whose tool was approved for always",
        "STICKY_REJECTION_IGNORED": "a call waits whose tool was rejected for always",
    },
    applies=lambda plan, seen: any(_later(plan, seen)),
    violations=_violations,
)
