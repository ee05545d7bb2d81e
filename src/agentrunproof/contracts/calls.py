"""Reading a run: the function calls of its models, and what the conversation says of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agentrunproof.contracts.reading import (
    Item,
    filters_handoff,
    handoff_tools,
    new_items,
    output_text,
)
from agentrunproof.plan.items import phase_input, session_items
from agentrunproof.plan.model import Plan, Tool
from agentrunproof.record.observation import Observation, PhaseRun


@dataclass(frozen=True)
class Call:
    """One function call of a model; `parent` is the path of agent tool calls around it."""

    id: str
    name: str
    arguments: str
    agent: str
    parent: str

    @property
    def key(self) -> tuple[str, str]:
        return self.parent, self.id


def calls(runs: Iterable[PhaseRun]) -> list[Call]:
    """The function calls that models made in these runs, in order."""
    return [Call(str(item.get("call_id")), str(item.get("name")), str(item.get("arguments")),
                 event["agent"], event["parent"])
            for run in runs for event in run.of("model_responded")
            for item in event["output"] if item.get("type") == "function_call"]


def calls_made(runs: Iterable[PhaseRun]) -> Counter[tuple[str, str]]:
    """How often the models made each call, by (parent, call id)."""
    return Counter(call.key for call in calls(runs))


def plain_calls(plan: Plan, seen: Observation, runs: Iterable[PhaseRun]) -> list[Call]:
    """Those of the calls whose id stands for nothing else in their mode, handoffs left out.

    What is said of an id that was used again may be said of the other call.
    """
    runs = tuple(runs)
    if not runs:
        return []
    used = Counter(call.id for call in calls(seen.in_mode(runs[0].mode)))
    given = {str(item.get("call_id")) for item in _given(plan)}
    return [call for call in calls(runs) if used[call.id] == 1 and call.id not in given
            and call.name not in handoff_tools(plan, call.agent)]


def _given(plan: Plan) -> Iterator[Item]:
    """Items that the plan itself feeds in."""
    yield from session_items(plan)
    for phase in plan.phases:
        if phase.input is not None:
            yield from phase_input(phase)


def offered(plan: Plan, call: Call) -> Tool | None:
    """The tool that a call names, if its agent has it and it is never disabled."""
    if call.name not in plan.tools_of(call.agent):
        return None
    tool = plan.tools[call.name]
    return tool if tool.enabled and tool.enabled_until is None else None


def rejected(runs: Iterable[PhaseRun], call: Call) -> list[str]:
    """The guardrails of its tool that rejected the call or its output, in order.

    "message: Message to send to the model instead of the tool result"
    (https://openai.github.io/openai-agents-python/ref/tool_guardrails/)
    """
    return [event["guardrail"] for run in runs for event in run.of("guardrail_checked")
            if (event["parent"], event["call"]) == call.key
            and event["behavior"] == "reject_content"]


def gives_an_object(plan: Plan, runs: Iterable[PhaseRun], call: Call) -> bool:
    """Whether an agent tool's agent, or one that it hands over to, has an output type.

    The conversation holds such an output as Python shows it.
    """
    lane = f"{call.parent}/{call.id}".lstrip("/")
    return any(plan.agents[event["agent"]].output_type is not None
               for run in runs for event in run.of("model_called")
               if event["parent"] == lane and event["agent"] in plan.agents)


def speaks_of_error(text: str) -> bool:
    """Whether a text of the SDK's own says that something failed; a digest may."""
    return "error" in text.lower() or text.startswith("sha256:")


def tells_all(plan: Plan, run: PhaseRun) -> bool:
    """Whether the run shows what became of each call: it completed, and no filter of a handoff took
    the outputs away."""
    return run.outcome == "completed" and not filters_handoff(plan, (run,))


def told(run: PhaseRun, call: Call) -> list[str]:
    """The different texts that stand in this run as the output of a call.

    They stand in what models were given and, of the outermost run, in the new items of the result
    or of the exception.
    """
    given: list[Item] = [item for event in run.of("model_called")
                         if event["parent"] == call.parent for item in event["input"]]
    if not call.parent:
        given += new_items(run.last("result") or run.last("raised")) or []
    return list(dict.fromkeys(output_text(item) for item in given
                              if item.get("type") == "function_call_output"
                              and item.get("call_id") == call.id))
