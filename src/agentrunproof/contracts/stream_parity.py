"""Streaming changes how a run is watched, not what it does.

Runner.run_sync() "is a sync method and just runs .run() under the hood"; Runner.run_streamed()
"calls the LLM in streaming mode, and streams those events to you as they are received"; "Once the
stream is done, the RunResultStreaming will contain the complete information about the run."
(https://openai.github.io/openai-agents-python/running_agents/) RunResult and RunResultStreaming
share RunResultBase (https://openai.github.io/openai-agents-python/results/). Issues where the ways
differed: openai-agents-python#595, #1843, #4071, #4097, #4223.

Every mode is held against the plan's first one, exceptions and their run data included, but for
what the scheduler may choose (`contracts.parity`). Not compared are runs in which a model call is
tried again that failed when its stream had told something, for that stream is not. A plan that
cancels a stream has no other mode. Where `Runner.run_streamed` itself raises, before there is a
stream, its exception need not have run data: "run_data can be None when an exception is raised
outside a runner-managed execution path"
(https://openai.github.io/openai-agents-python/guardrails/#tripwires).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.parity import COMPARED, differences
from agentrunproof.contracts.reading import so_far, told_too_much
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

#: Aspects of a run that raised which only the run data of its exception tell.
_RUN_DATA = ("ERROR_DATA_DIFFERS", "USAGES_DIFFER")


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    base = seen.modes[0]
    for run in seen.runs:
        other = seen.run(base, run.phase)
        if run.mode == base or other is None or any(
                _tried_otherwise(plan, before) for before in so_far(seen, run)):
            continue
        unmanaged = _never_streamed(run) or _never_streamed(other)
        for code in differences(plan, run, other, _RUN_DATA if unmanaged else ()):
            yield Violation(code, run.where, f"not as in {other.where}: {COMPARED[code]}")


def _tried_otherwise(plan: Plan, run: PhaseRun) -> bool:
    """Whether a failed model call of the run is tried again unless it is streamed."""
    return plan.run.retries is not None and any(
        told_too_much(plan, run, event["agent"]) for event in run.of("model_failed"))


def _never_streamed(run: PhaseRun) -> bool:
    """Whether the call that was to give a stream raised; a stream tells guardrails without data."""
    raised = run.last("raised")
    return (run.mode == "run_streamed" and raised is not None
            and raised["new_items"] is None and raised["guardrails"] is None)


CONTRACT = Contract(
    name="stream_parity",
    promise="A run does the same whether it is streamed, awaited or synchronous.",
    source="https://openai.github.io/openai-agents-python/running_agents/",
    codes={code: f"modes differ in {what}" for code, what in COMPARED.items()},
    applies=lambda plan, seen: len(seen.modes) > 1,
    violations=_violations,
)
