"""A decision reaches the nested agent run whose call it decides.

"In the nested Agent.as_tool() case, the interruption still surfaces on the outer run, so you
approve or reject it on the outer RunState and resume the original top-level run"; "those resolved
calls can continue while unresolved ones remain in interruptions and pause the run again."
(https://openai.github.io/openai-agents-python/human_in_the_loop/) Sticky and exact decisions
travel with the serialized state as well. See also openai-agents-python#4414.

So once a nested call is decided, the resumed run must not wait for it again, whether the state
came in memory or as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage, made_call, pending
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        resume = plan.phase(run.phase).resume
        if resume is None:
            continue
        nested = _nested_pending(lineage(plan, seen, run)[:-1])
        for decision in resume.decisions:
            if decision.call in nested and decision.call in pending(run):
                code = ("APPROVED_NESTED_STATE_REMAINED_INTERRUPTED" if decision.approve
                        else "REJECTED_NESTED_STATE_REMAINED_INTERRUPTED")
                yield Violation(code, run.where, f"call {decision.call} was decided and waits "
                                "for a decision again")


def _nested_pending(runs: tuple[PhaseRun, ...]) -> set[str]:
    """Calls of nested agent runs that waited for a decision when the last of `runs` paused."""
    found = set()
    for call in pending(runs[-1]) if runs else ():
        answer = made_call(runs, call)
        if answer is not None and answer["parent"]:
            found.add(call)
    return found


def _applies(plan: Plan, seen: Observation) -> bool:
    return any(_nested_pending(lineage(plan, seen, run)[:-1]) for run in seen.runs)


CONTRACT = Contract(
    name="recursive_approval_routing",
    promise="A decision reaches the nested agent run whose call it decides.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/",
    codes={
        "APPROVED_NESTED_STATE_REMAINED_INTERRUPTED":
            "an approved call of a nested run waits for a decision again",
        "REJECTED_NESTED_STATE_REMAINED_INTERRUPTED":
            "a rejected call of a nested run waits for a decision again",
    },
    applies=_applies,
    violations=_violations,
)
