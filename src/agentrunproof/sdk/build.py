"""A plan's world: its agents, tools, session and run options as the SDK's own objects."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agents
from agents import Agent, ModelSettings, RunConfig, handoff
from agents.extensions import handoff_filters
from pydantic import create_model

from agentrunproof.plan import model as declared
from agentrunproof.plan.items import SERVER_IDS, session_items
from agentrunproof.plan.model import Phase, Plan
from agentrunproof.sdk import compat, normal
from agentrunproof.sdk import options as options_of_a_run
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.filters import recording_filter
from agentrunproof.sdk.gates import Gates
from agentrunproof.sdk.hooks import RecordingAgentHooks, RecordingRunHooks
from agentrunproof.sdk.model import PlanModel
from agentrunproof.sdk.sessions import RecordingSession
from agentrunproof.sdk.tools import PYTHON_TYPES, Toolbox, resolve

_DECIMAL_SETTINGS = ("temperature", "top_p", "timeout")


class HandoffFailure(Exception):
    """The failure a plan declares for a handoff callback."""


class CallableObject:
    """An object that is called like a function, and counts as true or as false."""

    def __init__(self, function: Callable[..., Any], truth: bool) -> None:
        self._function = function
        self._truth = truth
        self.__signature__ = inspect.signature(function)  # the SDK counts parameters

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)

    def __bool__(self) -> bool:
        return self._truth


class World:
    """Everything the phases of one mode share.

    Args:
        plan: what to build.
        recorder: told about everything that happens.
    """

    def __init__(self, plan: Plan, recorder: Recorder) -> None:
        self.plan = plan
        self.recorder = recorder
        self.gates = Gates()
        self.models = {name: PlanModel(name, recorder, self.gates) for name in plan.agents}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._box = Toolbox(recorder, self.gates, plan.run.max_tools_at_once is not None)
        self._guardrails = {name: self._box.guardrail(name, spec)
                            for name, spec in plan.guardrails.items()}
        self._servers = self._made_servers()
        self.agents = {name: self._agent(name, spec) for name, spec in plan.agents.items()}
        tools = {name: self._tool(name, spec) for name, spec in plan.tools.items()
                 if name not in plan.served}
        for name, spec in plan.agents.items():
            self.agents[name].tools = [tools[tool] for tool in spec.tools]
            self.agents[name].handoffs = [self._handoff(name, to) for to in spec.handoffs]
        self.session: RecordingSession | None = None
        self.hooks = (RecordingRunHooks(recorder, plan.run.hook_error)
                      if plan.run.hooks in ("both", "run") else None)

    async def open(self) -> None:
        """Connect the servers, open the session and fill it with what the plan says it holds."""
        for server in self._servers.values():
            await server.connect()
        spec = self.plan.session
        if spec is None:
            return
        settings = None if spec.limit is None else compat.session_settings(spec.limit)
        items = session_items(self.plan)
        inner: Any = None
        if spec.kind == "sqlite":
            self._folder = tempfile.TemporaryDirectory(prefix="agentrunproof-")
            inner = agents.SQLiteSession(spec.id, Path(self._folder.name) / "session.db")
        elif spec.python is not None:
            inner = resolve(spec.python)(spec.id)
        if inner is not None and items:
            await inner.add_items(items)
        self.session = RecordingSession(spec.id, inner, self.recorder, tuple(items), settings,
                                        spec.delay)

    async def close(self) -> None:
        for server in self._servers.values():
            await server.cleanup()
        if self.session is not None:
            await self.session.close()
        if self._folder is not None:
            self._folder.cleanup()

    def start_phase(self, phase: Phase) -> None:
        """Close all gates and load the phase's script into the models."""
        self.gates.reset()
        if self.session is not None:
            self.session.fail(phase.failing_write)
        if self.hooks is not None:
            self.hooks.context = None
        for model in self.models.values():
            model.load(self.plan, phase)

    def run_options(self, phase: Phase) -> dict[str, Any]:
        """Keyword arguments of ``Runner.run`` for this phase."""
        run = self.plan.run
        options: dict[str, Any] = {"run_config": self._run_config()}
        context = self.plan.context_of(phase)
        if context is not None and (phase.resume is None or phase.context is not None):
            options["context"] = copy.deepcopy(context)
        self.recorder.watch_context(context, options.get("context"))
        max_turns = phase.max_turns or run.max_turns
        if max_turns is not None or run.unlimited_turns:
            options["max_turns"] = max_turns
        if self.hooks is not None:
            options["hooks"] = self.hooks
        if self.session is not None:
            options["session"] = self.session
        if handlers := options_of_a_run.handlers(run):
            options["error_handlers"] = handlers
        if run.server != "none" and phase.resume is None:  # a state keeps its own
            options[run.server] = SERVER_IDS.get(run.server, True)
        return options

    def _run_config(self) -> RunConfig:
        run = self.plan.run
        options: dict[str, Any] = {"tracing_disabled": not run.tracing,
                                   "trace_include_sensitive_data": run.sensitive_traces}
        options.update(compat.history_nesting(run.nest_handoff_history))
        options.update(options_of_a_run.config(run))
        if run.input_filter is not None:
            options["call_model_input_filter"] = recording_filter(run.input_filter, self.recorder)
        if run.input_guardrails:
            options["input_guardrails"] = [self._guardrails[n] for n in run.input_guardrails]
        if run.output_guardrails:
            options["output_guardrails"] = [self._guardrails[n] for n in run.output_guardrails]
        if run.model_settings != declared.ModelSettings() or run.retries is not None:
            options["model_settings"] = _settings(run.model_settings, run.retries)
        return RunConfig(**options)

    def _agent(self, name: str, spec: declared.Agent) -> Agent[Any]:
        instructions: Any = spec.instructions
        if instructions is not None and instructions.startswith("python:"):
            instructions = resolve(instructions)
        elif instructions is not None and self.plan.run.callables != "function":
            instructions = self._callable(self._saying(instructions))
        options: dict[str, Any] = {}
        if spec.tool_use_behavior == "stop_at_tools":
            options["tool_use_behavior"] = {"stop_at_tool_names": list(spec.stop_at_tools)}
        elif spec.tool_use_behavior != "run_llm_again":
            options["tool_use_behavior"] = spec.tool_use_behavior
        if not spec.reset_tool_choice:
            options["reset_tool_choice"] = False
        if spec.mcp:
            from agentrunproof.sdk.servers import agent_config

            options["mcp_servers"] = [self._servers[n] for n in spec.mcp]
            if config := agent_config(self.plan, name):
                options["mcp_config"] = config
        with_hooks = self.plan.run.hooks in ("both", "agent")
        return Agent(
            name=name,
            instructions=instructions,
            handoff_description=spec.handoff_description,
            model=self.models[name],
            model_settings=_settings(spec.model_settings),
            input_guardrails=[self._guardrails[n] for n in spec.input_guardrails],
            output_guardrails=[self._guardrails[n] for n in spec.output_guardrails],
            output_type=None if spec.output_type is None else self._schema(spec.output_type),
            hooks=RecordingAgentHooks(self.recorder, self.plan.run.hook_delay)
            if with_hooks else None,
            **options,
        )

    def _made_servers(self) -> dict[str, Any]:
        if not self.plan.mcp:
            return {}
        from agentrunproof.sdk.servers import PlanServer  # early releases have none

        return {name: PlanServer(name, spec, self.plan, self.recorder, self._box)
                for name, spec in self.plan.mcp.items()}

    def _tool(self, name: str, spec: declared.Tool) -> Any:
        if spec.agent is not None:
            return self._box.agent(name, spec, self.agents[spec.agent])
        if spec.python is not None:
            return self._box.foreign(name, spec.python)
        return self._box.function(name, spec, self.plan.tool_guardrails)

    def _handoff(self, source: str, name: str) -> Any:
        spec = self.plan.handoffs.get(name) or declared.Handoff(to=name)
        options: dict[str, Any] = {}
        if spec.tool_name is not None:
            options["tool_name_override"] = spec.tool_name
        if spec.description is not None:
            options["tool_description_override"] = spec.description
        if spec.filter == "remove_all_tools":
            options["input_filter"] = self._callable(handoff_filters.remove_all_tools)
        if spec.nest_history is not None:
            options["nest_handoff_history"] = spec.nest_history
        if (offered := self.gates.offered(spec.enabled, spec.enabled_until)) is not True:
            options["is_enabled"] = offered

        def note(ctx: Any, payload: str = "") -> None:
            self.recorder.context_given("handoff", spec.to, ctx.context)
            self.recorder.add("handoff", from_=source, to=spec.to, payload=payload)
            if spec.error is not None:
                raise HandoffFailure(spec.error)

        if spec.input_type is not None:
            async def with_input(ctx: Any, given: Any) -> None:
                note(ctx, normal.text(given))

            return handoff(self.agents[spec.to], on_handoff=self._callable(with_input),
                           input_type=self._type(spec.input_type), **options)

        async def without_input(ctx: Any) -> None:
            note(ctx)

        return handoff(self.agents[spec.to], on_handoff=self._callable(without_input), **options)

    def _saying(self, text: str) -> Callable[..., Any]:
        async def instructions(ctx: Any, agent: Any) -> str:
            self.recorder.context_given("instructions", agent.name, ctx.context)
            return text

        return instructions

    def _callable(self, function: Callable[..., Any]) -> Any:
        """A function in the form in which the plan hands functions to the SDK."""
        form = self.plan.run.callables
        return function if form == "function" else CallableObject(function, form == "object")

    def _schema(self, name: str) -> Any:
        return compat.output_type(self._type(name), strict=self.plan.types[name].strict)

    def _type(self, name: str) -> Any:
        spec = self.plan.types[name]
        fields: dict[str, Any] = {
            field: (PYTHON_TYPES[spec.fields[field].type], ...) for field in spec.order}
        return create_model(name, **fields)


def _settings(spec: declared.ModelSettings, retries: int | None = None) -> ModelSettings:
    options = {field.name: value for field in dataclasses.fields(spec)
               if (value := getattr(spec, field.name)) is not None}
    if retries is not None:
        options["retry"] = compat.retry_settings(retries)
    for name in _DECIMAL_SETTINGS:
        if name in options:
            options[name] = float(options[name])
    return compat.model_settings(options)
