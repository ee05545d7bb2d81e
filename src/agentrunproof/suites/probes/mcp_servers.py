"""Tools of an MCP server that lives in this process."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from typing import Any

import agents
from agents import Agent
from agents.mcp import MCPServer

from agentrunproof.sdk.calls import Lacking
from agentrunproof.sdk.servers import protocol
from agentrunproof.suites.probes import kit


def _tool(name: str) -> Any:
    return protocol("Tool", name=name, description="", inputSchema={"type": "object"})


class _Server(MCPServer):
    """A server with one tool, `look`.

    Args:
        answer: gives the parts of its result.
        name: of the server.
        options: of the SDK's class.
    """

    def __init__(self, answer: Callable[[], list[Any]] = list, name: str = "server",
                 **options: Any) -> None:
        super().__init__(**options)
        self._answer = answer
        self._name = name
        self.tool = _tool("look")
        self.tools = [self.tool]
        self.asked: list[Any] = []

    @property
    def name(self) -> str:
        return self._name

    async def connect(self) -> None:
        pass

    async def cleanup(self) -> None:
        pass

    async def list_tools(self, *_: Any, **__: Any) -> Any:
        return [*self.tools]

    async def call_tool(self, tool_name: str, arguments: Any, *_: Any, **__: Any) -> Any:
        self.asked.append(arguments)
        return protocol("CallToolResult", content=self._answer(), isError=False)

    async def list_prompts(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def get_prompt(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


async def _run(server: _Server, arguments: str = "{}") -> tuple[str, Any]:
    """Final output of a run that calls the tool, and what the model is told of the result."""
    model = kit.model([kit.calls("look", arguments=arguments)], kit.says("done"))
    result = await kit.run(Agent(name="clerk", model=model, mcp_servers=[server]))
    return result.final_output, kit.outputs(model.calls[1].input)[0]


async def cancels_itself() -> str:
    """How a run ends whose server ends a call by cancelling itself."""
    def cancelled() -> list[Any]:
        raise asyncio.CancelledError

    running = asyncio.ensure_future(_run(_Server(cancelled)))
    await asyncio.wait({running})
    return "cancelled" if running.cancelled() else running.result()[0]


async def schema_of_the_server() -> Any:
    """The schema that a server owns, after a run that offers its tool."""
    server = _Server()
    await _run(server)
    schema = server.tool.model_dump(by_alias=True)["inputSchema"]
    return copy.deepcopy(schema)


async def arguments_that_are_no_object() -> list[Any]:
    """What reaches a server of arguments that are JSON, but no object."""
    server = _Server()
    for arguments in ("[1]", '"x"', "3"):
        await _run(server, arguments)
    return server.asked


async def resource_in_a_result() -> bool:
    """Whether the model is told of an embedded resource as JSON."""
    part = protocol("EmbeddedResource", type="resource",
                 resource={"uri": "file:///a", "text": "it's"})
    _, told = await _run(_Server(lambda: [part]))
    if isinstance(told, list):
        told = told[0]
    text = told if isinstance(told, str) else told.get("text", "")
    try:
        return "it's" in json.dumps(json.loads(text))
    except ValueError:
        return False

async def offered() -> list[list[str]]:
    """Names of the tools that the model is offered in two runs, between which one is added."""
    server = _Server()
    seen = []
    for _ in range(2):
        model = kit.model(kit.says("done"))
        await kit.run(Agent(name="clerk", model=model, mcp_servers=[server]))
        seen.append(sorted(tool.name for tool in model.calls[0].tools))
        server.tools.append(_tool("find"))
    return seen


async def listed(cached: bool) -> list[int]:
    """How often a server has been asked for its tools after each of two runs.

    A third figure is that after a run before which its cache was declared invalid.
    """
    from agents.mcp import MCPServerStdio

    server = MCPServerStdio(params={"command": "none"}, cache_tools_list=cached)
    counts = [0]

    class Session:
        async def list_tools(self, *_: Any, **__: Any) -> Any:
            counts[-1] += 1
            return protocol("ListToolsResult", tools=[_tool("look").model_dump(by_alias=True)])

    server.session = Session()  # type: ignore[assignment]
    for n in range(3):
        if n == 2:
            server.invalidate_tools_cache()  # type: ignore[no-untyped-call]
        await kit.run(Agent(name="clerk", model=kit.model(kit.says("done")),
                            mcp_servers=[server]))
        counts.append(counts[-1])
    return counts[:3]


async def called() -> dict[str, Any]:
    """What reaches a server of two calls at once, and what the model is told of each."""
    server = _Server(lambda: [protocol("TextContent", type="text", text="3 left")])
    model = kit.model([kit.calls("look", "call-1", of="tea"), kit.calls("look", "call-2", n=2)],
                      kit.says("done"))
    await kit.run(Agent(name="clerk", model=model, mcp_servers=[server]))
    told = kit.outputs(model.calls[1].input)
    return {"asked": server.asked, "told": ["3 left" in json.dumps(output) for output in told]}


async def failing(raises: bool = False) -> dict[str, Any]:
    """How a run ends whose server fails, and how many outputs the model is told.

    Args:
        raises: the agent wants failures of its servers to be raised.
    """
    def fails() -> list[Any]:
        raise RuntimeError("no tea today")

    kit.need(MCPServer.__init__, "failure_error_function")
    server = _Server(fails)
    config: Any = {"failure_error_function": None} if raises else {}
    model = kit.model(kit.calls("look"), kit.says("done"))
    agent = Agent(name="clerk", model=model, mcp_servers=[server], mcp_config=config)
    try:
        result = await kit.run(agent)
    except Exception as error:
        return {"raised": "no tea today" in str(error), "asked": len(server.asked)}
    return {"ended": result.final_output, "told": len(kit.outputs(model.calls[1].input)),
            "asked": len(server.asked)}


async def same_name_on_two_servers() -> dict[str, Any]:
    """Whose tool is called where two servers have one of the same name, told apart by prefix."""
    kit.need(Agent, "mcp_config")
    servers = [_Server(name=name) for name in ("first", "second")]
    model = kit.model(kit.says("done"))
    config: Any = {"include_server_in_tool_names": True}
    agent = Agent(name="clerk", model=model, mcp_servers=[*servers], mcp_config=config)
    try:
        await kit.run(agent)
    except agents.UserError as error:
        raise Lacking("the release has no prefix of servers") from error
    names = [tool.name for tool in model.calls[0].tools]
    agent.model = kit.model(kit.calls(next(name for name in names if "second" in name)),
                            kit.says("done"))
    await kit.run(agent)
    return {"names": len(set(names)), "asked": [len(server.asked) for server in servers]}


async def approved() -> list[int]:
    """How often a server was called before and after its tool was approved."""
    kit.need(MCPServer.__init__, "require_approval")
    server = _Server(require_approval="always")
    model = kit.model(kit.calls("look"), kit.says("done"))
    agent = Agent(name="clerk", model=model, mcp_servers=[server])
    result = await kit.run(agent)
    before = len(server.asked)
    state = result.to_state()
    state.approve(state.get_interruptions()[0])
    await kit.run(agent, state)
    return [before, len(server.asked)]


async def after_cleanup() -> dict[str, int]:
    """How many servers a manager calls active while it is open, and afterwards."""
    from agents.mcp import MCPServerManager

    manager = MCPServerManager([_Server()])
    async with manager:
        during = len(manager.active_servers)
    return {"during": during, "after": len(manager.active_servers)}
