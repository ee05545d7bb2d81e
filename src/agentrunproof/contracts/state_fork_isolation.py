"""States made from one paused result are independent of each other.

"Convert the result to a RunState with result.to_state(), call state.approve(...) or
state.reject(...), and then resume"; "Per-call approvals are scoped to the specific call ID"; "if
you rerun after approving or rejecting only some items, ... unresolved ones remain in
interruptions and pause the run again."
(https://openai.github.io/openai-agents-python/human_in_the_loop/#how-the-approval-flow-works)
A decision made on one state is therefore none on another state of the same result
(openai-agents-python#4409, #4413).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import decided, lineage, pending, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for source in _forks(plan):
        for run in seen.runs:
            phase = plan.phase(run.phase)
            paused = seen.run(run.mode, source)
            if phase.resume is None or phase.resume.from_ != source or paused is None:
                continue
            undecided = _undecided(plan, seen, run, paused)
            for detail in _traces(run, undecided):
                yield Violation("SIBLING_STATE_MUTATED", run.where, detail)


def _traces(run: PhaseRun, undecided: set[str]) -> Iterator[str]:
    """Signs that calls which this branch never decided were taken for decided."""
    restored = [event for event in run.of("state_restored") if not event["error"]]
    gone = undecided - set(restored[-1]["pending"]) if restored else set()
    if gone:
        yield f"{words(sorted(gone))} did not wait for a decision in the state of this branch"
    started = undecided & {event["call"] for event in run.of("tool_started")}
    if started:
        yield f"{words(sorted(started))} was executed, which only a sibling state had decided"
    lost = undecided - set(pending(run))
    asked = any(not event["parent"] for event in run.of("model_called"))
    if lost and (asked or run.outcome in ("completed", "interrupted")):
        yield f"the run went on past {words(sorted(lost))}, undecided on this branch"


def _forks(plan: Plan) -> list[str]:
    return [phase.id for phase in plan.phases if len(plan.branches(phase.id)) > 1]


def _undecided(plan: Plan, seen: Observation, run: PhaseRun, paused: PhaseRun) -> set[str]:
    """Calls of the pause that no decision on this branch settles."""
    runs = lineage(plan, seen, run)
    return {event["call"] for event in paused.of("interruption")
            if decided(plan, runs, event["call"], event["tool"]) is None}


CONTRACT = Contract(
    name="state_fork_isolation",
    promise="A decision on one state of a paused result is none on another.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#how-the-approval-flow-works",
    codes={"SIBLING_STATE_MUTATED": "a call went on though only a sibling state had decided it"},
    applies=lambda plan, seen: bool(_forks(plan)),
    violations=_violations,
)
