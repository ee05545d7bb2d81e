"""Hooks are told which agent, which tool and which result it is about.

agents.lifecycle: on_agent_start "agent: The agent that is about to be invoked"; on_agent_end
"agent: The agent that produced the output; output: The final output produced by the agent";
on_tool_start "called immediately before a local tool is invoked"; on_tool_end "called immediately
after a local tool is invoked", with the tool and its result.
(https://openai.github.io/openai-agents-python/ref/lifecycle/)

How often and when hooks come is the promise of `hook_order`. A result that an output guardrail
replaced, a tool that timed out or failed, and a final output of a structured type are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage
from agentrunproof.plan.items import block_text
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Key = tuple[str, str]

_TOOL = ("on_tool_start", "on_tool_end")


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        calls = _calls(lineage(plan, seen, run))
        for hook in run.of("hook"):
            if hook["on"] in _TOOL and (hook["parent"], hook["call"]) in calls:
                yield from _of_tool(run, hook, *calls[hook["parent"], hook["call"]])
            elif hook["on"] == "on_agent_end" and not hook["parent"]:
                yield from _of_end(plan, run, hook)


def _calls(runs: tuple[PhaseRun, ...]) -> dict[Key, tuple[str, str]]:
    """Agent and tool by call, for calls that one answer has made."""
    found: dict[Key, tuple[str, str]] = {}
    twice: set[Key] = set()
    for run in runs:
        for answer in run.of("model_responded"):
            for item in answer["output"]:
                if item.get("type") == "function_call":
                    key = (answer["parent"], str(item.get("call_id")))
                    twice |= {key} if key in found else set()
                    found[key] = (answer["agent"], str(item.get("name")))
    return {key: made for key, made in found.items() if key not in twice}


def _of_tool(run: PhaseRun, hook: Event, agent: str, tool: str) -> Found:
    what = f"{hook['scope']} hook {hook['on']} of call {hook['call']}"
    if hook["agent"] != agent:
        yield Violation("HOOK_AGENT_DIFFERS", run.where,
                        f"{what} is told {hook['agent']}, {agent} made the call")
    if hook["tool"] != tool:
        yield Violation("HOOK_TOOL_DIFFERS", run.where,
                        f"{what} is told the tool {hook['tool']}, {tool} was called")
    if hook["on"] == "on_tool_end":
        gave = _gave(run, hook)
        if gave is not None and block_text(hook["output"]) != block_text(gave):
            yield Violation("HOOK_RESULT_DIFFERS", run.where,
                            f"{what} is told {hook['output']!r}, the tool gave {gave!r}")


def _gave(run: PhaseRun, hook: Event) -> str | None:
    """What the tool of a call gave, once, with nothing to replace it."""
    key = (hook["parent"], hook["call"])
    gave = [event["output"] for event in run.of("tool_finished")
            if (event["parent"], event["call"]) == key]
    replaced = any((check["parent"], check["call"]) == key and check["behavior"] != "allow"
                   for check in run.of("guardrail_checked") if check["stage"] == "tool_output")
    return gave[0] if len(gave) == 1 and not replaced else None


def _of_end(plan: Plan, run: PhaseRun, hook: Event) -> Found:
    result = run.last("result")
    if result is None or run.outcome != "completed" or hook["agent"] != result["last_agent"]:
        return
    agent = plan.agents.get(hook["agent"])
    if agent is not None and agent.output_type is None and (
            hook["output"] != result["final_output"]):
        yield Violation("HOOK_RESULT_DIFFERS", run.where, f"{hook['scope']} hook on_agent_end is "
                        f"told {hook['output']!r}, the final output is {result['final_output']!r}")


CONTRACT = Contract(
    name="hook_subject",
    promise="A hook is told the agent, tool and result that it is about.",
    source="https://openai.github.io/openai-agents-python/ref/lifecycle/",
    codes={
        "HOOK_AGENT_DIFFERS": "a tool's hook is told another agent than the one that called it",
        "HOOK_TOOL_DIFFERS": "a tool's hook is told another tool than the one called",
        "HOOK_RESULT_DIFFERS": "a hook is told another result than what the tool or agent gave",
    },
    applies=lambda plan, seen: any(hook["on"] in (*_TOOL, "on_agent_end") for run in seen.runs
                                   for hook in run.of("hook")),
    violations=_violations,
)
