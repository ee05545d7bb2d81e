"""No more function tools are at work at once than the run allows, and one that waits gets its turn.

"max_function_tool_concurrency: Set an integer value to cap how many of those local function tool
calls run at once."; "This does not change provider-side parallel_tool_calls behavior."
(https://openai.github.io/openai-agents-python/running_agents/#tool_execution)

An event of a tool that starts tells how many others are at work then, where the plan sets a limit.
It holds for each run, so an agent tool's nested run counts for itself. That each call is executed
all the same is exactly_once's matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    limit = plan.run.max_tools_at_once
    for run in seen.runs:
        for event in run.of("tool_started"):
            if limit is not None and event["beside"] >= limit:
                yield Violation("TOO_MANY_AT_ONCE", run.where, f"{event['tool']} was started for "
                                f"call {event['call']} beside {event['beside']} others, "
                                f"{limit} may run at once")


CONTRACT = Contract(
    name="tool_concurrency",
    promise="No more tools are at work at once than the run allows.",
    source="https://openai.github.io/openai-agents-python/running_agents/#tool_execution",
    codes={"TOO_MANY_AT_ONCE": "a tool was started while as many were at work as may be"},
    applies=lambda plan, seen: plan.run.max_tools_at_once is not None and any(
        run.of("tool_started") for run in seen.runs),
    violations=_violations,
)
