"""A stream delivers everything that happens, once and in order.

"RawResponsesStreamEvent objects wrap raw events passed directly from the LLM"; RunItemStreamEvents
"inform you when an item has been fully generated"; "AgentUpdatedStreamEvent gives you updates when
the current agent changes (e.g. as the result of a handoff)."
(https://openai.github.io/openai-agents-python/streaming/) "Once the stream is done, the
RunResultStreaming will contain the complete information about the run, including all the new
outputs produced." (https://openai.github.io/openai-agents-python/running_agents/#streaming) See
also openai-agents-python#1703, #2458, #4146.

Events of nested agent runs are not part of the outer stream. A run that raises still delivers
what came before, all of it where it ran out of turns; a cancelled stream may end anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    CUT_SHORT,
    essence,
    new_items,
    out_of_turns,
    races,
    words,
)
from agentrunproof.plan.items import item_text
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_ARGUMENTS = "response.function_call_arguments.delta"
_TEXTS = ("response.output_text.delta", "response.refusal.delta")
#: What a run does about an answer, or after it.
_ACTS = ("tool_started", "handoff", "guardrail_checked", "model_called")


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.in_mode("run_streamed"):
        events = run.of("stream_event")
        reader = plan.phase(run.phase).reader
        if run.outcome in CUT_SHORT or races(plan, run) or (reader and not reader.events):
            continue
        if not events and not out_of_turns(plan, run):
            if run.outcome == "completed":
                yield Unobserved("STREAM_UNOBSERVED", f"{run.where}: no stream event")
            continue
        yield from _raw(run, events)
        yield from _items(plan, run, events)
        yield from _agents(plan, run, events)


def _raw(run: PhaseRun, events: list[Event]) -> Found:
    """Deltas add up to the texts and arguments of the answers; each answer is completed once."""
    answers = [event for event in run.of("model_responded") if not event["parent"]]
    items = [item for answer in answers for item in answer["output"]]
    failed = any(not event["parent"] for event in run.of("model_failed"))
    for what, due, names in (
            ("text", "".join(item_text(item) for item in items if item.get("type") == "message"),
             _TEXTS),
            ("arguments", "".join(str(item.get("arguments")) for item in items
                                  if item.get("type") == "function_call"), (_ARGUMENTS,))):
        given = "".join(event["text"] for event in events if event["name"] in names)
        if given != due and not (failed and given.startswith(due)):
            yield Violation("STREAM_DELTAS_DIFFER", run.where, f"the {what} deltas add up to "
                            f"{given!r}, the model gave {due!r}")
    completed = sum(event["count"] for event in events if event["name"] == "response.completed")
    if completed != len(answers):
        yield Violation("STREAM_RESPONSES_DIFFER", run.where, f"{completed} responses were "
                        f"completed in the stream, the model gave {len(answers)}")


def _items(plan: Plan, run: PhaseRun, events: list[Event]) -> Found:
    """Each new item of this run is announced once; an output not before its call."""
    announced = [essence(event["item"]) for event in events
                 if event["type"] == "item" and isinstance(event["item"], dict)]
    made = new_items(run.last("result"))
    if made is None:
        made = new_items(run.last("raised")) or []
    due = Counter(essence(item) for item in made) | Counter(
        essence(item) for event in run.of("model_responded") if not event["parent"]
        for item in event["output"] if item.get("type") != "function_call")
    for said, count in Counter(announced).items():
        if count > max(due[said], 1):
            yield Violation("STREAM_ITEM_REPEATED", run.where, f"{said[0]} was announced {count} "
                            f"times")
    # between two turns, when all of the last one had happened
    whole = run.outcome in ("completed", "interrupted") or out_of_turns(plan, run)
    lost = Counter(_made_here(run, made) if whole else _acted_on(run)) - Counter(announced)
    if lost:
        yield Violation("STREAM_ITEM_MISSING", run.where,
                        f"{words(said[0] for said in lost)} was never announced")
    if whole:
        yield from _outputs(run, {said[0] for said in announced})
    calls: set[str] = set()
    for event in events:
        item = event["item"] if event["type"] == "item" else None
        if item is None:
            continue
        call = str(item.get("call_id"))
        calls |= {call} if item.get("type") == "function_call" else set()
        late = item.get("type") == "function_call_output" and call not in calls
        if late and plan.phase(run.phase).resume is None:
            yield Violation("STREAM_ORDER", run.where,
                            f"the output of {call} was announced before its call")


def _outputs(run: PhaseRun, announced: set[str]) -> Found:
    """What a tool gave is announced, even if a handoff's filter then takes it from the new items.

    "In streaming mode, we will not stream anything as a result of this function. The items
    generated before will already have been streamed." (agents.handoffs.Handoff.input_filter)
    """
    filtered = run.of("handoff") and run.last("result") is not None
    for event in run.of("tool_finished") if filtered else ():
        if not event["parent"] and f"output:{event['call']}" not in announced:
            yield Violation("STREAM_ITEM_MISSING", run.where,
                            f"output:{event['call']} was never announced")


def _acted_on(run: PhaseRun) -> list[tuple[str, ...]]:
    """What the model said before the run did something about it, and then raised."""
    said: dict[tuple[str, ...], None] = {}
    answer: dict[tuple[str, ...], None] = {}
    for event in run.of("model_responded", *_ACTS):
        if event["parent"]:
            continue
        if event["kind"] == "model_responded":
            answer = dict.fromkeys(essence(item) for item in event["output"])
        elif event.get("stage") != "input":
            said |= answer
    return list(said)


def _made_here(run: PhaseRun, made: list[dict[str, object]]) -> list[tuple[str, ...]]:
    """New items that this run itself brought forth, not the paused ones it continues.

    A call id that the model uses again is one call.
    """
    answered = [essence(item) for event in run.of("model_responded") if not event["parent"]
                for item in event["output"]]
    outputs = [essence(item) for item in made if item.get("type") == "function_call_output"
               and any(said[0] == f"call:{item.get('call_id')}" for said in answered)]
    calls = dict.fromkeys(said for said in answered if said[0].startswith("call:"))
    others = [said for said in answered if said not in calls]
    return [*others, *calls, *dict.fromkeys(outputs)]


def _agents(plan: Plan, run: PhaseRun, events: list[Event]) -> Found:
    """The first agent is announced before anything else, each further one as it takes over."""
    announced = [event["name"] for event in events if event["type"] == "agent"]
    started = run.last("run_started")
    if started is None or plan.phase(run.phase).resume is not None:
        return
    taken = [event["agent"] for event in run.of("model_called") if not event["parent"]]
    due = [started["agent"]]
    moves = [event for event in run.of("model_called", "handoff") if not event["parent"]]
    if moves and moves[-1]["kind"] == "handoff":
        taken.append(moves[-1]["to"])  # who took over when turns ran out was never asked
    due.extend(agent for before, agent in pairwise(taken) if agent != before)
    if announced != due and run.outcome != "raised":
        yield Violation("STREAM_AGENTS_DIFFER", run.where, f"the stream announced "
                        f"{words(announced)}, {words(due)} ran")
    elif events and events[0]["type"] != "agent":
        yield Violation("STREAM_ORDER", run.where, "something came before the first agent")


CONTRACT = Contract(
    name="stream_complete",
    promise="A stream delivers every delta, item and change of agent, once and in order.",
    source="https://openai.github.io/openai-agents-python/streaming/",
    codes={
        "STREAM_DELTAS_DIFFER": "the deltas do not add up to what the model gave",
        "STREAM_RESPONSES_DIFFER": "not one completed response event per model response",
        "STREAM_ITEM_MISSING": "an item of the run was never announced",
        "STREAM_ITEM_REPEATED": "an item was announced more than once",
        "STREAM_AGENTS_DIFFER": "not each agent that ran was announced, in order",
        "STREAM_ORDER": "an output came before its call, or something before the first agent",
        "STREAM_UNOBSERVED": "nothing of the stream was recorded",
    },
    applies=lambda plan, seen: "run_streamed" in seen.modes,
    violations=_violations,
)
