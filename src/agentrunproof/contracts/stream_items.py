"""Events of a stream bear the name of what they tell, when it is there, under the right agent.

"RunItemStreamEvents are higher level events. They inform you when an item has been fully
generated"; "AgentUpdatedStreamEvent gives you updates when the current agent changes (e.g. as the
result of a handoff)." (https://openai.github.io/openai-agents-python/streaming/) The names are
``message_output_created``, ``handoff_requested``, ``handoff_occured``, ``tool_called``,
``tool_output``, ``reasoning_item_created`` and so on
(https://openai.github.io/openai-agents-python/ref/stream_events/; openai-agents-python#4146)

That every item and agent is announced is the promise of `stream_complete`. The output of a handoff
that was not taken is told as that of a tool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import Item, essence, handoff_tools, lineage, made_call
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_NAMES = {"message": ("message_output_created",), "reasoning": ("reasoning_item_created",),
          "web_search_call": ("tool_called",)}


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.in_mode("run_streamed"):
        runs = lineage(plan, seen, run)
        for event in _items(run):
            fitting = _fitting(plan, runs, event["item"])
            if fitting and event["name"] not in fitting:
                yield Violation("STREAM_NAME_DIFFERS", run.where, f"{essence(event['item'])[0]} "
                                f"is told as {event['name']}, not as {fitting[0]}")
        yield from _early(run)
        yield from _agents(plan, run)


def _items(run: PhaseRun) -> list[Event]:
    return [event for event in run.of("stream_event")
            if event["type"] == "item" and isinstance(event["item"], dict)]


def _fitting(plan: Plan, runs: tuple[PhaseRun, ...], item: Item) -> tuple[str, ...]:
    """The names under which an item may be told; none where that is not known."""
    kind = str(item.get("type"))
    if kind not in ("function_call", "function_call_output"):
        return _NAMES.get(kind, ())
    call = str(item.get("call_id"))
    answer = made_call(runs, call)
    if answer is None:
        return ()
    name = next(str(made.get("name")) for made in answer["output"] if made.get("call_id") == call)
    handoff = name in handoff_tools(plan, answer["agent"])
    if kind == "function_call":
        return ("handoff_requested",) if handoff else ("tool_called",)
    return ("handoff_occured", "tool_output") if handoff else ("tool_output",)


def _early(run: PhaseRun) -> Found:
    """What a model gave is announced after the raw event that says it is done, if one does."""
    coming = Counter(essence(event["item"]) for event in run.of("stream_event")
                     if event["type"] == "raw" and isinstance(event["item"], dict))
    done: set[tuple[str, ...]] = set()
    for event in run.of("stream_event"):
        if not isinstance(event["item"], dict):
            continue
        told = essence(event["item"])
        if event["type"] == "raw":
            done.add(told)
            coming[told] -= 1
        elif told not in done and coming[told]:
            yield Violation("STREAM_ITEM_EARLY", run.where,
                            f"{told[0]} was announced before it was done")


def _agents(plan: Plan, run: PhaseRun) -> Found:
    """An agent is announced before its responses are completed, if it is at all."""
    if plan.phase(run.phase).resume is not None:
        return
    answers = [event["agent"] for event in run.of("model_responded") if not event["parent"]]
    coming = [event["name"] for event in run.of("stream_event") if event["type"] == "agent"]
    current = ""
    for event in run.of("stream_event"):
        if event["type"] == "agent":
            current = coming.pop(0)
        elif event["name"] == "response.completed" and answers:
            agent = answers.pop(0)
            if agent != current and agent in coming:
                yield Violation("STREAM_AGENT_LATE", run.where, f"a response of {agent} was "
                                f"completed while {current or 'no agent'} was announced")


CONTRACT = Contract(
    name="stream_items",
    promise="A stream event has the name of its item, not before that is done, and after its "
            "agent.",
    source="https://openai.github.io/openai-agents-python/streaming/",
    codes={
        "STREAM_NAME_DIFFERS": "an item was announced under the name of another kind",
        "STREAM_ITEM_EARLY": "an item was announced before the model had finished it",
        "STREAM_AGENT_LATE": "a response was streamed before its agent was announced",
    },
    applies=lambda plan, seen: any(run.of("stream_event")
                                   for run in seen.in_mode("run_streamed")),
    violations=_violations,
)
