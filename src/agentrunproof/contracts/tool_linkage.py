"""A tool output never stands without its call before it, and no call goes unanswered to a model.

"ToolCallOutputItem indicates that a tool was called. The raw item is the tool response."
(https://openai.github.io/openai-agents-python/results/#new-items) The Responses API refuses an
output without its call and a call without its output, so what the Runner hands to a model must
hold them in pairs; issues where it did not: openai-agents-python#4140, #4324, #4148.

Calls that wait for a decision are unanswered until they are resolved, and no model is called
before. A run that raised may leave other calls unanswered, but in its session none of those whose
tool has ended (openai-agents-python#4125). Items that the plan itself feeds in unpaired are the
plan's affair. Where the server keeps the conversation, a model is given new items only, which are
not judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Item,
    finished_calls,
    lineage,
    new_items,
    server_keeps,
)
from agentrunproof.plan.items import phase_input, session_items
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


@dataclass(frozen=True)
class _Conversation:
    """A list of items to judge.

    Each of its calls must have its output where it is `complete`, otherwise those in `finished`.
    """

    place: str
    items: Iterable[Item]
    complete: bool
    finished: Collection[str] = ()


def _violations(plan: Plan, seen: Observation) -> Found:
    exempt = _unpaired_by_plan(plan)
    twice = _repeated_by_plan(plan)
    for run in seen.runs:
        for conversation in _conversations(plan, run, finished_calls(lineage(plan, seen, run))):
            yield from _judge(run, conversation, exempt, twice)


def _conversations(plan: Plan, run: PhaseRun, finished: Collection[str]
                   ) -> Iterator[_Conversation]:
    for n, event in enumerate(run.of("model_called")):
        if server_keeps(plan) and not event["parent"]:
            continue
        yield _Conversation(f"input of model call {n} ({event['agent']})", event["input"], True)
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
        ended = finished if run.outcome == "raised" else ()
        yield _Conversation("the session", observed[-1]["items"], complete, ended)


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
        due = conversation.complete or call in conversation.finished
        if due and not answered[call] and call not in exempt:
            yield Violation("UNANSWERED_CALL", run.where,
                            f"call {call} has no output in {conversation.place}")


def _fed_in(plan: Plan) -> list[Item]:
    """Items that the plan itself puts in: the session's first content and literal inputs."""
    return session_items(plan) + [item for phase in plan.phases if phase.input is not None
                                  for item in phase_input(phase)]


def _unpaired_by_plan(plan: Plan) -> set[str]:
    calls: dict[str, set[str]] = {"function_call": set(), "function_call_output": set()}
    for item in _fed_in(plan):
        if item.get("type") in calls:
            calls[str(item["type"])].add(str(item.get("call_id")))
    return calls["function_call"] ^ calls["function_call_output"]


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
        "call_id" in item for item in _fed_in(plan))


CONTRACT = Contract(
    name="tool_linkage",
    promise="Every tool output stands after its call, every call given to a model has one output.",
    source="https://openai.github.io/openai-agents-python/results/#new-items",
    codes={
        "ORPHAN_OUTPUT": "an output stands without its call before it",
        "UNANSWERED_CALL": "a call stands without an output where it must have one",
        "DUPLICATE_CALL": "one call stands twice in a conversation",
        "DUPLICATE_OUTPUT": "a call has more than one output in a conversation",
    },
    applies=_applies,
    violations=_violations,
)
