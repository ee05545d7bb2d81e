"""What a guardrail stops does not happen.

"run_in_parallel: Whether the guardrail runs concurrently with the agent (True, default) or before
the agent starts (False)" (agents.guardrail.InputGuardrail). "If true, an
InputGuardrailTripwireTriggered exception is raised"; the same for output guardrails; "Tool input
guardrails run before a tool is executed" and can skip the call or raise.
(https://openai.github.io/openai-agents-python/guardrails/) A guardrail beside the agent that has
tripped before the model answers lets no tool of that answer start (openai-agents-python#2688);
this is judged where the plan's gates force that order.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT
from agentrunproof.plan.model import Phase, Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        for check in run.of("guardrail_checked"):
            if check["stage"] == "input" and (check["tripped"] or check["error"]):
                yield from _stopped_input(plan, run, check)
            if check["stage"] == "tool_input" and check["behavior"] not in ("", "allow"):
                yield from _stopped_tool(run, check)
        yield from _not_raised(run)


def _stopped_input(plan: Plan, run: PhaseRun, check: Event) -> Found:
    guardrail = plan.guardrails.get(check["guardrail"])
    if check["parent"] or guardrail is None:
        return
    called = [event for event in run.of("model_called") if not event["parent"]]
    started = [event for event in run.of("tool_started") if not event["parent"]]
    if guardrail.blocking and called:
        yield Violation("MODEL_CALLED_AFTER_TRIP", run.where,
                        f"the model was called although {check['guardrail']} stopped the run")
    if started and (guardrail.blocking or _answers_after(plan.phase(run.phase), guardrail.opens)):
        yield Violation("TOOL_STARTED_AFTER_TRIP", run.where, f"{started[0]['tool']} was started "
                        f"although {check['guardrail']} stopped the run")


def _stopped_tool(run: PhaseRun, check: Event) -> Found:
    key = (check["parent"], check["call"])
    if any((event["parent"], event["call"]) == key for event in run.of("tool_started")):
        yield Violation("REJECTED_TOOL_STARTED", run.where, f"the tool was started for call "
                        f"{check['call']}, which {check['guardrail']} did not allow")


def _not_raised(run: PhaseRun) -> Found:
    """A tripwire of the outermost run ends it with an exception."""
    if run.outcome == "raised" or run.outcome in CUT_SHORT:
        return
    for check in run.of("guardrail_checked"):
        if check["tripped"] and not check["parent"] and (
                check["behavior"] in ("", "raise_exception")):
            yield Violation("TRIP_NOT_RAISED", run.where, f"{check['guardrail']} tripped, but the "
                            f"run ended {run.outcome} without an exception")


def _answers_after(phase: Phase, gate: str | None) -> bool:
    """Whether the first model answer of the phase waits for this gate."""
    return gate is not None and any(steps and steps[0].after == gate
                                    for steps in phase.script.values())


CONTRACT = Contract(
    name="guardrail_before_effect",
    promise="What a guardrail stops does not happen: no model call, no tool, no result.",
    source="https://openai.github.io/openai-agents-python/guardrails/",
    codes={
        "MODEL_CALLED_AFTER_TRIP": "a blocking input guardrail stopped the run, the model was "
                                   "called all the same",
        "TOOL_STARTED_AFTER_TRIP": "a tool was started after an input guardrail stopped the run",
        "REJECTED_TOOL_STARTED": "a tool was started for a call its input guardrail did not allow",
        "TRIP_NOT_RAISED": "a tripwire was triggered and the run ended without an exception",
    },
    applies=lambda plan, seen: bool(plan.guardrails or plan.tool_guardrails),
    violations=_violations,
)
