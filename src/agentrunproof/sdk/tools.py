"""Tools and guardrails of a plan, made with the SDK's own decorators."""

from __future__ import annotations

import asyncio
import copy
import importlib
import inspect
import json
import sys
from collections.abc import Callable
from typing import Any

import agents
from agents import (
    GuardrailFunctionOutput,
    InputGuardrail,
    OutputGuardrail,
    RunContextWrapper,
    function_tool,
)

from agentrunproof.plan.items import render
from agentrunproof.plan.model import Guardrail, Tool, ToolGuardrail, ToolOutcome
from agentrunproof.sdk import compat, normal
from agentrunproof.sdk.capture import Recorder, inside
from agentrunproof.sdk.gates import Gates, seconds

PYTHON_TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "object": dict[str, Any],
    "string[]": list[str], "integer[]": list[int],
}


class ToolFailure(Exception):
    """The failure a plan declares for a tool."""


class GuardrailFailure(Exception):
    """The failure a plan declares for a guardrail."""


def resolve(reference: str) -> Any:
    """The object that ``python:module:attribute`` names."""
    _, module, attribute = reference.split(":")
    found: Any = importlib.import_module(module)
    for name in attribute.split("."):
        found = getattr(found, name)
    return found


class Toolbox:
    """Makes the tools and guardrails of one plan, all telling the same recorder.

    Args:
        recorder: told what they do.
        gates: what they wait for and open.
        limited: whether the run limits how many tools work at once, so that it is told.
    """

    def __init__(self, recorder: Recorder, gates: Gates, limited: bool = False) -> None:
        self._recorder = recorder
        self._gates = gates
        self._limited = limited

    def function(self, name: str, tool: Tool, guards: dict[str, ToolGuardrail]) -> Any:
        """A function tool that does what its declared outcomes say."""
        options: dict[str, Any] = {
            "name_override": name,
            "description_override": tool.description or f"The tool {name}.",
        }
        if not tool.strict:
            options["strict_mode"] = False
        if tool.failure == "raise":
            options["failure_error_function"] = None
        elif tool.failure == "text":
            options["failure_error_function"] = lambda _ctx, _exc: tool.failure_text or ""
        if (offered := self._gates.offered(tool.enabled, tool.enabled_until)) is not True:
            options["is_enabled"] = offered
        if tool.needs_approval:
            options["needs_approval"] = True
        if tool.timeout is not None:
            options["timeout"] = float(tool.timeout)
            options["timeout_behavior"] = tool.timeout_behavior
        if tool.timeout_text is not None:
            options["timeout_error_function"] = lambda _ctx, _exc: tool.timeout_text or ""
        made = function_tool(_with_signature(self._body(name, tool), tool), **options)
        if tool.input_guardrails:
            made.tool_input_guardrails = [self.tool_guardrail(n, guards[n])
                                          for n in tool.input_guardrails]
        if tool.output_guardrails:
            made.tool_output_guardrails = [self.tool_guardrail(n, guards[n])
                                           for n in tool.output_guardrails]
        return made

    def behaviour(self, name: str, tool: Tool, server: str = "") -> Callable[..., Any]:
        """What a tool does, call after call; it is given call id, JSON text and arguments.

        Args:
            name: of the tool.
            tool: its declaration.
            server: the MCP server that has it.
        """
        count = 0

        async def behave(call: str, text: str, arguments: dict[str, Any]) -> str:
            nonlocal count
            outcome = tool.outcomes[min(count, len(tool.outcomes) - 1)]
            count += 1

            async def act() -> str:
                self._gates.open(tool.opens)
                await self._gates.wait(tool.after)
                await seconds(tool.delay)
                return await _act(outcome, arguments)

            try:
                output: str = await self._recorded(name, call, text, act, server)
                return output
            finally:
                self._gates.open(tool.opens_done)

        return behave

    def _body(self, name: str, tool: Tool) -> Callable[..., Any]:
        behave = self.behaviour(name, tool)

        async def body(ctx: Any, **arguments: Any) -> str:
            call, text = compat.tool_call(ctx)
            self._recorder.context_given("tool", name, ctx.context, call)
            output: str = await behave(call, text, arguments)
            return output

        return body

    async def _recorded(self, name: str, call: str, arguments: str,
                        act: Callable[[], Any], server: str = "") -> Any:
        add = self._recorder.add
        with self._recorder.at_work() as beside:
            add("tool_started", call=call, tool=name, arguments=arguments or "{}", server=server,
                beside=beside if self._limited else 0)
            try:
                output = await act()
            except asyncio.CancelledError:
                add("tool_cancelled", call=call, tool=name)
                raise
            except BaseException as exc:
                add("tool_failed", call=call, tool=name, error=normal.error(exc))
                raise
        if output is not None:  # None: the nested run has paused, its tool goes on later
            add("tool_finished", call=call, tool=name, output=normal.text(output))
        return output

    def agent(self, name: str, tool: Tool, agent: agents.Agent[Any]) -> Any:
        """An agent as a tool; its invocations are recorded like those of a function."""
        options: dict[str, Any] = {}
        if tool.needs_approval:
            options["needs_approval"] = True
        if tool.max_turns is not None:
            options["max_turns"] = tool.max_turns
        if tool.failure == "raise":
            options["failure_error_function"] = None
        elif tool.failure == "text":
            options["failure_error_function"] = lambda _ctx, _exc: tool.failure_text or ""
        made = agent.as_tool(name, tool.description or f"Asks {agent.name}.", **options)
        if not tool.enabled:
            made.is_enabled = False  # `as_tool` cannot be told in every release that can disable
        return self.recorded(made)

    def foreign(self, name: str, reference: str) -> Any:
        """A tool named by a ``python:`` reference."""
        found = resolve(reference)
        if not isinstance(found, agents.FunctionTool):
            return self.recorded(function_tool(found, name_override=name))
        found = copy.copy(found)  # the object stays its owner's, and may serve several runs
        found.name = name
        return self.recorded(found)

    def recorded(self, tool: Any) -> Any:
        invoke = tool.on_invoke_tool

        async def on_invoke_tool(ctx: Any, arguments: str) -> Any:
            call = compat.tool_call(ctx)[0]
            self._recorder.context_given("tool", tool.name, ctx.context, call)

            async def act() -> Any:
                with inside(call):
                    return await invoke(ctx, arguments)

            return await self._recorded(tool.name, call, arguments, act)

        tool.on_invoke_tool = on_invoke_tool
        return tool

    def guardrail(self, name: str, spec: Guardrail) -> Any:
        """An input or output guardrail of an agent or a run."""
        if spec.python:
            return resolve(spec.python)

        async def judge(ctx: Any, agent: Any, checked: Any) -> GuardrailFunctionOutput:
            self._recorder.context_given("guardrail", name, ctx.context)
            try:
                await self._gates.wait(spec.after)
                await seconds(spec.delay)
            except asyncio.CancelledError:
                await seconds(spec.cleanup)
                raise
            tripped = spec.trips or (spec.trips_on is not None and spec.trips_on in _said(checked))
            failure = None if spec.error is None else GuardrailFailure(spec.error)
            self._recorder.add(
                "guardrail_checked", guardrail=name, stage=spec.kind, agent=agent.name,
                tripped=tripped, error={} if failure is None else normal.error(failure))
            self._gates.open(spec.opens)
            if failure is not None:
                raise failure
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=tripped)

        if spec.kind == "output":
            return OutputGuardrail(guardrail_function=judge, name=name)
        if spec.blocking:
            return InputGuardrail(guardrail_function=judge, name=name, run_in_parallel=False)
        return InputGuardrail(guardrail_function=judge, name=name)

    def tool_guardrail(self, name: str, spec: ToolGuardrail) -> Any:
        """A guardrail on a tool's input or output."""
        made = agents.ToolGuardrailFunctionOutput

        def judge(data: Any) -> Any:
            checked = data.context.tool_arguments if spec.kind == "input" else normal.text(
                data.output)
            acts = spec.when is None or spec.when in checked
            behavior = spec.behavior if acts else "allow"
            self._recorder.context_given("tool_guardrail", name, data.context.context,
                                         data.context.tool_call_id)
            self._recorder.add(
                "guardrail_checked", guardrail=name, stage=f"tool_{spec.kind}",
                call=data.context.tool_call_id, agent=data.agent.name,
                tripped=behavior != "allow", behavior=behavior)
            if behavior == "reject_content":
                return made.reject_content(spec.message)
            if behavior == "raise_exception":
                return made.raise_exception()
            return made.allow()

        if spec.kind == "input":
            return agents.ToolInputGuardrail(guardrail_function=judge, name=name)
        return agents.ToolOutputGuardrail(guardrail_function=judge, name=name)


async def _act(outcome: ToolOutcome, arguments: dict[str, Any]) -> str:
    if outcome.error is not None:
        raise ToolFailure(outcome.error)
    if outcome.cancel:
        raise asyncio.CancelledError
    if outcome.hang:
        await asyncio.Event().wait()
    if outcome.exit is not None:
        sys.exit(outcome.exit)
    return render(outcome.returns or "", arguments)


def _said(checked: Any) -> str:
    """The text a guardrail looks into."""
    if isinstance(checked, list):
        return "\n".join(normal.text(normal.plain(item)) for item in checked)
    return normal.text(checked)


def _with_signature(body: Callable[..., Any], tool: Tool) -> Callable[..., Any]:
    """Give `body` the declared parameters, from which the SDK derives the tool's schema."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("ctx", kind, annotation=RunContextWrapper[Any])]
    annotations: dict[str, Any] = {"ctx": RunContextWrapper[Any]}
    for name in tool.order:
        param = tool.parameters[name]
        default: Any = inspect.Parameter.empty
        if param.default is not None:
            default = json.loads(param.default)
        annotations[name] = PYTHON_TYPES[param.type]
        parameters.append(inspect.Parameter(name, kind, default=default,
                                            annotation=annotations[name]))

    async def named(ctx: Any, *args: Any, **kwargs: Any) -> str:
        given = dict(zip(tool.order, args, strict=False)) | kwargs
        answer: str = await body(ctx, **given)
        return answer

    named.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    named.__annotations__ = annotations
    return named
