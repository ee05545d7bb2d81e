"""A model must use the tool that was chosen for it until it has, and then may choose.

"You can force tool use by setting ModelSettings.tool_choice"; "To prevent infinite loops, the
framework automatically resets tool_choice to "auto" after a tool call. This behavior is
configurable via agent.reset_tool_choice."
(https://openai.github.io/openai-agents-python/agents/#forcing-tool-use) "reset_tool_choice: Whether
to reset the tool choice to the default value after a tool has been called. Defaults to True. This
ensures that the agent doesn't enter an infinite loop of tool usage."
(https://openai.github.io/openai-agents-python/ref/agent/)

Judged in the outermost run for agents that have such a choice, their own or the run's. It is reset
for the agent that called a tool, or had one run by its provider. Whether a handoff, or a call of
what is none of its tools, counts as one is not said, and a resumed run may have forgotten what it
called before its pause: such agents are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun


def _choices(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Event, str, bool]]:
    """Model calls with the choice declared for them, and whether their agent has called a tool."""
    for run in seen.runs:
        if plan.phase(run.phase).resume is not None:
            continue
        used: set[str] = set()
        unclear: set[str] = set()
        for event in run.of("model_called", "model_responded"):
            agent = plan.agents.get(event["agent"])
            if agent is None or event["parent"]:
                continue
            if event["kind"] == "model_responded":
                tools = [name for name in plan.tools_of(event["agent"])
                         if plan.tools[name].enabled]
                for item in event["output"]:
                    if item.get("name") in tools or item.get("type") == "web_search_call":
                        used.add(event["agent"])
                    elif item.get("type") == "function_call":
                        unclear.add(event["agent"])
                continue
            choice = plan.run.model_settings.tool_choice or agent.model_settings.tool_choice
            if choice is not None and event["agent"] not in unclear - used:
                yield run, event, choice, event["agent"] in used


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, event, choice, used in _choices(plan, seen):
        name, given = event["agent"], event["settings"].get("tool_choice")
        if used and plan.agents[name].reset_tool_choice:
            if given not in (None, "auto"):
                yield Violation("TOOL_CHOICE_KEPT", run.where, f"{name} has called a tool, and is "
                                f"asked again with the tool choice {given}")
        elif given != choice:
            yield Violation("TOOL_CHOICE_LOST", run.where, f"{name} is asked with the tool choice "
                            f"{given}, declared is {choice}")


CONTRACT = Contract(
    name="tool_choice",
    promise="A declared tool choice is given to the model, until the agent has called a tool.",
    source="https://openai.github.io/openai-agents-python/agents/#forcing-tool-use",
    codes={
        "TOOL_CHOICE_LOST": "a model was asked without the declared tool choice",
        "TOOL_CHOICE_KEPT": "a tool choice was not reset after a tool call",
    },
    applies=lambda plan, seen: any(_choices(plan, seen)),
    violations=_violations,
)
