"""MCP servers of a plan: the SDK's own class, with a session of ours in place of a transport."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import agents.mcp
from agents.mcp import MCPServerStdio

from agentrunproof.plan.items import declared_arguments
from agentrunproof.plan.model import McpServer, Plan, Tool
from agentrunproof.sdk import compat, normal
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.tools import Toolbox, ToolFailure

_SCHEMAS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"}, "integer": {"type": "integer"}, "number": {"type": "number"},
    "boolean": {"type": "boolean"}, "object": {"type": "object"},
    "string[]": {"type": "array", "items": {"type": "string"}},
    "integer[]": {"type": "array", "items": {"type": "integer"}},
}

#: Call id and arguments of the tool call that is about to reach a server.
_CALL: ContextVar[tuple[str, str] | None] = ContextVar("agentrunproof_call", default=None)


class ServerFailure(Exception):
    """The failure a plan declares for a server that is asked for its tools."""


class PlanServer(MCPServerStdio):
    """A server of a plan: caching, filters and approvals are the SDK's, what it is asked is ours.

    Args:
        name: of the server.
        spec: what it does.
        plan: the plan it is of.
        recorder: told what reaches it.
        box: makes what its tools do.
    """

    def __init__(self, name: str, spec: McpServer, plan: Plan, recorder: Recorder,
                 box: Toolbox) -> None:
        tools = {tool: plan.tools[tool] for tool in spec.tools}
        super().__init__(params={"command": "none"}, name=name, cache_tools_list=spec.cached,
                         **_options(spec, tools, plan, box))
        self._recorder = recorder
        self._in_process = _Session(name, spec, tools, recorder, box)

    async def connect(self) -> None:
        self._recorder.add("server_asked", server=self.name, op="connect")
        self.session: Any = self._in_process

    async def cleanup(self) -> None:
        self._recorder.add("server_asked", server=self.name, op="cleanup")
        self.session = None


class _Session:
    """What stands where a client of the protocol would be."""

    def __init__(self, name: str, spec: McpServer, tools: dict[str, Tool], recorder: Recorder,
                 box: Toolbox) -> None:
        self._name = name
        self._spec = spec
        self._tools = tools
        self._recorder = recorder
        self._does = {tool: box.behaviour(tool, declared, name)
                      for tool, declared in tools.items()}
        self._requests = 0

    async def list_tools(self, *_: Any, **__: Any) -> Any:
        self._requests += 1
        spec = self._spec
        failure = None
        if spec.unlisted is not None and self._requests >= spec.unlisted_from:
            failure = ServerFailure(spec.unlisted)
        self._recorder.add("server_asked", server=self._name, op="list",
                           tools=() if failure else spec.tools,
                           error=normal.error(failure) if failure else {})
        if failure is not None:
            raise failure
        return protocol("ListToolsResult", tools=[
            {"name": name, "description": tool.description or f"The tool {name}.",
             "inputSchema": _schema(tool)} for name, tool in self._tools.items()])

    async def call_tool(self, name: str, arguments: Any, *_: Any, **__: Any) -> Any:
        call, text = _CALL.get() or compat.span_call()
        reached = text if _stands_for(text, arguments) else json.dumps(arguments)
        try:
            output = await self._does[name](
                call, reached, declared_arguments(self._tools[name], reached))
        except ToolFailure as failure:
            if self._spec.fails_by == "result":
                return _result(str(failure), is_error=True)
            if self._spec.fails_by == "protocol":
                raise _protocol_error(str(failure)) from failure
            raise
        return _result(output, is_error=False)


def agent_config(plan: Plan, agent: str) -> dict[str, Any]:
    """What the ``mcp_config`` of an agent says of the failures of its servers' tools."""
    servers = [plan.mcp[name] for name in plan.agents[agent].mcp]
    for spec in servers:
        tool = plan.tools[spec.tools[0]]
        if spec.failure_at == "agent" and tool.failure != "default":
            return {"failure_error_function": _on_failure(tool)}
        if spec.failure_at == "server_not_agent":
            opposite = None if tool.failure != "raise" else _opposite
            return {"failure_error_function": opposite}
    return {}


def protocol(kind: str, **fields: Any) -> Any:
    """An object of the protocol, which knows its fields by their names in JSON.

    The second major version of the mcp package moved the classes.
    """
    try:
        types = importlib.import_module("mcp.types")
    except ImportError:
        types = importlib.import_module("mcp_types")
    return getattr(types, kind).model_validate(fields)


def _options(spec: McpServer, tools: dict[str, Tool], plan: Plan, box: Toolbox) -> dict[str, Any]:
    """Options of the SDK's class beyond those that it has had from the beginning."""
    first = tools[spec.tools[0]]
    options: dict[str, Any] = {}
    if compat.tells_servers():
        options["tool_meta_resolver"] = _note_call
    if spec.filters:
        options["tool_filter"] = agents.mcp.create_static_tool_filter(
            allowed_tool_names=None if spec.allow is None else list(spec.allow),
            blocked_tool_names=list(spec.block) or None)
    waits = {name: "always" if tool.needs_approval else "never" for name, tool in tools.items()}
    if "always" in waits.values():
        options["require_approval"] = waits if "never" in waits.values() else "always"
    if spec.failure_at != "agent" and (
            first.failure != "default" or spec.failure_at == "server_not_agent"):
        options["failure_error_function"] = _on_failure(first)
    for kind in ("input", "output"):
        names = getattr(first, f"{kind}_guardrails")
        if names:
            options[f"tool_{kind}_guardrails"] = [
                box.tool_guardrail(name, plan.tool_guardrails[name]) for name in names]
    return options


def _note_call(context: Any) -> None:
    """Stands where a user resolves metadata of a call, and gives none."""
    _CALL.set(compat.tool_call(context.run_context))


def _on_failure(tool: Tool) -> Callable[..., Any] | None:
    """The ``failure_error_function`` that a tool's declared failure stands for."""
    if tool.failure == "raise":
        return None
    if tool.failure == "text":
        return lambda _ctx, _exc: tool.failure_text or ""
    default: Callable[..., Any] = importlib.import_module("agents.tool").default_tool_error_function
    return default


def _opposite(ctx: Any, exc: Exception) -> str:
    return "The agent says otherwise."


def _schema(tool: Tool) -> dict[str, Any]:
    properties = {}
    for name in tool.order:
        param = tool.parameters[name]
        properties[name] = dict(_SCHEMAS[param.type])
        if param.description is not None:
            properties[name]["description"] = param.description
        if param.default is not None:
            properties[name]["default"] = json.loads(param.default)
    required = [name for name in tool.order if tool.parameters[name].default is None]
    return {"type": "object", "properties": properties, "required": required}


def _stands_for(text: str, arguments: Any) -> bool:
    """Whether the model's text says what the server was given."""
    try:
        said = json.loads(text or "{}")
    except ValueError:
        return False
    return json.dumps(said, sort_keys=True) == json.dumps(arguments, sort_keys=True)


def _result(text: str, *, is_error: bool) -> Any:
    return protocol("CallToolResult", content=[{"type": "text", "text": text}], isError=is_error)


def _protocol_error(message: str) -> Exception:
    """An error of the protocol, ``McpError`` in the first major version of the mcp package."""
    errors = importlib.import_module("mcp.shared.exceptions")
    made: Exception
    if hasattr(errors, "MCPError"):
        made = errors.MCPError(code=-32000, message=message)
    else:
        made = errors.McpError(protocol("ErrorData", code=-32000, message=message))
    return made
