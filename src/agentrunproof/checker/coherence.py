"""Step 9: the parts of a record agree with each other.

Each rule here holds however wrong the Runner goes, because it is about our own instruments: what
a session returned is what was put into it, a hook was called for something that exists, a stream
brings what the model has sent, spans are numbered as they start. What the Runner does with the
plan's parts is for the contracts to judge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrunproof import canonical
from agentrunproof.checker import streams
from agentrunproof.checker.binding import Release
from agentrunproof.checker.judgement import reject
from agentrunproof.checker.sources import Sources, handoff_functions
from agentrunproof.plan.items import SERVER_IDS, filtered, response_id, session_items
from agentrunproof.plan.model import Guardrail, Plan, ToolGuardrail
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.shape import encode

_HOOKS = frozenset({"on_agent_start", "on_agent_end", "on_llm_start", "on_llm_end",
                    "on_tool_start", "on_tool_end", "on_handoff"})
_WITH_OUTPUT = ("on_agent_end", "on_tool_end")

#: Types of spans that certified releases and our own model make.
_SPAN_TYPES = frozenset({"trace", "task", "agent", "turn", "generation", "function", "handoff",
                         "guardrail", "mcp_tools"})
_SPAN_PARTS = ("input", "output", "error")
_SPAN_ERRORS = frozenset({
    "", "Error in agent run", "Error running tool", "Error running tool (non-fatal)",
    "Error in call_model_input_filter", "Guardrail tripwire triggered",
    "Handoff function expected non-null input, but got None", "Invalid JSON",
    "Invalid JSON provided", "Invalid input filter", "Invalid input filter result",
    "Max turns exceeded", "Multiple handoffs requested", "Tool execution cancelled",
    "Tool execution rejected", "Tool not found"})


def check(plan: Plan, seen: Observation, release: Release, *, private: bool) -> None:
    """Refuse an observation whose parts contradict each other."""
    in_results = {tool for server in plan.mcp.values() if server.fails_by == "result"
                  for tool in server.tools}
    for mode in seen.modes:
        runs = seen.in_mode(mode)
        sources = Sources(plan, certified=release.certified, private=private)
        for run in runs:
            for event in run.of("tool_finished"):
                sources.texts.add(event["output"])
            for event in run.of("tool_failed"):
                if event["tool"] in in_results:
                    sources.texts.add(event["error"].get("message", ""))
        if plan.session is not None and plan.session.kind != "python":
            _check_session(plan, runs)
        for run in runs:
            _Run(plan, run, sources, release.certified).check()
            if run.mode == "run_streamed":
                streams.check(plan, run, certified=release.certified, private=private)


def _check_session(plan: Plan, runs: tuple[PhaseRun, ...]) -> None:
    """Reads give what was written, over all phases of a mode."""
    held: list[Any] = session_items(plan)
    for run in runs:
        for event in run.of("session_read", "session_written"):
            items = list(event["items"])
            if event["kind"] == "session_read":
                limit = event["limit"]
                expected = held if limit is None else held[-limit:] if limit else []
                if items != expected:
                    reject("SESSION_DIFFERS", f"{run.where}: the session gives other items than "
                           "were put into it")
            elif event["op"] == "add":
                held.extend(items)
            elif event["op"] == "clear":
                held.clear()
                if items:
                    reject("SESSION_DIFFERS", f"{run.where}: clearing gives no items")
            elif items != held[-1:]:
                reject("SESSION_DIFFERS", f"{run.where}: another item was popped than the last")
            else:
                del held[-1:]


class _Run:
    """One run; every event is checked for what it names."""

    def __init__(self, plan: Plan, run: PhaseRun, sources: Sources, certified: bool) -> None:
        self._plan = plan
        self._run = run
        self._sources = sources
        self._certified = certified

    def check(self) -> None:
        rules: dict[str, Callable[[Event], None]] = {
            "model_called": self._model_call, "hook": self._hook,
            "input_filtered": self._filter, "context_given": self._context,
            "guardrail_checked": self._guardrail, "handoff": self._handoff,
            "interruption": self._interruption, "state_saved": self._state,
            "state_restored": self._state, "usage": self._usage, "result": self._result,
            "raised": self._result,
            "task_leaked": self._task, "server_asked": self._server,
        }
        running: set[str] = set()
        for event in self._run.events:
            self._nesting(event, running)
            rule = rules.get(event["kind"])
            if rule is not None:
                rule(event)
        self._spans()

    def _refuse(self, code: str, problem: str) -> None:
        reject(code, f"{self._run.where}: {problem}")

    def _nesting(self, event: Event, running: set[str]) -> None:
        """What happens within an agent tool happens while that tool runs."""
        parent = event.get("parent", "")
        if event["kind"].startswith("span_"):
            return
        if parent and parent not in running:
            self._refuse("NESTING_DIFFERS", f"{event['kind']} within {parent}, which does not run")
        if event["kind"].startswith("tool_"):
            path = f"{parent}/{event['call']}" if parent else event["call"]
            if event["kind"] == "tool_started":
                running.add(path)
            else:
                running.discard(path)

    def _model_call(self, event: Event) -> None:
        if event["streamed"] != (self._run.mode == "run_streamed" and not event["parent"]):
            self._refuse("MODEL_CALL_DIFFERS", "a model is streamed exactly in a streamed run")
        functions = {name for agent in self._plan.agents
                     for name in handoff_functions(self._plan, agent)}
        if not (set(event["tools"]) <= set(self._plan.tools)
                and set(event["handoffs"]) <= functions
                and event["output_type"] in {"", *self._plan.types}):
            self._refuse("MODEL_CALL_DIFFERS", "a model was given what the plan does not have")
        responses = {response_id(phase, agent, n) for phase in self._plan.phases
                     for agent, turns in phase.script.items() for n in range(len(turns))}
        if not (event["conversation_id"] in {"", SERVER_IDS["conversation_id"]}
                and event["previous_response_id"] in {
                    "", SERVER_IDS["previous_response_id"], *responses}):
            self._refuse("MODEL_CALL_DIFFERS", "a model was asked to go on from something that "
                         "nobody gave")
        known = [encode(settings) for settings in (
            self._plan.run.model_settings,
            *(agent.model_settings for agent in self._plan.agents.values()))]
        for name, value in event["settings"].items():
            if not any(canonical.same(value, given.get(name)) for given in known):
                self._refuse("MODEL_CALL_DIFFERS", f"nobody declares the setting {name}")

    def _context(self, event: Event) -> None:
        """Somebody of the plan is given the context that the plan declares."""
        known = {"hook": _HOOKS, "guardrail": self._plan.guardrails, "tool": self._plan.tools,
                 "tool_guardrail": self._plan.tool_guardrails}.get(event["to"], self._plan.agents)
        declared = self._plan.context_of(self._plan.phase(self._run.phase))
        if declared is None or event["name"] not in known:
            self._refuse("CONTEXT_UNKNOWN", f"no {event['to']} {event['name']} gets a context")

    def _filter(self, event: Event) -> None:
        """What our filter gave follows from what it was given."""
        spec = self._plan.run.input_filter
        if spec is None or event["agent"] not in self._plan.agents:
            self._refuse("FILTER_DIFFERS", f"no input of {event['agent']} is filtered")
            return
        due = filtered(spec, list(event["given"]), event["given_instructions"])
        error = {} if spec.error is None else {"type": "FilterFailure"} | (
            {"message": spec.error} if spec.error else {})
        if (list(event["input"]), event["instructions"]) != due or event["error"] != error:
            self._refuse("FILTER_DIFFERS", "the filter gave something else than the plan says")

    def _hook(self, event: Event) -> None:
        on, scope = event["on"], event["scope"]
        if on not in _HOOKS or event["agent"] not in self._plan.agents:
            self._refuse("HOOK_UNKNOWN", f"no hook {on} of agent {event['agent']}")
        if self._plan.run.hooks not in ("both", scope):
            self._refuse("HOOK_UNKNOWN", f"the plan sets no hooks of scope {scope}")
        if bool(event["tool"]) != on.startswith("on_tool") or (
                event["call"] and not event["tool"]):
            self._refuse("HOOK_UNKNOWN", f"{on} names the tool {event['tool']!r}")
        if event["call"] and self._sources.made_call(event["call"], event["tool"]) is None:
            self._refuse("HOOK_UNKNOWN", f"{on} for {event['call']}, a call of no model")
        if event["tool"] and event["tool"] not in self._plan.tools:
            self._refuse("HOOK_UNKNOWN", f"{on} for the unknown tool {event['tool']}")
        if bool(event["other"]) != (on == "on_handoff") or (
                event["other"] and event["other"] not in self._plan.agents):
            self._refuse("HOOK_UNKNOWN", f"{on} names the agent {event['other']!r}")
        # A nested run that pauses gives None, which older releases tell the hook of its tool.
        paused = on == "on_tool_end" and event["output"] == "null" and (
            self._plan.tools[event["tool"]].agent is not None)
        if event["output"] and not paused and (
                on not in _WITH_OUTPUT or not self._sources.says(event["output"])):
            self._refuse("HOOK_OUTPUT_DIFFERS", f"nothing gives the output of {on}")

    def _guardrail(self, event: Event) -> None:
        name, stage = event["guardrail"], event["stage"]
        tool_stage = stage.startswith("tool_")
        known: dict[str, Any] = dict(self._plan.tool_guardrails if tool_stage
                                     else self._plan.guardrails)
        spec = known.get(name)
        if spec is None or spec.kind != stage.removeprefix("tool_") or (
                event["agent"] not in self._plan.agents):
            self._refuse("GUARDRAIL_DIFFERS", f"the plan has no {stage} guardrail {name}")
        elif tool_stage:
            self._tool_guardrail(event, spec)
        else:
            self._agent_guardrail(event, spec)

    def _agent_guardrail(self, event: Event, spec: Guardrail) -> None:
        error = {} if spec.error is None else {"type": "GuardrailFailure"} | (
            {"message": spec.error} if spec.error else {})
        if event["call"] or event["behavior"] or event["error"] != error:
            self._refuse("GUARDRAIL_DIFFERS", f"{event['guardrail']} does something else")
        may_trip = spec.trips or (spec.trips_on is not None and (
            self._sources.private or any(spec.trips_on in text for text in self._sources.texts)))
        if (spec.trips and not event["tripped"]) or (event["tripped"] and not may_trip):
            self._refuse("GUARDRAIL_DIFFERS", f"{event['guardrail']} decides otherwise")

    def _tool_guardrail(self, event: Event, spec: ToolGuardrail) -> None:
        calls = self._sources.calls.get(event["call"], [])
        if not calls or event["error"]:
            self._refuse("GUARDRAIL_DIFFERS", f"{event['guardrail']} checks no call of a model")
        if event["tripped"] != (event["behavior"] != "allow"):
            self._refuse("GUARDRAIL_DIFFERS", f"{event['guardrail']} both trips and allows")
        allowed = {spec.behavior}
        if spec.when is not None:
            allowed = {spec.behavior, "allow"}
            if spec.kind == "input" and not self._sources.private:
                texts = {item["arguments"] for item in calls}
                allowed = {spec.behavior if spec.when in text else "allow" for text in texts}
        if event["behavior"] not in allowed:
            self._refuse("GUARDRAIL_DIFFERS", f"{event['guardrail']} decides otherwise")

    def _handoff(self, event: Event) -> None:
        source = self._plan.agents.get(event["from"])
        if source is None or event["to"] not in handoff_functions(
                self._plan, event["from"]).values():
            self._refuse("HANDOFF_UNKNOWN", f"{event['from']} hands over to {event['to']}")
        if event["payload"] and not any(handoff.input_type and handoff.to == event["to"]
                                        for handoff in self._plan.handoffs.values()):
            self._refuse("HANDOFF_UNKNOWN", f"no handoff to {event['to']} takes an input")

    def _interruption(self, event: Event) -> None:
        item = self._sources.made_call(event["call"], event["tool"])
        if item is None or ((item["arguments"] or "{}") != event["arguments"] and len(
                self._sources.calls[event["call"]]) == 1):
            self._refuse("INTERRUPTION_UNKNOWN", f"{event['call']} of {event['tool']} is a call "
                         "of no model")
        if event["agent"] not in self._plan.agents or event["tool"] not in self._plan.tools:
            self._refuse("INTERRUPTION_UNKNOWN", f"{event['call']} is a call of no agent")

    def _state(self, event: Event) -> None:
        if not set(event["pending"]) <= set(self._sources.calls):
            self._refuse("STATES_DIFFER", "a state waits for a call of no model")
        if event.get("error") and (event["pending"] or event["changed"]):
            self._refuse("STATES_DIFFER", "a state that was not restored tells nothing")

    def _server(self, event: Event) -> None:
        """A server gives the tools that the plan declares, or the failure."""
        spec = self._plan.mcp.get(event["server"])
        if spec is None:
            self._refuse("SERVER_DIFFERS", f"the plan has no MCP server {event['server']}")
            return
        failure = {} if spec.unlisted is None else {"type": "ServerFailure"} | (
            {"message": spec.unlisted} if spec.unlisted else {})
        gives = [] if event["op"] != "list" or event["error"] else list(spec.tools)
        if list(event["tools"]) != gives or event["error"] not in ({}, failure) or (
                event["error"] and event["op"] != "list"):
            self._refuse("SERVER_DIFFERS", f"{event['server']} gives something else than the "
                         "plan says")

    def _usage(self, event: Event) -> None:
        if event["total"] != event["input"] + event["output"]:
            self._refuse("USAGE_DIFFERS", "the total is not input and output")

    def _result(self, event: Event) -> None:
        known = {*self._plan.guardrails, *self._plan.tool_guardrails}
        named = event["guardrails"] or ()
        if list(named) != sorted(named) or not set(named) <= known:
            self._refuse("RESULT_DIFFERS", f"the {event['kind']} names unknown guardrails")

    def _task(self, event: Event) -> None:
        if not all(part.isidentifier() or part == "<locals>"
                   for part in event["name"].split(".")):
            self._refuse("TASK_UNKNOWN", f"{event['name']!r} is the name of no coroutine")

    def _spans(self) -> None:
        spans = self._run.of("span_started", "span_finished")
        if spans and not self._plan.run.tracing:
            self._refuse("SPANS_DIFFER", "the plan switches tracing off")
        for number, span in enumerate(spans):
            if span["span"] != number or (span["parent"] is not None
                                          and span["parent"] >= number):
                self._refuse("SPANS_DIFFER", "spans are numbered as they start, parents first")
            if span["type"] == "trace" and (span["parent"] is not None or span.get("error")):
                self._refuse("SPANS_DIFFER", "a trace has no parent and no error")
            holds = span.get("holds", ())
            if tuple(part for part in _SPAN_PARTS if part in holds) != holds or (
                    holds and not self._may_hold(span)):
                self._refuse("SPANS_DIFFER", "a span tells something else of its call")
            if self._certified:
                self._span_names(span)
        generations = sum(span["type"] == "generation" for span in spans)
        calls = len(self._run.of("model_called"))
        if spans and generations != calls:  # our model makes both
            self._refuse("SPANS_DIFFER", f"{generations} generations for {calls} model calls")

    def _may_hold(self, span: Event) -> bool:
        return span["type"] == "function" or (
            span["holds"] == ("error",) and bool(span["error"])
            and span["type"] not in ("trace", "generation") and not self._plan.run.sensitive_traces)

    def _span_names(self, span: Event) -> None:
        agents = self._plan.agents
        name = span["name"]
        ends = name.split(" -> ")
        known = {
            "trace": name == "Agent workflow",
            "task": name == "Agent workflow",
            "agent": name in agents,
            "function": name in self._plan.tools,
            "guardrail": name in self._plan.guardrails,
            "mcp_tools": name in self._plan.mcp,
            "handoff": ends[0] in agents and ends[-1] in {*agents, "None"} and len(ends) == 2,
        }.get(span["type"], not name)
        error = span.get("error", "")
        told = error in _SPAN_ERRORS or self._sources.says(error)  # a rejection says its message
        if span["type"] not in _SPAN_TYPES or not told or not known:
            self._refuse("SPANS_DIFFER", f"no release makes a {span['type']} span "
                         f"{span['name']!r} {error!r}")
