"""Each call the Runner should execute is executed once, and no other.

"If the LLM produces tool calls, we run those tool calls, append the results, and re-run the
loop." (https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop) "If the
approval rule requires approval and no decision for that tool call is stored, execution pauses";
"per-call approvals are scoped to the specific call ID"; "the resumed run continues where it left
off". (https://openai.github.io/openai-agents-python/human_in_the_loop/) Arguments that are no JSON
object are none of a function's, so such a call is refused (openai-agents-python#3166); and so is
the call of a tool that was disabled by then (#3118): "Disabled tools are completely hidden from the
LLM at runtime" (https://openai.github.io/openai-agents-python/tools/).

A lineage is a run with the paused runs it continues. A nested agent run is entered again when it
is resumed; its own tools still count once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import calls_made
from agentrunproof.contracts.reading import (
    Item,
    decided,
    handoff_tools,
    lineage,
)
from agentrunproof.plan.model import Plan, Tool
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict,
    "string[]": list, "integer[]": list}


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        yield from _too_often(plan, run, runs)
        yield from _unapproved(plan, run, runs)
        yield from _senseless(plan, run)
        yield from _disabled(plan, run)
        if run.outcome == "completed":
            yield from _missing(plan, run, runs)


def _too_often(plan: Plan, run: PhaseRun, runs: tuple[PhaseRun, ...]) -> Found:
    made = calls_made(runs)
    for key, (tool, count) in _started(run).items():
        earlier = 0 if _is_agent(plan, tool) else sum(
            _started(other).get(key, ("", 0))[1] for other in runs[:-1])
        if count + earlier > max(made[key], 1):
            yield Violation("DUPLICATE_EXECUTION", run.where, f"{tool} was started "
                            f"{count + earlier} times for call {key[1]}")


def _unapproved(plan: Plan, run: PhaseRun, runs: tuple[PhaseRun, ...]) -> Found:
    for event in run.of("tool_started"):
        tool = plan.tools.get(event["tool"])
        if tool is None or not tool.needs_approval:
            continue
        decision = decided(plan, runs, event["call"], event["tool"])
        if not decision:
            state = "no decision was made" if decision is None else "it was rejected"
            yield Violation("UNAPPROVED_EXECUTION", run.where,
                            f"{event['tool']} was started for call {event['call']}: {state}")


def _senseless(plan: Plan, run: PhaseRun) -> Found:
    for event in run.of("tool_started"):
        tool = plan.tools.get(event["tool"])
        if tool is not None and tool.agent is None and tool.python is None and (
                _object(event["arguments"]) is None):
            yield Violation("SENSELESS_EXECUTION", run.where, f"{event['tool']} was started for "
                            f"call {event['call']} with the arguments {event['arguments']}")


def _disabled(plan: Plan, run: PhaseRun) -> Found:
    """A tool is disabled at the latest when the answer is there whose turn opens its gate."""
    opened: set[str | None] = set()
    turn: Counter[str] = Counter()
    for event in run.of("model_called", "tool_started"):
        if event["kind"] == "model_called":
            steps = plan.phase(run.phase).script.get(event["agent"], ())[turn[event["agent"]]:]
            turn[event["agent"]] += 1
            opened |= {step.opens for step in steps[:1]}
            continue
        tool = plan.tools.get(event["tool"])
        if tool is not None and tool.enabled_until is not None and tool.enabled_until in opened:
            yield Violation("DISABLED_EXECUTION", run.where, f"{event['tool']} was started for "
                            f"call {event['call']} after it had been disabled")


def _missing(plan: Plan, run: PhaseRun, runs: tuple[PhaseRun, ...]) -> Found:
    started = {key for other in runs for key in _started(other)}
    stopped = {(event["parent"], event["call"]) for other in runs
               for event in other.of("guardrail_checked")
               if event["stage"] == "tool_input" and event["behavior"] not in ("", "allow")}
    for other in runs:
        for event in other.of("model_responded"):
            for item in () if _fails_within(plan, other, event) else event["output"]:
                key = (event["parent"], str(item.get("call_id")))
                if key in started or key in stopped or not _due(plan, event["agent"], item):
                    continue
                name = item["name"]
                if plan.tools[name].needs_approval and decided(
                        plan, runs, key[1], name) is not True:
                    continue
                yield Violation("MISSING_EXECUTION", run.where,
                                f"{name} was never started for call {key[1]}")


def _fails_within(plan: Plan, run: PhaseRun, answer: Event) -> bool:
    """Whether the run of an agent tool may end with this answer by an exception.

    Whoever asked is told of it, and the run around it completes.
    """
    if not answer["parent"]:
        return False
    agent = answer["agent"]
    known = {*handoff_tools(plan, agent),
             *(name for name in plan.tools_of(agent) if plan.tools[name].enabled)}
    unknown = any(item.get("type") == "function_call" and item.get("name") not in known
                  for item in answer["output"])
    refused = any(event["parent"] == answer["parent"] and event["stage"] in ("input", "output")
                  and (event["tripped"] or event["error"])
                  for event in run.of("guardrail_checked"))
    return (unknown and plan.run.unknown_tools != "tell") or refused or (
        plan.run.hook_error is not None)


def _started(run: PhaseRun) -> dict[tuple[str, str], tuple[str, int]]:
    """Tool and number of starts by (parent, call id)."""
    events = run.of("tool_started")
    count = Counter((event["parent"], event["call"]) for event in events)
    return {(event["parent"], event["call"]):
            (event["tool"], count[event["parent"], event["call"]]) for event in events}


def _is_agent(plan: Plan, tool: str) -> bool:
    return tool in plan.tools and plan.tools[tool].agent is not None


def _due(plan: Plan, agent: str, item: Item) -> bool:
    """Whether a model output is a call that must reach a declared tool's body."""
    name = item.get("name")
    if item.get("type") != "function_call" or name not in plan.tools_of(agent) or (
            name in handoff_tools(plan, agent)):
        return False
    tool = plan.tools[name]
    return (tool.enabled and tool.enabled_until is None and tool.python is None
            and _fits(tool, str(item.get("arguments"))))


def _fits(tool: Tool, arguments: str) -> bool:
    """Whether the arguments are of the declared shape beyond doubt."""
    given = _object(arguments)
    if given is None:
        return False
    if tool.agent is not None:
        return isinstance(given.get("input"), str)
    required = {name for name, param in tool.parameters.items() if param.default is None}
    return required <= given.keys() <= tool.parameters.keys() and all(
        isinstance(value, _TYPES[tool.parameters[name].type])
        and isinstance(value, bool) == (tool.parameters[name].type == "boolean")
        for name, value in given.items())


def _object(arguments: str) -> dict[str, Any] | None:
    """The JSON object that a text holds, if it does."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


CONTRACT = Contract(
    name="exactly_once",
    promise="Each call is executed once; none that waits for a decision or was rejected is.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#how-the-approval-flow-works",
    codes={
        "DUPLICATE_EXECUTION": "a tool was started more often than the model called it",
        "UNAPPROVED_EXECUTION": "a tool was started for a call that was pending or rejected",
        "SENSELESS_EXECUTION": "a tool was started on arguments that are no JSON object",
        "DISABLED_EXECUTION": "a tool was started after it had been disabled",
        "MISSING_EXECUTION": "a completed run never started a tool for a call it should execute",
    },
    applies=lambda plan, seen: bool(plan.tools),
    violations=_violations,
)
