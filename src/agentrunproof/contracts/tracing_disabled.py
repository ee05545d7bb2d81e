"""A run whose tracing is disabled leaves no trace.

"You can disable tracing for a single run by setting agents.run.RunConfig.tracing_disabled to True"
(https://openai.github.io/openai-agents-python/tracing/); "tracing_disabled: Whether tracing is
disabled for the agent run. If disabled, we will not trace the agent run" (agents.run.RunConfig).
Runs of agents as tools are part of the run that calls them.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import words
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        spans = run.of("span_started", "span_finished")
        if spans:
            types = dict.fromkeys(span["type"] for span in spans)
            yield Violation("SPAN_DESPITE_DISABLED", run.where, f"tracing is disabled, and "
                            f"{len(spans)} spans were recorded: {words(types)}")


CONTRACT = Contract(
    name="tracing_disabled",
    promise="A run with tracing disabled makes no trace and no span.",
    source="https://openai.github.io/openai-agents-python/tracing/",
    codes={"SPAN_DESPITE_DISABLED": "a span was recorded although tracing is disabled"},
    applies=lambda plan, seen: not plan.run.tracing and any(
        run.of("model_called") for run in seen.runs),
    violations=_violations,
)
