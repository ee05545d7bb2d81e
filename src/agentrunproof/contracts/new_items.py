"""The new items of a result are what the run made, each as what it is and of whom it came.

"new_items gives you the richest view of what happened during the run. Common item types are: ...
MessageOutputItem for assistant messages; ReasoningItem for reasoning items; ... ToolCallItem and
ToolCallOutputItem for tool calls and their results; ToolApprovalItem for tool calls that paused for
approval; ... HandoffCallItem and HandoffOutputItem for handoff requests and completed transfers"
(https://openai.github.io/openai-agents-python/results/#new-items) "RunItemBase: agent: The agent
whose run caused this item to be generated."
(https://openai.github.io/openai-agents-python/ref/items/; openai-agents-python#974)

Held against what the models answered. Outputs of calls are judged for their kind only, how many
there must be is tool_linkage's matter. A handoff's filter may take items away
(``HandoffInputData.new_items``), and then only what is left is judged. What an error handler
supplies and what was staged on a state may stand among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    essence,
    essences,
    filters_handoff,
    handoff_tools,
    is_covered,
    lineage,
    staged,
    words,
)
from agentrunproof.plan.items import fallbacks
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Said = tuple[str, ...]

_TYPES = {"message": "message_output_item", "reasoning": "reasoning_item",
          "web_search_call": "tool_call_item",
          "function_call": "tool_call_item", "function_call_output": "tool_call_output_item"}
_HANDOFF_TYPES = {"function_call": "handoff_call_item",
                  "function_call_output": "handoff_output_item"}


def _judged(seen: Observation) -> Iterator[tuple[PhaseRun, list[dict[str, Any]]]]:
    for run in seen.runs:
        result = run.last("result")
        if result is not None and run.outcome in ("completed", "interrupted"):
            yield run, [entry for entry in result["new_items"]
                        if "item" in entry and entry["type"] != "tool_approval_item"]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run, entries in _judged(seen):
        runs = lineage(plan, seen, run)
        answers = [event for other in runs for event in other.of("model_responded")
                   if not event["parent"]]
        yield from _kinds(plan, run, entries, answers)
        filtered = filters_handoff(plan, runs)
        made = [essence(item) for event in answers for item in event["output"]]
        held = essences(entry["item"] for entry in entries
                        if entry["item"].get("type") != "function_call_output")
        stood: set[Said] = {(f"assistant:{text}",) for text in fallbacks(plan)}
        stood |= {said for other in runs for said in essences(staged(other))}
        added = [said for said in Counter(held) - Counter(made) if said not in stood
                 and not (plan.run.on_invalid_output and is_covered(said[0]))]
        lost = Counter(made) - Counter(held)
        if added:
            yield Violation("ITEM_FOREIGN", run.where, f"the result holds "
                            f"{words(said[0] for said in added)}, which no model answered")
        elif lost and not filtered:
            yield Violation("ITEM_LOST", run.where, f"the result does not hold "
                            f"{words(said[0] for said in lost)}, which a model answered")
        elif not lost and [said for said in held if said in made] != made:
            yield Violation("ITEM_ORDER", run.where, "the result holds what the models answered "
                            "in another order")


def _kinds(plan: Plan, run: PhaseRun, entries: list[dict[str, Any]], answers: list[Event]
           ) -> Found:
    """Each item is of the type of what it holds, and of the agent whose answer it goes back to."""
    whose: dict[Said, set[str]] = {}
    for event in answers:
        for item in event["output"]:
            whose.setdefault(essence(item), set()).add(event["agent"])
            if "call_id" in item:
                whose.setdefault((str(item.get("call_id")),), set()).add(event["agent"])
    transfers = {id: n for event in answers for n, id in enumerate(_transfers(plan, event))}
    for entry in entries:
        item = entry["item"]
        kind = str(item.get("type"))
        place = transfers.get(item.get("call_id"))
        ignored = bool(place) and kind == "function_call_output"  # one of several is made
        due = (_TYPES if place is None or ignored else _HANDOFF_TYPES).get(kind)
        if due is not None and entry["type"] != due:
            yield Violation("ITEM_TYPE_DIFFERS", run.where, f"{essence(item)[0]} is held as "
                            f"{entry['type']}, it is a {due}")
        said = (str(item.get("call_id")),) if kind == "function_call_output" else essence(item)
        agents = whose.get(said, {entry["agent"]})
        if entry["agent"] not in agents:
            yield Violation("ITEM_AGENT_DIFFERS", run.where, f"{essence(item)[0]} is held as "
                            f"{entry['agent']}'s, it is of {words(sorted(agents))}")


def _transfers(plan: Plan, answer: Event) -> list[Any]:
    """Ids of the calls with which an answer hands over, in order."""
    return [item.get("call_id") for item in answer["output"]
            if item.get("name") in handoff_tools(plan, answer["agent"])]


CONTRACT = Contract(
    name="new_items",
    promise="The new items of a result are what the run made, as what it is and of whom it came.",
    source="https://openai.github.io/openai-agents-python/results/#new-items",
    codes={
        "ITEM_LOST": "an answer of a model is not among the new items",
        "ITEM_FOREIGN": "the new items hold something that no model answered",
        "ITEM_ORDER": "the new items hold the answers in another order",
        "ITEM_TYPE_DIFFERS": "a new item is of another type than what it holds",
        "ITEM_AGENT_DIFFERS": "a new item is called another agent's than the one it came from",
    },
    applies=lambda plan, seen: any(_judged(seen)),
    violations=_violations,
)
