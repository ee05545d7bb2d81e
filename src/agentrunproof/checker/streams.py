"""Step 9, streams: what a consumer was given is what the scripted model has sent.

Our model sends, for each answer, the events of `agentrunproof.sdk.wire.stream`; the checker
derives the same events from the answers, so a raw event that no answer explains was never sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentrunproof.checker.judgement import reject
from agentrunproof.plan.items import script_items
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import PhaseRun

Item = dict[str, Any]
Sent = tuple[str, int, str, "Item | None"]  # name, how often in a row, text of deltas, item

_PIECE = 12  # characters of a delta, as in sdk.wire

#: Kinds of items that each run item event may bring.
_BRINGS = {
    "message_output_created": ("message",), "tool_called": ("function_call", "web_search_call"),
    "tool_output": ("function_call_output",), "handoff_requested": ("function_call",),
    "handoff_occured": ("function_call_output",), "reasoning_item_created": ("reasoning",),
}


def check(plan: Plan, run: PhaseRun, *, certified: bool, private: bool) -> None:
    """Refuse stream events that the model's answers do not explain.

    In a private record a text does not tell its length, so deltas are not counted.
    """
    events = run.of("stream_event")
    for event in events:
        _check_event(plan, run, event, certified)
    raw = [event for event in events if event["type"] == "raw"]
    position = 0
    for items, complete in _answers(plan, run):
        sent = list(_sent(items, complete))
        position = _follow(raw, position, sent, private)
    if position < len(raw):
        reject("STREAM_DIFFERS", f"{run.where}: the stream brings {raw[position]['name']}, which "
               "no model has sent there")


def _check_event(plan: Plan, run: PhaseRun, event: Event, certified: bool) -> None:
    kind, item = event["type"], event["item"]
    if kind != "raw" and (event["count"] != 1 or event["text"]):
        reject("STREAM_DIFFERS", f"{run.where}: only raw events have deltas")
    if kind == "agent" and (event["name"] not in plan.agents or item is not None):
        reject("STREAM_DIFFERS", f"{run.where}: the stream goes to no agent {event['name']}")
    if kind == "item" and certified and (
            item is None or item.get("type", "message") not in _BRINGS.get(event["name"], ())):
        reject("STREAM_DIFFERS", f"{run.where}: {event['name']} brings something else")


def _answers(plan: Plan, run: PhaseRun) -> Iterator[tuple[list[Item], bool]]:
    """Items of each answer of the outermost run, and whether it was sent to its end."""
    phase = plan.phase(run.phase)
    waiting: dict[str, int] = {}
    taken: dict[str, int] = {}
    calls: list[tuple[str, int, bool]] = []
    for event in run.of("model_called", "model_responded", "model_failed"):
        agent = event["agent"]
        if event["kind"] == "model_called":
            turn = taken.get(agent, 0)
            taken[agent] = turn + 1
            if not event["parent"]:
                waiting[agent] = len(calls)
                calls.append((agent, turn, False))
        elif event["kind"] == "model_responded" and not event["parent"] and agent in waiting:
            number = waiting.pop(agent)
            calls[number] = (*calls[number][:2], True)
    for agent, turn, complete in calls:
        if turn < len(phase.script.get(agent, ())):
            yield script_items(plan, phase, agent, turn), complete


def _sent(items: list[Item], complete: bool) -> Iterator[Sent]:
    yield "response.created", 1, "", None
    for item in items:
        yield "response.output_item.added", 1, "", None
        if item["type"] == "function_call":
            yield from _deltas("response.function_call_arguments.delta", item["arguments"])
            yield "response.function_call_arguments.done", 1, "", None
        elif item["type"] == "message":
            yield from _message(item)
        yield "response.output_item.done", 1, "", item
    if complete:
        yield "response.completed", 1, "", None


def _message(item: Item) -> Iterator[Sent]:
    for part in item["content"]:
        yield "response.content_part.added", 1, "", None
        if part["type"] == "refusal":
            yield from _deltas("response.refusal.delta", part["refusal"])
        else:
            yield from _deltas("response.output_text.delta", part["text"])
            yield "response.output_text.done", 1, "", None
        yield "response.content_part.done", 1, "", None


def _deltas(name: str, text: str) -> Iterator[Sent]:
    if text:
        yield name, -(-len(text) // _PIECE), text, None


def _follow(raw: list[Event], position: int, sent: list[Sent], private: bool) -> int:
    """How far the consumer follows one answer; it may stop anywhere, but leaves nothing out."""
    for name, count, text, item in sent:
        if position == len(raw):
            break
        event = raw[position]
        named = event["name"] == name and bool(event["text"]) == bool(text)
        whole = named and event["text"] == text and (event["count"] == count or private)
        begun = named and not whole and (private or (
            0 < event["count"] < count and event["text"] == text[:event["count"] * _PIECE]))
        if not whole and not begun:
            break
        if (event["item"] is None) != (item is None) or (
                item is not None and event["item"]["type"] != item["type"]):
            break
        position += 1
        if begun:
            break
    return position
