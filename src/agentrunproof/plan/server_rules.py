"""Rules about MCP servers: what their tools can have, and who has which server."""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.plan.model import Agent, McpServer, Plan, Tool
from agentrunproof.plan.problem import Problem, names_problems, repeated
from agentrunproof.shape import encode

_OF_TOOL = {"description", "parameters", "order", "outcomes", "needs_approval", "failure",
            "failure_text", "delay", "after", "opens", "opens_done", "input_guardrails",
            "output_guardrails"}

#: What the SDK has for a server and a plan declares for its tools.
_SHARED = ("failure", "failure_text", "input_guardrails", "output_guardrails")


def server_problems(plan: Plan) -> Iterator[Problem]:
    """Problems of the servers, then of the agents that have them."""
    for name, server in plan.mcp.items():
        yield from _server_problems(plan, server, f"mcp.{name}")
    for name, agent in plan.agents.items():
        yield from _agent_problems(plan, agent, f"agents.{name}")
        yield from names_problems(f"agents.{name}.stop_at_tools", "tool of this agent",
                                  agent.stop_at_tools, plan.tools_of(name))


def _server_problems(plan: Plan, server: McpServer, place: str) -> Iterator[Problem]:
    if not server.tools:
        yield Problem("PLAN_EMPTY", f"{place}.tools", "a server has at least one tool")
    yield from names_problems(f"{place}.tools", "tool", server.tools, plan.tools)
    for key in ("allow", "block"):
        yield from names_problems(f"{place}.{key}", "tool of this server",
                                  getattr(server, key) or (), server.tools)
    for name in server.tools:
        yield from _tool_problems(plan.tools[name], f"tools.{name}")
    first = plan.tools[server.tools[0]]
    for name in server.tools:
        for key in _SHARED:
            if getattr(plan.tools[name], key) != getattr(first, key):
                yield Problem("PLAN_CONTRADICTION", f"tools.{name}.{key}",
                              f"differs from that of {server.tools[0]!r}, a tool of the same "
                              "server", "the SDK has it for a server as a whole")
    if server.fails_by == "result" and first.failure != "default":
        yield Problem("PLAN_CONTRADICTION", f"{place}.fails_by",
                      "the SDK sees no failure in a result", "drop the tools' failure")
    if server.unlisted is None and server.unlisted_from != 1:
        yield Problem("PLAN_CONTRADICTION", f"{place}.unlisted_from", "goes with unlisted")


def _tool_problems(tool: Tool, place: str) -> Iterator[Problem]:
    for key in sorted(encode(tool).keys() - _OF_TOOL):
        yield Problem("PLAN_CONTRADICTION", f"{place}.{key}",
                      "a tool of an MCP server has no such thing", "leave it out")
    for n, outcome in enumerate(tool.outcomes):
        if outcome.exit is not None:
            yield Problem("PLAN_CONTRADICTION", f"{place}.outcomes[{n}].exit",
                          "a server's tool does not end our interpreter", "leave it out")


def _agent_problems(plan: Plan, agent: Agent, place: str) -> Iterator[Problem]:
    yield from names_problems(f"{place}.mcp", "MCP server", agent.mcp, plan.mcp)
    for name in agent.tools:
        if name in plan.served:
            yield Problem("PLAN_CONTRADICTION", f"{place}.tools",
                          f"{name!r} is a tool of an MCP server", "write mcp = [\"SERVER\"]")
    servers = [plan.mcp[name] for name in agent.mcp]
    yield from repeated(f"{place}.mcp", (tool for server in servers for tool in server.offered),
                        "the tool")
    ways = {(server.failure_at, plan.tools[server.tools[0]].failure,
             plan.tools[server.tools[0]].failure_text)
            for server in servers}
    if len(ways) > 1 and any(at != "server" for at, *_ in ways):
        yield Problem("PLAN_CONTRADICTION", f"{place}.mcp",
                      "an agent says once what becomes of failures, and its servers differ",
                      "give them the same failure_at and failure")
