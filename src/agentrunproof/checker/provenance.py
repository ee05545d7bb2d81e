"""Step 8: where the contents of a record come from.

Model answers are the script's turns, tool results what the plan has the tools do with the
arguments of a scripted call, and every item is one that the plan, a tool or the SDK's own wording
brings about. What a plan leaves to foreign Python (``python:``) is not derived.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentrunproof.checker.binding import Release
from agentrunproof.checker.judgement import reject
from agentrunproof.checker.sources import Sources, error_patterns
from agentrunproof.plan.items import declared_arguments, render, response_id, script_items
from agentrunproof.plan.model import Plan, Tool, ToolOutcome
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.record.table import items_in

_ENDS = ("tool_finished", "tool_failed", "tool_cancelled")

#: Types of the SDK's new items that may hold an item of each kind.
_NEW_ITEM_TYPES = {
    "function_call": {"tool_call_item", "handoff_call_item", "tool_approval_item"},
    "function_call_output": {"tool_call_output_item", "handoff_output_item"},
    "reasoning": {"reasoning_item"},
    "web_search_call": {"tool_call_item"},
    "message": {"message_output_item", "input_item"},
}


def check(plan: Plan, seen: Observation, release: Release, *, private: bool) -> int:
    """Refuse contents that nothing in the plan explains.

    Returns:
        How many contents could not be derived: those of a private record that depend on more
        than the equality of payloads.
    """
    underived = 0
    certified = release.certified
    # Releases up to 0.20.0 keep paused nested runs for the whole process, so a later mode may go
    # on with a call that an earlier one made.
    made: set[tuple[str, str, str]] = set()
    for mode in seen.modes:
        sources = Sources(plan, certified=certified, private=private)
        walk = _Mode(plan, sources, made, release.announces_begun_calls)
        for run in seen.in_mode(mode):
            walk.check(run)
        underived += sources.underived
    return underived


class _Mode:
    """Walks the runs of one mode in order; tools count their calls across phases."""

    def __init__(self, plan: Plan, sources: Sources, made: set[tuple[str, str, str]],
                 announces_begun_calls: bool) -> None:
        self._plan = plan
        self._sources = sources
        self._made = made
        self._announces_begun_calls = announces_begun_calls
        self._invocations: Counter[tuple[str, str]] = Counter()
        self._errors = {} if plan.calls else error_patterns(plan)

    def check(self, run: PhaseRun) -> None:
        _check_models(self._plan, run)
        self._check_tools(run)
        self._check_items(run)
        self._check_results(run)
        self._check_errors(run)

    def _check_tools(self, run: PhaseRun) -> None:
        running: dict[tuple[str, str], tuple[Event, ToolOutcome | None]] = {}
        for event in run.events:
            if event["kind"] == "model_responded":
                self._made |= {(event["parent"], item["call_id"], item["name"])
                               for item in event["output"] if item.get("type") == "function_call"}
            elif event["kind"] == "tool_started":
                key = (event["parent"], event["call"])
                if key in running:
                    reject("TOOL_EVENTS_DIFFER", f"{run.where}: call {event['call']} is started "
                           "again before it ends")
                running[key] = event, self._started(run, event, running)
            elif event["kind"] in _ENDS:
                started = running.pop((event["parent"], event["call"]), None)
                if started is None or started[0]["tool"] != event["tool"]:
                    reject("TOOL_EVENTS_DIFFER", f"{run.where}: call {event['call']} ends "
                           "without having been started")
                self._ended(run, event, *started)
        cut_off = run.outcome == "timeout" or run.of("task_leaked")
        for event, outcome in running.values():
            if outcome is not None and not cut_off:
                reject("TOOL_EVENTS_DIFFER", f"{run.where}: call {event['call']} never ends")

    def _started(self, run: PhaseRun, event: Event, running: dict[Any, Any]
                 ) -> ToolOutcome | None:
        """Check a start; returns what the plan has this invocation do, None if it is not said."""
        name, call = event["tool"], event["call"]
        tool = self._plan.tools.get(name)
        if tool is None:
            reject("TOOL_UNKNOWN", f"{run.where}: the plan has no tool {name}")
        if event["server"]:
            server = self._plan.mcp.get(event["server"])
            if server is None or name not in server.tools:
                reject("TOOL_UNKNOWN", f"{run.where}: {event['server']} is no server with a tool "
                       f"{name}")
        elif name in self._plan.served:
            reject("TOOL_UNKNOWN", f"{run.where}: {name} is a tool of an MCP server")
        item = self._sources.made_call(call, name)
        if item is None or not self._was_made(event["parent"], call, name):
            reject("CALL_UNKNOWN", f"{run.where}: no model made the call {call} of {name}")
        # What reaches a server is the SDK's doing, and for a contract to judge.
        if not event["server"] and (item["arguments"] or "{}") != event["arguments"] and len(
                self._sources.calls[call]) == 1:
            reject("ARGUMENTS_DIFFER", f"{run.where}: call {call} has other arguments than the "
                   "model gave it")
        if event["parent"]:
            *above, inner = event["parent"].split("/")
            if ("/".join(above), inner) not in running:
                reject("TOOL_EVENTS_DIFFER", f"{run.where}: call {call} is made within "
                       f"{event['parent']}, which does not run")
        if not tool.outcomes:
            return None
        # Servers that have a tool of one name have each their own.
        body = (event["server"], name)
        outcome = tool.outcomes[min(self._invocations[body], len(tool.outcomes) - 1)]
        self._invocations[body] += 1
        return outcome

    def _was_made(self, parent: str, call: str, name: str) -> bool:
        """Whether a model made the call in the run that starts it.

        The run of an agent tool may go on with what a run within it has asked: 0.24.0 mixes them up
        where an agent has itself as a tool, which is for contracts to judge.
        """
        return (parent, call, name) in self._made or (parent != "" and any(
            (call, name) == (made, tool) and lane.startswith(f"{parent}/")
            for lane, made, tool in self._made))

    def _ended(self, run: PhaseRun, event: Event, started: Event,
               outcome: ToolOutcome | None) -> None:
        tool = self._plan.tools[event["tool"]]
        kind = event["kind"]
        if outcome is None:
            if kind == "tool_finished":
                self._nested_output(run, event, tool)
            return
        if kind == "tool_cancelled":
            return
        if kind == "tool_failed":
            declared = _failure(outcome)
            if event["error"] != declared:
                reject("TOOL_RESULT_DIFFERS", f"{run.where}: call {event['call']} failed with "
                       f"{event['error'].get('type')}, which the plan does not declare")
            server = self._plan.mcp.get(started["server"])
            if server is not None and server.fails_by == "result":
                self._learn(event["call"], event["error"].get("message", ""))
            return
        template = outcome.returns if _failure(outcome) is None else None
        if template is None or outcome.cancel or outcome.hang:
            reject("TOOL_RESULT_DIFFERS", f"{run.where}: call {event['call']} gave a result, the "
                   "plan declares none")
        self._check_output(run, event, template, declared_arguments(tool, started["arguments"]),
                           tool)
        self._learn(event["call"], event["output"])

    def _check_output(self, run: PhaseRun, event: Event, template: str, given: dict[str, Any],
                      tool: Tool) -> None:
        # Old releases run a tool on its defaults when its arguments are no object.
        variants = (given, _as_floats(tool, given), declared_arguments(tool, "{}"))
        if event["output"] in [render(template, arguments) for arguments in variants[:2 + (
                not given)]]:
            return
        if self._sources.private and "{" in template and self._sources.authored(event["output"]):
            return
        if not _fits_types(tool, given) and _skeleton(template).fullmatch(event["output"]):
            return  # the SDK has turned the arguments into the declared types
        reject("TOOL_RESULT_DIFFERS", f"{run.where}: the result of call {event['call']} is not "
               "what the plan declares for its arguments")

    def _nested_output(self, run: PhaseRun, event: Event, tool: Tool) -> None:
        if tool.agent is not None and not self._sources.says(event["output"]):
            reject("TOOL_RESULT_DIFFERS", f"{run.where}: the result of call {event['call']} is "
                   f"no text that agent {tool.agent} can have given")
        self._learn(event["call"], event["output"])

    def _learn(self, call: str, text: str) -> None:
        self._sources.outputs.setdefault(call, set()).add(text)
        self._sources.texts.add(text)

    def _check_items(self, run: PhaseRun) -> None:
        for item, announced in _items(run):
            begun = announced and self._announces_begun_calls and self._sources.begins(item)
            if not begun and not self._sources.explains(item):
                reject("ITEM_UNEXPLAINED", f"{run.where}: neither the plan nor a tool gives the "
                       f"item {json.dumps(item, ensure_ascii=False)[:200]}")

    def _check_results(self, run: PhaseRun) -> None:
        turns = list(_turns(self._plan))
        for event in run.of("result", "raised"):
            for answer in event["responses"] or ():
                if not any(_same_calls(answer, turn) for turn in turns):
                    reject("RESPONSE_UNEXPLAINED", f"{run.where}: a response of the result is no "
                           "turn of the script")
            for entry in event["new_items"] or ():
                kinds = _NEW_ITEM_TYPES.get(entry.get("item", {}).get("type", "message"), set())
                if set(entry) != {"type", "agent", "item"} or entry["type"] not in kinds:
                    reject("RESULT_DIFFERS", f"{run.where}: a new item is no {entry.get('type')}")
                if entry["agent"] not in self._plan.agents:
                    reject("RESULT_DIFFERS", f"{run.where}: a new item of an unknown agent")
            if event["last_agent"] not in self._plan.agents and (
                    event["kind"] == "result" or event["last_agent"]):
                reject("RESULT_DIFFERS", f"{run.where}: the last agent is unknown")
        result = run.last("result")
        output = result["final_output"] if result else None
        if output is not None and not self._sources.says(output):
            reject("FINAL_OUTPUT_UNEXPLAINED", f"{run.where}: nothing gives the final output "
                   f"{output!r:.100}")

    def _check_errors(self, run: PhaseRun) -> None:
        for event in run.of("raised", "tool_failed", "state_restored"):
            error = event["error"]
            if not error and event["kind"] == "state_restored":
                continue
            if not set(error) <= {"type", "message"} or not error.get("type", "").isidentifier(
                    ) or error.get("message") == "":
                reject("ERROR_MALFORMED", f"{run.where}: an error is a type and a message")
            wording = self._errors.get(error["type"])
            if wording is not None and not wording.fullmatch(error.get("message", "")):
                reject("ERROR_UNEXPLAINED", f"{run.where}: nothing raises {error!r:.150}")


def _check_models(plan: Plan, run: PhaseRun) -> None:
    """Each answer is the script's next turn; a model that has none left says so."""
    phase = plan.phase(run.phase)
    waiting: dict[tuple[str, str], int | None] = {}
    taken: Counter[str] = Counter()
    lanes: dict[str, set[str]] = {}
    for event in run.of("model_called"):
        lanes.setdefault(event["agent"], set()).add(event["parent"])
    used: set[tuple[str, int]] = set()
    for event in run.of("model_called", "model_responded", "model_failed"):
        agent, lane = event["agent"], (event["agent"], event["parent"])
        if agent not in plan.agents:
            reject("MODEL_UNKNOWN", f"{run.where}: the plan has no agent {agent}")
        if event["kind"] == "model_called":
            # Nested runs of one agent at the same time take turns in an order of their own.
            waiting[lane] = taken[agent] if len(lanes[agent]) == 1 else None
            taken[agent] += 1
            continue
        if lane not in waiting:
            reject("MODEL_EVENTS_DIFFER", f"{run.where}: {agent} answers without being called")
        turn = waiting.pop(lane)
        steps = phase.script.get(agent, ())
        candidates = range(len(steps) + 1) if turn is None else (min(turn, len(steps)),)
        matching = [n for n in candidates if (agent, n) not in used or n == len(steps)]
        found = next((n for n in matching if _is_turn(plan, run, event, n)), None)
        if found is None:
            reject("MODEL_ANSWER_DIFFERS", f"{run.where}: an answer of {agent} is not the "
                   "script's next turn")
        used.add((agent, found))


def _is_turn(plan: Plan, run: PhaseRun, event: Event, n: int) -> bool:
    """Whether the event is what the nth turn of the script does."""
    phase, agent = plan.phase(run.phase), event["agent"]
    steps = phase.script.get(agent, ())
    if event["kind"] == "model_failed":
        if event["error"] == {"type": "CancelledError"}:
            return True
        if n == len(steps):
            return bool(event["error"] == {
                "type": "ScriptExhausted",
                "message": f"the script of agent {agent} holds no further turn"})
        error = steps[n].error
        return error is not None and bool(event["error"] == _named(error.type, error.message))
    if n == len(steps) or steps[n].error is not None or steps[n].hang:
        return False
    use = steps[n].usage
    usage = {"input": use.input, "output": use.output, "cached": use.cached,
             "reasoning": use.reasoning}
    return (event["response_id"] == response_id(phase, agent, n)
            and list(event["output"]) == script_items(plan, phase, agent, n)
            and event["usage"] == {name: count for name, count in usage.items() if count})


def _named(type: str, message: str) -> dict[str, str]:
    return {"type": type, "message": message} if message else {"type": type}


def _failure(outcome: ToolOutcome) -> dict[str, str] | None:
    if outcome.error is not None:
        return _named("ToolFailure", outcome.error)
    if outcome.exit is not None:
        return _named("SystemExit", str(outcome.exit))
    return None


def _items(run: PhaseRun) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each item of a run once, and whether a stream announces it as a call."""
    met: set[tuple[int, bool]] = set()
    for event in run.events:
        announced = event["kind"] == "stream_event" and (
            event["type"], event["name"]) == ("item", "tool_called")
        for item in items_in(event):
            if (id(item), announced) not in met:
                met.add((id(item), announced))
                yield item, announced


def _turns(plan: Plan) -> Iterator[list[dict[str, Any]]]:
    for phase in plan.phases:
        for agent, steps in phase.script.items():
            for n in range(len(steps)):
                yield script_items(plan, phase, agent, n)


def _same_calls(answer: tuple[dict[str, Any], ...], turn: list[dict[str, Any]]) -> bool:
    """Whether a response holds the items of a turn, whatever else of them was left out."""
    return [_identity(item) for item in answer] == [_identity(item) for item in turn]


def _identity(item: dict[str, Any]) -> str:
    return str(item.get("call_id") or item.get("id"))


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "object": (dict,), "string[]": (list,), "integer[]": (list,)}


def _fits_types(tool: Tool, given: dict[str, Any]) -> bool:
    """Whether the SDK has nothing to turn into another type, beyond doubt."""
    return all(
        name in tool.parameters and isinstance(value, _TYPES[tool.parameters[name].type])
        and isinstance(value, bool) == (tool.parameters[name].type == "boolean")
        and not (isinstance(value, list | dict) and value)
        for name, value in given.items())


def _as_floats(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments with whole numbers as the floats that a ``number`` parameter receives."""
    return {name: float(value) if name in tool.parameters and (
        tool.parameters[name].type == "number" and isinstance(value, int)) else value
        for name, value in given.items()}


def _skeleton(template: str) -> re.Pattern[str]:
    """The template with anything in place of its fields."""
    parts = re.split(r"\{[A-Za-z_][A-Za-z0-9_]*\}", template)
    return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
