"""MCP servers of a plan: objects in this process that offer some of its tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentrunproof.shape import Name, Positive


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """An MCP server that is an object in this process; only the transport is left out.

    What one of its tools does is declared under `tools`, where `failure` and the guardrails are
    the same for all tools of a server, because the SDK has them for the server.

    Args:
        tools: names of the tools it has, in the order in which it lists them.
        allow, block: the SDK's static tool filter; without `allow` all are.
        cached: the SDK keeps the list of tools (``cache_tools_list``).
        fails_by: how a declared error of a tool leaves the server: as any exception of the
            client, as an error of the protocol, or in a result that is marked as an error, which
            is told like any other.
        failure_at: where the SDK is told what to make of a failure (``failure_error_function``):
            at the server, in ``Agent.mcp_config`` of the agents that have it, or at the server
            while the agents say the opposite.
        unlisted: message of the ``ServerFailure`` that it raises when it is asked for its tools.
        unlisted_from: the request for its tools from which on it does.
    """

    tools: tuple[Name, ...]
    allow: tuple[Name, ...] | None = None
    block: tuple[Name, ...] = ()
    cached: bool = False
    fails_by: Literal["exception", "protocol", "result"] = "exception"
    failure_at: Literal["server", "agent", "server_not_agent"] = "server"
    unlisted: str | None = None
    unlisted_from: Positive = 1

    @property
    def offered(self) -> tuple[str, ...]:
        """Its tools that pass the filter."""
        return tuple(name for name in self.tools if name not in self.block and (
            self.allow is None or name in self.allow))

    @property
    def filters(self) -> bool:
        """Whether it has a filter."""
        return self.allow is not None or bool(self.block)
