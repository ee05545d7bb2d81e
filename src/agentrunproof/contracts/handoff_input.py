"""The callback of a handoff is given what the model's arguments say.

"input_type: The schema for the handoff tool-call arguments. When set, the parsed payload is passed
to on_handoff." "The SDK exposes that schema to the model as the handoff tool's parameters,
validates the returned JSON locally, and passes the parsed value to on_handoff."
(https://openai.github.io/openai-agents-python/handoffs/#handoff-inputs)

Compared are the declared fields; a whole number may have become a float. Where an agent calls one
transfer more than once in a run, the callback may be given the arguments of any. That arguments of
another type are refused is the promise of handoff_history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import handoff_tools, handoffs_of, lineage
from agentrunproof.plan.model import OutputType, Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun


def _typed(plan: Plan, run: PhaseRun) -> Iterator[tuple[Event, OutputType]]:
    """Handoffs whose callback is due an input, with its type."""
    for event in run.of("handoff"):
        for name in handoffs_of(plan, event["from"]):
            handoff = plan.handoffs.get(name)
            if handoff is not None and handoff.to == event["to"] and handoff.input_type:
                yield event, plan.types[handoff.input_type]


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        for event, declared in _typed(plan, run):
            said = [_fields(text, declared) for text in _arguments(plan, seen, run, event)]
            if not event["payload"]:
                yield Violation("HANDOFF_INPUT_LOST", run.where, "the callback of the handoff to "
                                f"{event['to']} is given nothing")
            elif said and _fields(event["payload"], declared) not in said:
                yield Violation("HANDOFF_INPUT_DIFFERS", run.where, "the callback of the handoff "
                                f"to {event['to']} is given {event['payload']}, which no model "
                                "said")


def _arguments(plan: Plan, seen: Observation, run: PhaseRun, event: Event) -> list[str]:
    """Arguments with which the agent has called the transfer function."""
    tools = handoff_tools(plan, event["from"])
    return [str(item.get("arguments")) for other in lineage(plan, seen, run)
            for answer in other.of("model_responded")
            if (answer["agent"], answer["parent"]) == (event["from"], event["parent"])
            for item in answer["output"] if tools.get(str(item.get("name"))) == event["to"]]


def _fields(text: str, declared: OutputType) -> Any:
    try:
        given = json.loads(text)
    except ValueError:
        return text
    if not isinstance(given, dict):
        return given
    return {name: given[name] for name in declared.fields if name in given}


CONTRACT = Contract(
    name="handoff_input",
    promise="The callback of a typed handoff is given what the model's arguments say.",
    source="https://openai.github.io/openai-agents-python/handoffs/#handoff-inputs",
    codes={
        "HANDOFF_INPUT_LOST": "the callback of a typed handoff was given nothing",
        "HANDOFF_INPUT_DIFFERS": "the callback of a typed handoff was given something else",
    },
    applies=lambda plan, seen: any(True for run in seen.runs for _ in _typed(plan, run)),
    violations=_violations,
)
