"""A model is asked with what its agent declares: instructions, tools and handoffs.

"instructions: The instructions for the agent. Will be used as the system prompt when this agent
is invoked. Can either be a string, or a function that dynamically generates instructions for the
agent"; "tools: A list of tools that the agent can use"; "mcp_servers: ... Every time the agent
runs, it will include tools from these servers in the list of available tools"; "handoffs: Handoffs
are sub-agents that the agent can delegate to"
(https://openai.github.io/openai-agents-python/ref/agent/). See also openai-agents-python#3942.

Of an MCP server those tools are its agent's that the filter leaves. Of several tools and handoffs
of one name only one is offered: "The default, warn, logs an actionable warning and exposes only the
current dispatch winner" (https://openai.github.io/openai-agents-python/running_agents/#run-config),
a handoff if there is any. Tools that are disabled are not offered, one that is enabled up to a gate
may be. Instructions of foreign Python are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import handoff_tools, words
from agentrunproof.plan.items import transfer_name
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        for event in run.of("model_called"):
            if event["agent"] in plan.agents:
                yield from _judge(plan, run, event)


def _judge(plan: Plan, run: PhaseRun, event: Event) -> Iterator[Violation | Unobserved]:
    name, agent = event["agent"], plan.agents[event["agent"]]
    due = agent.instructions or ""
    if event["instructions"] != due and not due.startswith("python:"):
        yield Violation("INSTRUCTIONS_DIFFER", run.where,
                        f"the model of {name} is told {event['instructions']!r}, not {due!r}")
    has = plan.tools_of(name)
    fading = {tool for tool in has if plan.tools[tool].enabled_until is not None}
    transfers = handoff_tools(plan, name)
    fading |= {handoff.tool_name or transfer_name(handoff.to) for handoff in map(
        plan.handoffs.get, agent.handoffs) if handoff is not None and handoff.enabled_until}
    for code, field, offered in (
            ("TOOLS_DIFFER", "tools", [tool for tool in has if plan.tools[tool].enabled
                                       and tool not in transfers]),
            ("HANDOFFS_DIFFER", "handoffs", list(transfers))):
        if sorted({*event[field]} - fading) != sorted({*offered} - fading) or (
                len(event[field]) > len({*event[field]})):
            yield Violation(code, run.where, f"the model of {name} is offered the {field} "
                            f"{words(event[field])}, declared are {words(offered)}")


CONTRACT = Contract(
    name="agent_request",
    promise="A model is asked with the instructions, tools and handoffs of its agent.",
    source="https://openai.github.io/openai-agents-python/ref/agent/",
    codes={
        "INSTRUCTIONS_DIFFER": "the model got other instructions than its agent's",
        "TOOLS_DIFFER": "the model was offered other tools than its agent's enabled ones",
        "HANDOFFS_DIFFER": "the model was offered other handoffs than its agent's",
    },
    applies=lambda plan, seen: any(run.of("model_called") for run in seen.runs),
    violations=_violations,
)
