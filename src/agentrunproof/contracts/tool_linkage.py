"""A tool output never stands without its call before it, and no call goes unanswered to a model.

"ToolCallItem and ToolCallOutputItem for tool calls and their results"
(https://openai.github.io/openai-agents-python/results/#new-items). The Responses API refuses an
output without its call and a call without its output, so what the Runner hands to a model must hold
them in pairs; issues where it did not: openai-agents-python#4140, #4324, #4148.

Calls that wait for a decision are unanswered until they are resolved, and no model is called
before, but for one of another run in its session. A run that raised may leave other calls
unanswered, also in the session of a later run, but in its session none of those whose tool has
ended (openai-agents-python#4125). Nor does a model take reasoning without what it led to: "Item
'rs_...' of type 'reasoning' was provided without its required following item"
(https://openai.github.io/openai-agents-python/running_agents/#run-config). Items that the plan
itself feeds in unpaired, or scripts without a sequel, are the plan's affair, as are calls that its
session callback leaves out, and those that it resumes in several states. Where the server keeps the
conversation, a model is given new items only, which are not judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import calls_made
from agentrunproof.contracts.reading import (
    CUT_SHORT,
    Item,
    finished_calls,
    lineage,
    new_items,
    pending,
    recovers,
    server_keeps,
    so_far,
)
from agentrunproof.plan.items import kept, label, phase_input, script_items, session_items
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


@dataclass(frozen=True)
class _Conversation:
    """A list of items to judge.

    Each of its calls must have its output where it is `complete`, but those in `open`; otherwise
    those in `finished`. What a model is `given` holds no reasoning without its sequel.
    """

    place: str
    items: Iterable[Item]
    complete: bool
    finished: Collection[str] = ()
    open: Collection[str] = ()
    given: bool = False


def _violations(plan: Plan, seen: Observation) -> Found:
    unpaired = _unpaired_by_plan(plan)
    twice = _repeated_by_plan(plan)
    alone = _without_sequel_in_plan(plan)
    for run in seen.runs:
        again = _resumed_again(plan, seen, run)
        exempt = unpaired | _cut_by_plan(plan, run)
        for conversation in _conversations(plan, seen, run):
            yield from _judge(run, conversation, exempt, twice | again)
            if conversation.given:
                for text in _without_sequel(conversation.items):
                    if text not in alone:
                        yield Violation("DANGLING_REASONING", run.where, f"{text!r} stands without "
                                        f"what it led to in {conversation.place}")


def _conversations(plan: Plan, seen: Observation, run: PhaseRun) -> Iterator[_Conversation]:
    for n, event in enumerate(run.of("model_called")):
        if server_keeps(plan) and not event["parent"]:
            continue
        yield _Conversation(f"input of model call {n} ({event['agent']})", event["input"], True,
                            given=True)
    complete = run.outcome == "completed"
    result = run.last("result")
    if result is not None:
        yield _Conversation("the new items", new_items(result) or (), complete)
        yield _Conversation("the history", result["history"], complete)
    raised = new_items(run.last("raised"))
    if raised is not None:
        yield _Conversation("the exception's run data", raised, False)
    observed = [event for event in run.of("session_read") if event["op"] == "observe"]
    if observed:
        kept = run.outcome == "raised" and not run.of("session_failed")
        ended = finished_calls(lineage(plan, seen, run)) if kept else ()
        yield _Conversation("the session", observed[-1]["items"], complete, ended,
                            _left_open(plan, seen, run))


def _left_open(plan: Plan, seen: Observation, run: PhaseRun) -> set[str]:
    """Calls that an earlier run left without an output when it ended before its time or paused."""
    found: set[str] = set()
    until = so_far(seen, run)
    continued = {part.phase for other in until if other.outcome == "completed"
                 for part in lineage(plan, seen, other)}
    for other in until[:-1]:
        if other.outcome == "interrupted" and other.phase not in continued:
            found |= set(pending(other))
        elif other.outcome == "raised" or other.outcome in CUT_SHORT:
            runs = lineage(plan, seen, other)
            stored = () if other.of("session_failed") else finished_calls(runs)
            found |= {call for _, call in calls_made(runs)}.difference(stored)
    return found


def _resumed_again(plan: Plan, seen: Observation, run: PhaseRun) -> set[str]:
    """Calls of a phase that paused and which several states go on from: each may answer them."""
    several = {a.resume.from_ for a, b in combinations(plan.phases, 2)
               if a.resume and b.resume and a.resume.from_ == b.resume.from_
               and not recovers(plan, b, a)}
    return {call for other in seen.in_mode(run.mode) if other.phase in several
            for _, call in calls_made(lineage(plan, seen, other))}


def _cut_by_plan(plan: Plan, run: PhaseRun) -> set[str]:
    """Calls whose output the callback lets through of the session's history, and them not."""
    spec = plan.run.session_input
    read = [event["items"] for event in run.of("session_read") if event["op"] == "get"]
    if spec is None or not read:
        return set()
    let = kept(spec, read[0])
    return _ids(let, "function_call_output") - _ids(let, "function_call")


def _ids(items: Iterable[Item], kind: str) -> set[str]:
    """Ids of the calls that items of a type belong to."""
    return {str(item.get("call_id")) for item in items if item.get("type") == kind}


def _without_sequel(items: Iterable[Item]) -> Iterator[str]:
    """Labels of reasoning after which comes nothing that a model made."""
    open_: list[str] = []
    for item in items:
        if item.get("type") == "reasoning":
            open_.append(label(item))
            continue
        if item.get("type") == "function_call_output" or item.get("role") not in (
                None, "assistant"):
            yield from open_
        open_ = []
    yield from open_


def _without_sequel_in_plan(plan: Plan) -> set[str]:
    """Labels of reasoning that inputs, or turns of a script, leave without a sequel."""
    return {text for items in _written(plan) for text in _without_sequel(items)}


def _written(plan: Plan) -> Iterator[list[Item]]:
    """What the plan itself writes: the session's first content, inputs, turns of scripts."""
    yield session_items(plan)
    for phase in plan.phases:
        if phase.input is not None:
            yield phase_input(phase)
        for agent, steps in phase.script.items():
            for step in range(len(steps)):
                yield script_items(plan, phase, agent, step)


def _judge(run: PhaseRun, conversation: _Conversation, exempt: set[str],
           twice: set[str]) -> Found:
    called: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    for item in conversation.items:
        call = str(item.get("call_id"))
        if item.get("type") == "function_call":
            called[call] += 1
            if called[call] > 1 and call not in twice:
                yield Violation("DUPLICATE_CALL", run.where,
                                f"call {call} stands twice in {conversation.place}")
        elif item.get("type") == "function_call_output":
            answered[call] += 1
            if not called[call] and call not in exempt:
                yield Violation("ORPHAN_OUTPUT", run.where, f"the output of {call} stands "
                                f"without its call before it in {conversation.place}")
            elif answered[call] > 1 and call not in twice:
                yield Violation("DUPLICATE_OUTPUT", run.where,
                                f"call {call} has two outputs in {conversation.place}")
    for call in called:
        due = (conversation.complete and call not in conversation.open
               ) or call in conversation.finished
        if due and not answered[call] and call not in exempt:
            yield Violation("UNANSWERED_CALL", run.where,
                            f"call {call} has no output in {conversation.place}")


def _fed_in(plan: Plan) -> list[Item]:
    """Items that the plan itself puts in: the session's first content and literal inputs."""
    return session_items(plan) + [item for phase in plan.phases if phase.input is not None
                                  for item in phase_input(phase)]


def _unpaired_by_plan(plan: Plan) -> set[str]:
    fed = _fed_in(plan)
    return _ids(fed, "function_call") ^ _ids(fed, "function_call_output")


def _repeated_by_plan(plan: Plan) -> set[str]:
    """Call ids that scripts and inputs use more than once."""
    used: Counter[str] = Counter()
    for phase in plan.phases:
        for steps in phase.script.values():
            used.update(item.id for step in steps for item in step.output
                        if item.id is not None and (item.call or item.handoff))
    used.update(str(item["call_id"]) for item in _fed_in(plan)
                if item.get("type") == "function_call")
    return {call for call, count in used.items() if count > 1}


def _applies(plan: Plan, seen: Observation) -> bool:
    return bool(plan.tools) or any(agent.handoffs for agent in plan.agents.values()) or any(
        "call_id" in item or item.get("type") == "reasoning"
        for items in _written(plan) for item in items)


CONTRACT = Contract(
    name="tool_linkage",
    promise="Every tool output stands after its call, every call given to a model has one output.",
    source="https://openai.github.io/openai-agents-python/results/#new-items",
    codes={
        "ORPHAN_OUTPUT": "an output stands without its call before it",
        "UNANSWERED_CALL": "a call stands without an output where it must have one",
        "DUPLICATE_CALL": "one call stands twice in a conversation",
        "DUPLICATE_OUTPUT": "a call has more than one output in a conversation",
        "DANGLING_REASONING": "a model was given reasoning without what it led to",
    },
    applies=_applies,
    violations=_violations,
)
