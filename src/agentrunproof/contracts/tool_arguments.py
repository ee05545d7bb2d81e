"""A tool is started for the call that named it, with the arguments of that call.

"ToolContext: tool_name: The name of the tool being invoked. tool_call_id: The ID of the tool call.
tool_arguments: The raw arguments string of the tool call."
(https://openai.github.io/openai-agents-python/ref/tool_context/)

Judged for calls whose id stands for one call only. No text for arguments is an empty object.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import Call, plain_calls
from agentrunproof.contracts.reading import lineage
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun


def _started(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Event, Call]]:
    for run in seen.runs:
        made = {call.key: call for call in plain_calls(plan, seen, lineage(plan, seen, run))}
        for event in run.of("tool_started"):
            call = made.get((event["parent"], event["call"]))
            if call is not None:
                yield run, event, call


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, event, call in _started(plan, seen):
        if event["tool"] != call.name:
            yield Violation("ANOTHER_TOOL_STARTED", run.where, f"{event['tool']} was started for "
                            f"call {call.id}, which names {call.name}")
        elif event["arguments"] != (call.arguments or "{}"):
            yield Violation("ARGUMENTS_DIFFER", run.where, f"{call.name} was started for call "
                            f"{call.id} with {event['arguments']}, the model gave "
                            f"{call.arguments}")


CONTRACT = Contract(
    name="tool_arguments",
    promise="A tool is started with the arguments of the call that names it.",
    source="https://openai.github.io/openai-agents-python/ref/tool_context/",
    codes={
        "ANOTHER_TOOL_STARTED": "another tool was started than the call names",
        "ARGUMENTS_DIFFER": "a tool was started with other arguments than the model gave",
    },
    applies=lambda plan, seen: any(_started(plan, seen)),
    violations=_violations,
)
