"""What fails a run is what the run raises.

"failure_error_function: If provided, use this function to generate an error message when the tool
call fails. The error message is sent to the LLM. If you pass None, then no error message will be
sent and instead an Exception will be raised" (agents.tool.function_tool); as_tool: "If None, the
exception is raised instead" (https://openai.github.io/openai-agents-python/ref/agent/). Of a
model, a guardrail, a hook, a filter or the callback of a handoff no other end is documented;
issues where the failure was lost or its place taken: openai-agents-python#2131, #2758, #3281, and
with a cancellation from within #2762.

The SDK wraps what a tool raised in an exception of its own that tells its message. A failure that
is no ``Exception`` may end the run under its own name. Where several things failed, any of them may
be raised, a call included whose arguments its tool could not take. Judged are failures of the
outermost run, of a hook in the first phase that meets it, and of an MCP server that is asked for
its tools. A model that is tried again fails with the last try.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.model_timeout import timeout
from agentrunproof.contracts.reading import CUT_SHORT, FAILURE_TYPES, handoffs_of, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Failure = dict[str, Any]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run, failures in _failed(plan, seen):
        names = words(dict.fromkeys(failure["type"] for failure in failures))
        raised = run.last("raised")
        if run.outcome != "raised" or raised is None:
            yield Violation("FAILURE_SWALLOWED", run.where,
                            f"{names} was raised within the run, which ended {run.outcome}")
        elif not any(_tells(raised["error"], failure) for failure in failures) and not (
                _tripped(run) or _refused_call(plan, run, raised["error"])):
            yield Violation("FAILURE_REPLACED", run.where, f"{names} was raised within the run, "
                            f"which raised {raised['error'].get('type')}")


def _failed(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, list[Failure]]]:
    """Runs with what had to end them."""
    for mode in seen.modes:
        heard: set[str] = set()
        for run in seen.in_mode(mode):
            failures = [*_models(plan, run), *_checks(run), *_tools(plan, run),
                        *_handoffs(plan, run)]
            failures += [event["error"] for event in _outermost(
                run, "input_filtered", "server_asked")
                         if event["error"]]
            failures += [event["error"] for event in run.of("session_failed")]
            for event in run.of("hook"):
                if event["scope"] == "run" and event["on"] not in heard:
                    heard.add(event["on"])
                    failures += [] if event["parent"] else _hook(plan, event["on"])
            if failures and run.outcome not in CUT_SHORT:
                yield run, failures


def _hook(plan: Plan, name: str) -> list[Failure]:
    """What the plan lets this hook of the run raise the first time."""
    error = plan.run.hook_error
    if error is None or error.on != name:
        return []
    return [{"type": "CancelledError", "message": ""} if error.cancel else
            {"type": "HookFailure", "message": error.message}]


def _outermost(run: PhaseRun, *kinds: str) -> list[Event]:
    return [event for event in run.of(*kinds) if not event["parent"]]


def _models(plan: Plan, run: PhaseRun) -> list[Failure]:
    """The failure of the last model call to end, if it failed.

    One that is stopped at its timeout is cancelled, which the run raises as a timeout.
    """
    return [event["error"] for event in _outermost(run, "model_responded", "model_failed")[-1:]
            if event["kind"] == "model_failed" and not (
                event["error"].get("type") == "CancelledError" and timeout(plan, event["agent"]))]


def _checks(run: PhaseRun) -> list[Failure]:
    return [event["error"] for event in _outermost(run, "guardrail_checked") if event["error"]]


def _tools(plan: Plan, run: PhaseRun) -> list[Failure]:
    return [event["error"] for event in _outermost(run, "tool_failed")
            if event["tool"] in plan.tools and plan.tools[event["tool"]].failure == "raise"]


def _handoffs(plan: Plan, run: PhaseRun) -> list[Failure]:
    errors = []
    for event in _outermost(run, "handoff"):
        declared = [plan.handoffs[name] for name in handoffs_of(plan, event["from"])
                    if name in plan.handoffs and plan.handoffs[name].to == event["to"]]
        errors += [{"type": "HandoffFailure", "message": handoff.error} for handoff in declared
                   if handoff.error is not None]
    return errors


def _tells(raised: Failure, failure: Failure) -> bool:
    """Whether what was raised is this failure, or the SDK's word for a tool's that tells it."""
    message = str(failure.get("message", ""))
    if raised.get("type") == failure["type"]:
        return str(raised.get("message", "")) == message
    told = str(raised.get("message", ""))
    # In a private record both are digests, and no digest tells another.
    return raised.get("type") in FAILURE_TYPES and (message in told or told.startswith("sha256:"))


def _refused_call(plan: Plan, run: PhaseRun, raised: Failure) -> bool:
    """Whether the run may have raised that a tool could not take the arguments of a call."""
    started = {event["call"] for event in _outermost(run, "tool_started")}
    return raised.get("type") == "ModelBehaviorError" and any(
        item.get("name") in plan.tools and plan.tools[item["name"]].failure == "raise"
        and item.get("call_id") not in started
        for event in _outermost(run, "model_responded") for item in event["output"])


def _tripped(run: PhaseRun) -> bool:
    """Whether a tripwire may have ended the run before the failure did."""
    return any(check["tripped"] and check["behavior"] in ("", "raise_exception")
               for check in run.of("guardrail_checked"))


CONTRACT = Contract(
    name="failure_raised",
    promise="An exception of a model, guardrail, hook, handoff or tool is what the run raises.",
    source="https://openai.github.io/openai-agents-python/ref/tool/",
    codes={
        "FAILURE_SWALLOWED": "something failed the run, which ended without an exception",
        "FAILURE_REPLACED": "something failed the run, which raised another exception",
    },
    applies=lambda plan, seen: any(True for _ in _failed(plan, seen)),
    violations=_violations,
)
