"""A paused state comes through every way of storing it unchanged, and decisions take effect.

"RunState is designed to be durable. Use state.to_json() or state.to_string() to store pending work
in a database or queue and recreate it later with RunState.from_json(...) or
RunState.from_string(...)." RunResult.interruptions "contains ToolApprovalItem entries"; "convert
the result to a RunState with result.to_state(), call state.approve(...) or state.reject(...), and
then resume"; "those resolved calls can continue while unresolved ones remain in interruptions".
(https://openai.github.io/openai-agents-python/human_in_the_loop/)

Round trip equality: the JSON of the restored state is the JSON of the saved one, and states of one
pause that are resumed alike give results with the same items, whichever way they travelled. Calls
of nested agent runs are judged by recursive_approval_routing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage, made_call, pending, recovers, words
from agentrunproof.plan.items import label
from agentrunproof.plan.model import Phase, Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        phase = plan.phase(run.phase)
        yield from _saved(plan, phase, run)
        for event in run.of("state_restored"):
            yield from _restored(run, event, _saved_as(seen, run, phase, event))
        if phase.resume is not None:
            yield from _resumed(plan, seen, phase, run)
    for mode in seen.modes:
        for run, other in combinations(seen.in_mode(mode), 2):
            yield from _alike(plan, run, other)


def _saved(plan: Plan, phase: Phase, run: PhaseRun) -> Found:
    """Each state made from a paused result holds the calls that the result holds."""
    if run.outcome != "interrupted":
        return
    due = dict(plan.branches(phase.id))
    if phase.probe is not None:
        due |= {f"probe-{via}": via for via in phase.probe.via}
    made = {event["branch"]: event for event in run.of("state_saved")}
    restored = {event["branch"] for event in run.of("state_restored")}
    for branch in due:
        if branch not in made or (branch.startswith("probe-") and branch not in restored):
            yield Unobserved("STATE_UNOBSERVED", f"{run.where}: no state {branch} was seen")
        elif tuple(made[branch]["pending"]) != pending(run):
            yield Violation("PENDING_LOST", run.where, f"the state {branch} waits for "
                            f"{words(made[branch]['pending'])}, the result for "
                            f"{words(pending(run))}")


def _saved_as(seen: Observation, run: PhaseRun, phase: Phase, restored: Event) -> Event | None:
    """The saving that a restoring belongs to: a probe's in the same run, or the earlier phase's."""
    source: PhaseRun | None = run
    if phase.resume is not None and restored["branch"] == phase.resume.branch:
        source = seen.run(run.mode, phase.resume.from_)
    events = source.of("state_saved") if source is not None else []
    return next((event for event in events if event["branch"] == restored["branch"]), None)


def _restored(run: PhaseRun, event: Event, saved: Event | None) -> Found:
    how = f"the state {event['branch']} ({event['via']})"
    if event["error"]:
        yield Violation("STATE_NOT_RESTORED", run.where, f"restoring {how} raised "
                        f"{event['error'].get('type')}: {event['error'].get('message', '')}")
        return
    if event["changed"]:
        yield Violation("STATE_CHANGED", run.where,
                        f"{how} came back different at {words(event['changed'])}")
    if event["via"] != "memory" and saved is not None and (
            tuple(event["pending"]) != tuple(saved["pending"])):
        yield Violation("PENDING_LOST", run.where, f"{how} came back waiting for "
                        f"{words(event['pending'])}, saved waiting for {words(saved['pending'])}")


def _decided_before(plan: Plan, phase: Phase) -> bool:
    """Whether one before it has decided a call of the phase, on the very state that it runs."""
    assert phase.resume is not None
    calls = {decision.call for decision in phase.resume.decisions}
    return any(decision.call in calls for other in plan.phases
               if other.resume is not None and recovers(plan, phase, other)
               for decision in other.resume.decisions)


def _resumed(plan: Plan, seen: Observation, phase: Phase, run: PhaseRun) -> Found:
    assert phase.resume is not None
    restored = run.of("state_restored")
    if not restored:
        yield Unobserved("STATE_UNOBSERVED", f"{run.where}: no state was restored")
        return
    if restored[0]["error"]:
        return
    made = [(event["call"], event["approve"], event["always"], event["message"])
            for event in run.of("decision")]
    declared = [(decision.call, decision.approve, decision.always, decision.message or "")
                for decision in phase.resume.decisions]
    if made != declared and not _decided_before(plan, phase):
        yield Violation("DECISIONS_DIFFER", run.where, f"decisions were made on "
                        f"{words(call for call, *_ in made)}, declared for "
                        f"{words(call for call, *_ in declared)}")
    runs = lineage(plan, seen, run)
    for decision in phase.resume.decisions:
        answer = made_call(runs, decision.call)
        outermost = answer is not None and not answer["parent"]
        if outermost and decision.call in pending(run):
            yield Violation("DECISION_WITHOUT_EFFECT", run.where,
                            f"call {decision.call} was decided and waits for a decision again")


def _alike(plan: Plan, run: PhaseRun, other: PhaseRun) -> Found:
    """States of one pause that are resumed alike come to the same."""
    course = _course(plan, plan.phase(run.phase))
    if len(course) == 1 or course != _course(plan, plan.phase(other.phase)):
        return
    if run.outcome == other.outcome and _items(run) != _items(other):
        yield Violation("RESULT_DEPENDS_ON_WAY", other.where, f"resumed as {run.phase} was, the "
                        "result holds other items")


def _course(plan: Plan, phase: Phase) -> list[Any]:
    """The first phase of a lineage, and what was decided and said in each one resumed from it."""
    if phase.resume is None:
        return [phase.id]
    step = (phase.resume.decisions, phase.script, phase.context, phase.max_turns)
    return [*_course(plan, plan.phase(phase.resume.from_)), step]


def _items(run: PhaseRun) -> list[tuple[str, str]]:
    result = run.last("result")
    return [(str(entry.get("type")), label(entry["item"]))
            for entry in (result["new_items"] if result else ()) if "item" in entry]


CONTRACT = Contract(
    name="state_transition",
    promise="A paused state survives being stored, and each decision on it takes effect.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#long-running-approvals",
    codes={
        "STATE_CHANGED": "the restored state's JSON is not the saved state's",
        "STATE_NOT_RESTORED": "a saved state could not be restored",
        "PENDING_LOST": "a saved or restored state waits for other calls than the result did",
        "DECISIONS_DIFFER": "not exactly the declared decisions were made",
        "DECISION_WITHOUT_EFFECT": "a decided call waits for a decision again",
        "RESULT_DEPENDS_ON_WAY": "two states resumed alike gave results with other items",
        "STATE_UNOBSERVED": "a state's saving or restoring was not recorded",
    },
    applies=lambda plan, seen: any(phase.resume or phase.probe for phase in plan.phases),
    violations=_violations,
)
