"""A call of an MCP tool reaches the server that offered it, and no run ends the connection.

"The SDK still invokes the original MCP tool name on the original server."
(https://openai.github.io/openai-agents-python/mcp/#agent-level-mcp-configuration) "Each MCP server
supports tool filters so that you can expose only the functions that your agent needs."
(#tool-filtering) MCPServer.connect: "The server is expected to remain connected until cleanup() is
called" (https://openai.github.io/openai-agents-python/ref/mcp/server/), and it is the user who
connects and cleans up.

The server is that of the agent whose model made the call. That a call reaches it once and with the
model's arguments is the promise of `exactly_once` and of `tool_arguments`, which judge tools of
servers as well. Judged are calls whose id stands for one call only.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import plain_calls
from agentrunproof.contracts.reading import lineage
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        made = {call.key: call for call in plain_calls(plan, seen, lineage(plan, seen, run))}
        for event in run.of("tool_started"):
            call = made.get((event["parent"], event["call"]))
            if call is None or not event["server"]:
                continue
            due = plan.server_of(call.agent, call.name)
            if due is None:
                yield Violation("UNOFFERED_CALL", run.where, f"call {call.id} of {call.name} "
                                f"reached {event['server']}, which does not offer it to "
                                f"{call.agent}")
            elif event["server"] != due:
                yield Violation("ANOTHER_SERVER", run.where, f"call {call.id} of {call.agent} "
                                f"reached {event['server']}, and {due} offered {call.name}")
        for event in run.of("server_asked"):
            if event["op"] == "cleanup":
                yield Violation("CONNECTION_ENDED", run.where,
                                f"the run cleaned up {event['server']}")


CONTRACT = Contract(
    name="mcp_call",
    promise="A call of an MCP tool reaches the server that offered it, which stays connected.",
    source="https://openai.github.io/openai-agents-python/mcp/"
           "#agent-level-mcp-configuration",
    codes={
        "ANOTHER_SERVER": "a call reached another server than the one that offered the tool",
        "UNOFFERED_CALL": "a call reached a server though its agent is not offered the tool",
        "CONNECTION_ENDED": "a run ended the connection of a server",
    },
    applies=lambda plan, seen: bool(plan.mcp),
    violations=_violations,
)
