"""What a guardrail stops does not happen.

"run_in_parallel: Whether the guardrail runs concurrently with the agent (True, default) or before
the agent starts (False)" (agents.guardrail.InputGuardrail). "If true, an
InputGuardrailTripwireTriggered exception is raised"; the same for output guardrails; "Input tool
guardrails run before the tool executes and can skip the call, replace the output with a message, or
raise a tripwire." (https://openai.github.io/openai-agents-python/guardrails/) A guardrail beside
the agent that has tripped before the model answers lets no tool of that answer start
(openai-agents-python#2688), and before the model is asked, no call of it: "The runner immediately
raises an `InputGuardrailTripwireTriggered` or `OutputGuardrailTripwireTriggered` exception and
halts agent execution." This is judged where the plan's gates, or a delay before the model, force
that order.

A final output that an output guardrail refused must not be read from the session by the next run
(openai-agents-python#4184, #4412, #4507); this is judged by the words on which the guardrail trips.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT, Item, output_text
from agentrunproof.plan.items import item_text
from agentrunproof.plan.model import Guardrail, Phase, Plan
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
            if check["stage"] == "output" and check["tripped"]:
                yield from _stopped_output(plan, run, check)
        yield from _not_raised(run)


def _stopped_input(plan: Plan, run: PhaseRun, check: Event) -> Found:
    guardrail = plan.guardrails.get(check["guardrail"])
    if check["parent"] or guardrail is None:
        return
    called = [event for event in run.of("model_called") if not event["parent"]]
    started = [event for event in run.of("tool_started") if not event["parent"]]
    if called and (guardrail.blocking or _decides_before_the_model(plan, guardrail)):
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


def _stopped_output(plan: Plan, run: PhaseRun, check: Event) -> Found:
    guardrail = plan.guardrails.get(check["guardrail"])
    observed = [event for event in run.of("session_read") if event["op"] == "observe"]
    if check["parent"] or guardrail is None or guardrail.trips_on is None or not observed:
        return
    refused = _final_output(plan, run)
    for item in observed[-1]["items"]:
        text = output_text(item) if "output" in item else item_text(item)
        if guardrail.trips_on in text and refused(item):
            yield Violation("REFUSED_OUTPUT_STORED", run.where, "the session holds what "
                            f"{check['guardrail']} refused")


def _final_output(plan: Plan, run: PhaseRun) -> Callable[[Item], bool]:
    """Which items of a session tell the final output of a run that ended with one.

    The message of the model's last answer, the message of an error handler, or the output of a
    tool at which the agent stopped.
    """
    answers = [event for event in run.of("model_responded") if not event["parent"]]
    answer = answers[-1]["output"] if answers else ()
    calls = {event["call"] for event in run.of("tool_finished") if not event["parent"]}
    asked = any(item.get("type") == "function_call" for item in answer)
    said = {item_text(item) for item in answer if item.get("type") == "message" and not asked}
    fallback = plan.run.on_max_turns
    if (asked or not answers) and fallback is None:
        return lambda item: item.get("call_id") in calls and "output" in item
    return lambda item: item.get("role") == "assistant" and item_text(item) in said | {fallback}


def _not_raised(run: PhaseRun) -> Found:
    """A tripwire of the outermost run ends it with an exception."""
    if run.outcome == "raised" or run.outcome in CUT_SHORT:
        return
    for check in run.of("guardrail_checked"):
        if check["tripped"] and not check["parent"] and (
                check["behavior"] in ("", "raise_exception")):
            yield Violation("TRIP_NOT_RAISED", run.where, f"{check['guardrail']} tripped, but the "
                            f"run ended {run.outcome} without an exception")


def _decides_before_the_model(plan: Plan, guardrail: Guardrail) -> bool:
    """Whether a hook before the first model call takes its time, and the guardrail none."""
    late = plan.run.hook_delay
    return (late is not None and late.on in ("on_agent_start", "on_llm_start")
            and guardrail.after is None and guardrail.delay is None)


def _answers_after(phase: Phase, gate: str | None) -> bool:
    """Whether the first model answer of the phase waits for this gate."""
    return gate is not None and any(steps and steps[0].after == gate
                                    for steps in phase.script.values())


CONTRACT = Contract(
    name="guardrail_before_effect",
    promise="What a guardrail stops does not happen: no model call, no tool, no result.",
    source="https://openai.github.io/openai-agents-python/guardrails/",
    codes={
        "MODEL_CALLED_AFTER_TRIP": "an input guardrail stopped the run before the model was "
                                   "called, and it was called",
        "TOOL_STARTED_AFTER_TRIP": "a tool was started after an input guardrail stopped the run",
        "REJECTED_TOOL_STARTED": "a tool was started for a call its input guardrail did not allow",
        "REFUSED_OUTPUT_STORED": "what an output guardrail refused is in the session",
        "TRIP_NOT_RAISED": "a tripwire was triggered and the run ended without an exception",
    },
    applies=lambda plan, seen: bool(plan.guardrails or plan.tool_guardrails),
    violations=_violations,
)
