"""What stands in the conversation as the output of a call is what its tool gave.

"ToolCallItem and ToolCallOutputItem for tool calls and their results"
(https://openai.github.io/openai-agents-python/results/#new-items). Where a guardrail of the tool
rejects, "message: Message to send to the model instead of the tool result" (agents.tool_guardrails,
https://openai.github.io/openai-agents-python/ref/tool_guardrails/).

Read in the inputs of the models and in the new items. A call that more than one guardrail rejected
is not judged, nor one whose id the conversation uses again, nor what an agent tool gives as an
object: `agent_tool` says of its text no more either.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import Call, gives_an_object, plain_calls, rejected, told
from agentrunproof.contracts.reading import lineage
from agentrunproof.plan.items import block_text
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Due = tuple[PhaseRun, Call, str, str]


def _due(plan: Plan, seen: Observation) -> Iterator[Due]:
    """Each call that is answered in a run: its code, and the text that must stand there."""
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        for call in plain_calls(plan, seen, runs):
            if gives_an_object(plan, runs, call):
                continue
            messages = [plan.tool_guardrails[name].message for name in rejected(runs, call)
                        if name in plan.tool_guardrails]
            given = [event["output"] for other in runs for event in other.of("tool_finished")
                     if (event["parent"], event["call"]) == call.key]
            if len(messages) == 1:
                yield run, call, "REJECTION_DIFFERS", messages[0]
            elif not messages and len(given) == 1:
                yield run, call, "OUTPUT_DIFFERS", given[0]


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, call, code, due in _due(plan, seen):
        for text in told(run, call):
            if text != block_text(due):
                yield Violation(code, run.where, f"the output of {call.id} stands there as "
                                f"{text!r}, due is {due!r}")


CONTRACT = Contract(
    name="tool_output",
    promise="The output of a call is what its tool gave, or the message of its guardrail.",
    source="https://openai.github.io/openai-agents-python/results/#new-items",
    codes={
        "OUTPUT_DIFFERS": "the conversation holds another output than the tool gave",
        "REJECTION_DIFFERS": "a guardrail rejected, and another text than its message is told",
    },
    applies=lambda plan, seen: any(told(run, call) for run, call, *_ in _due(plan, seen)),
    violations=_violations,
)
