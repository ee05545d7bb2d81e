"""When a run has ended, no task of it is still pending.

``is_complete``: "Whether the agent has finished running."
(https://openai.github.io/openai-agents-python/ref/result/#agents.result.RunResultStreaming) A
run that has ended, whatever way, must not go on having effects. Issues where a sibling task was
left behind: openai-agents-python#3187, #4004, #4005, #4185.

A run that the worker had to stop at its deadline is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        if run.outcome != "timeout":
            for event in run.of("task_leaked"):
                yield Violation("TASK_LEAKED", run.where,
                                f"{event['name']} was still pending after the run")


CONTRACT = Contract(
    name="task_cleanup",
    promise="No task of a run outlives it.",
    source="https://github.com/openai/openai-agents-python/pull/4185",
    codes={"TASK_LEAKED": "a task of the run was still pending after it ended"},
    applies=lambda plan, seen: True,
    violations=_violations,
)
