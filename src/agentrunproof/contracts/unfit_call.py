"""A call that no tool can take ends the run or is told to the model, and is never passed over.

"By default, if the model emits a function tool call that does not match any function tool available
to the current agent, the runner raises ModelBehaviorError."
(https://openai.github.io/openai-agents-python/running_agents/#tool_not_found_behavior) "In that
mode, the SDK appends a function_call_output for the unresolved tool call and runs the model again"
(same place; `Run.unknown_tools`). "By default
(i.e. if you don't pass anything), it runs a default_tool_error_function which tells the LLM an
error occurred. ... If you explicitly pass None, then any tool call errors will be re-raised for you
to handle. This could be a ModelBehaviorError if the model produced invalid JSON"
(https://openai.github.io/openai-agents-python/tools/#handling-errors-in-function-tools;
openai-agents-python#3166)

A call is malformed if its arguments are not JSON, or JSON but no object; what else a tool cannot
take is the validator's matter. A formatter of the run may word what is told. Calls in nested runs
are not judged, nor those that wait for a decision or were rejected. Where a guardrail of the tool
rejects, its message is told (`tool_output`).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import (
    Call,
    offered,
    plain_calls,
    rejected,
    speaks_of_error,
    tells_all,
    told,
)
from agentrunproof.contracts.reading import words
from agentrunproof.plan.items import is_object
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _unfit(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Call]]:
    for run in seen.runs:
        if run.outcome not in ("completed", "raised"):
            continue
        for call in plain_calls(plan, seen, (run,)):
            tool = offered(plan, call)
            unknown = call.name not in plan.tools
            malformed = tool is not None and tool.python is None and not tool.needs_approval and (
                not tool.input_guardrails and not is_object(call.arguments))
            if not call.parent and (unknown or malformed):
                yield run, call


def _violations(plan: Plan, seen: Observation) -> Found:
    tells = plan.run.unknown_tools == "tell"
    for run, call in _unfit(plan, seen):
        tool = plan.tools.get(call.name)
        completed = run.outcome == "completed"
        raised = run.last("raised")
        error = raised["error"] if raised is not None else {}
        if tool is None:
            if tells:
                yield from _unknown(plan, run, call, error)
            elif completed:
                yield Violation("UNKNOWN_TOOL_ACCEPTED", run.where, f"call {call.id} names "
                                f"{call.name}, which there is not, and the run completed")
        elif tool.failure == "raise":
            if completed:
                yield Violation("MALFORMED_NOT_RAISED", run.where, f"the arguments of call "
                                f"{call.id} are {call.arguments!r}, and the run completed")
        elif error.get("type") == "ModelBehaviorError" and (
                f"tool {call.name}" in error.get("message", "")):
            yield Violation("MALFORMED_ENDED_RUN", run.where, f"the arguments of call {call.id} "
                            f"are {call.arguments!r}, which the model is to be told, and the run "
                            "raised")
        elif not rejected((run,), call):
            yield from _told(plan, run, call, tool.failure_text)


def _unknown(plan: Plan, run: PhaseRun, call: Call, error: dict[str, str]) -> Found:
    """A call of an unknown tool that the model is to be told."""
    if error.get("type") == "ModelBehaviorError" and call.name in error.get("message", ""):
        yield Violation("UNKNOWN_TOOL_RAISED", run.where, f"call {call.id} names {call.name}, "
                        "which there is not, the model is to be told, and the run raised")
    said, text = told(run, call), plan.run.tool_error_text
    if (tells_all(plan, run) and not said) or (
            text is not None and any(found != text for found in said)):
        yield Violation("UNKNOWN_TOOL_UNTOLD", run.where, f"call {call.id} names {call.name}, "
                        f"which there is not, told is {words(said)}")


def _told(plan: Plan, run: PhaseRun, call: Call, text: str | None) -> Found:
    said = told(run, call)
    if tells_all(plan, run) and not said:
        yield Violation("MALFORMED_UNTOLD", run.where, f"the arguments of call {call.id} are "
                        f"{call.arguments!r}, and nothing is told of it")
    for found in said:
        other = found != text if text is not None else not speaks_of_error(found)
        if other and found != plan.run.tool_error_text:
            yield Violation("MALFORMED_UNTOLD", run.where, f"the arguments of call {call.id} are "
                            f"{call.arguments!r}, told is {found!r}")


CONTRACT = Contract(
    name="unfit_call",
    promise="A call that no tool can take is raised or told, as declared, and not passed over.",
    source="https://openai.github.io/openai-agents-python/tools/"
           "#handling-errors-in-function-tools",
    codes={
        "UNKNOWN_TOOL_ACCEPTED": "a run completed that called a tool which there is not",
        "UNKNOWN_TOOL_RAISED": "a call of an unknown tool that is to be told ended the run",
        "UNKNOWN_TOOL_UNTOLD": "a call of an unknown tool is not told, or in other words",
        "MALFORMED_NOT_RAISED": "malformed arguments that are to be raised did not end the run",
        "MALFORMED_ENDED_RUN": "malformed arguments that are to be told ended the run",
        "MALFORMED_UNTOLD": "arguments were malformed, and the call's output does not say so",
    },
    applies=lambda plan, seen: any(_unfit(plan, seen)),
    violations=_violations,
)
