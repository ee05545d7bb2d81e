"""A tripwire is told by the exception of its kind, and such an exception tells of a tripwire.

"InputGuardrailTripwireTriggered is raised when an input guardrail's conditions are met, and
OutputGuardrailTripwireTriggered is raised when an output guardrail's conditions are met."
(https://openai.github.io/openai-agents-python/running_agents/#exceptions)
"ToolInputGuardrailTripwireTriggered: Exception raised when a tool input guardrail tripwire is
triggered"; "ToolOutputGuardrailTripwireTriggered: Exception raised when a tool output guardrail
tripwire is triggered"; "ToolTimeoutError: Exception raised when a function tool invocation exceeds
its timeout." (https://openai.github.io/openai-agents-python/ref/exceptions/) See also
openai-agents-python#1730.

Which one is raised is judged where nothing else went wrong in the run beside it. That something
is raised at all is the promise of `guardrail_before_effect`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_EXCEPTIONS = {
    "input": "InputGuardrailTripwireTriggered",
    "output": "OutputGuardrailTripwireTriggered",
    "tool_input": "ToolInputGuardrailTripwireTriggered",
    "tool_output": "ToolOutputGuardrailTripwireTriggered",
}
_TIMEOUT = "ToolTimeoutError"


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        raised = run.last("raised")
        if raised is None:
            continue
        error = str(raised["error"].get("type"))
        founded = {_EXCEPTIONS.get(check["stage"], "") for check in _tripped(run)}
        if _timed_out(plan, run):
            founded.add(_TIMEOUT)
        if error in (*_EXCEPTIONS.values(), _TIMEOUT) and error not in founded:
            yield Violation("TRIPWIRE_UNFOUNDED", run.where, f"{error} was raised, and nothing "
                            "had triggered it")
        due = {_EXCEPTIONS.get(check["stage"], "") for check in _tripped(run)
               if not check["parent"]}
        if due and error not in founded and not _otherwise_failed(plan, run, error):
            yield Violation("TRIPWIRE_DISGUISED", run.where,
                            f"{error} was raised where {words(sorted(due))} was due")


def _tripped(run: PhaseRun) -> list[Event]:
    """Checks that must end the run in which they are made with an exception."""
    return [check for check in run.of("guardrail_checked") if check["tripped"]
            and not check["error"] and check["behavior"] in ("", "raise_exception")]


def _timed_out(plan: Plan, run: PhaseRun) -> bool:
    """Whether some tool that was started may have run out of time."""
    return any(event["tool"] in plan.tools and plan.tools[event["tool"]].timeout is not None
               for event in run.of("tool_started"))


def _otherwise_failed(plan: Plan, run: PhaseRun, error: str) -> bool:
    """Whether something else than a tripwire may have ended the run with this exception."""
    filters = plan.run.input_filter
    unfit = filters is not None and filters.malformed and error == "UserError"
    return (unfit or (error == "ModelBehaviorError" and _answered_before(run))
            or error in ("HookFailure", "HandoffFailure", "FilterFailure", "CancelledError")
            or bool(run.of("model_failed", "tool_failed", "tool_cancelled", "session_failed"))
            or any(check["error"] for check in run.of("guardrail_checked")))


def _answered_before(run: PhaseRun) -> bool:
    """Whether a model had answered when the first guardrail tripped: its calls may be unfit."""
    for event in run.of("model_responded", "guardrail_checked"):
        if event["kind"] == "model_responded" or event["tripped"]:
            return bool(event["kind"] == "model_responded")
    return False


def _applies(plan: Plan, seen: Observation) -> bool:
    return any(_tripped(run) or raised["error"].get("type") in (*_EXCEPTIONS.values(), _TIMEOUT)
               for run in seen.runs for raised in run.of("raised"))


CONTRACT = Contract(
    name="tripwire_exception",
    promise="A tripwire raises the exception of its kind, which is raised for nothing else.",
    source="https://openai.github.io/openai-agents-python/running_agents/#exceptions",
    codes={
        "TRIPWIRE_UNFOUNDED": "the exception of a tripwire or timeout was raised without one",
        "TRIPWIRE_DISGUISED": "a tripwire was triggered, and another exception was raised",
    },
    applies=_applies,
    violations=_violations,
)
