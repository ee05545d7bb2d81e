"""A tool has the time that was declared for it, and no more.

"When a timeout is reached, the default behavior is timeout_behavior="error_as_result", which sends
a model-visible timeout message (for example, Tool 'slow_lookup' timed out after 2 seconds.)";
"timeout_error_function: customize the timeout message when using error_as_result.";
"timeout_behavior="raise_exception": raise ToolTimeoutError and fail the run."
(https://openai.github.io/openai-agents-python/tools/#function-tool-timeouts)

The declared `delay` of a tool and its `timeout` are seconds of one virtual clock, so which of them
comes first is no matter of chance; a tool that waits for a gate or for as long as its timeout is
not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import (
    Call,
    offered,
    plain_calls,
    rejected,
    tells_all,
    told,
)
from agentrunproof.contracts.reading import is_covered, lineage
from agentrunproof.plan.model import Plan, Tool
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_MESSAGE = "timed out after"


def _timed(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Call, Tool, bool]]:
    """Calls that were started of tools with a timeout, and whether they must reach it."""
    for run in seen.runs:
        made = {call.key: call for call in plain_calls(plan, seen, lineage(plan, seen, run))}
        for event in run.of("tool_started"):
            call = made.get((event["parent"], event["call"]))
            tool = None if call is None else offered(plan, call)
            late = None if tool is None else _late(tool)
            if call is not None and tool is not None and late is not None:
                yield run, call, tool, late


def _late(tool: Tool) -> bool | None:
    """Whether each invocation takes longer than the timeout; None where it cannot be told."""
    hanging = {outcome.hang for outcome in tool.outcomes}
    delay, timeout = Decimal(tool.delay or "0"), Decimal(tool.timeout or "0")
    if tool.timeout is None or tool.after is not None or delay == timeout:
        return None
    if delay > timeout:
        return True
    return hanging.pop() if len(hanging) == 1 else None


def _violations(plan: Plan, seen: Observation) -> Found:
    for run, call, tool, late in _timed(plan, seen):
        texts = told(run, call)
        raised = run.last("raised")
        error = raised["error"] if raised is not None else {}
        ended = error.get("type") == "ToolTimeoutError" and f"'{call.name}'" in (
            error.get("message", ""))
        if late:
            yield from _reached(plan, run, call, tool, texts, ended)
        elif ended or any(_message(tool) in text for text in texts):
            yield Violation("TIMEOUT_EARLY", run.where, f"{call.name} timed out for call "
                            f"{call.id}, before its time was over")


def _message(tool: Tool) -> str:
    """What is told of a timeout, or a part of it."""
    return _MESSAGE if tool.timeout_text is None else tool.timeout_text


def _may_tell(tool: Tool, text: str) -> bool:
    """Whether a text says that the tool timed out; a covered one of the SDK's may."""
    return _message(tool) in text or (tool.timeout_text is None and is_covered(text))


def _reached(plan: Plan, run: PhaseRun, call: Call, tool: Tool, texts: list[str],
             ended: bool) -> Found:
    done = any((event["parent"], event["call"]) == call.key for event in run.of("tool_finished"))
    if done or run.outcome == "timeout":
        yield Violation("TIMEOUT_IGNORED", run.where, f"{call.name} took longer than "
                        f"{tool.timeout} seconds for call {call.id}, and was let go on")
    elif tool.timeout_behavior == "raise_exception":
        if run.outcome in ("completed", "interrupted") and not call.parent:
            yield Violation("TIMEOUT_NOT_RAISED", run.where, f"{call.name} timed out for call "
                            f"{call.id}, and the run ended {run.outcome}")
    elif ended:
        yield Violation("TIMEOUT_ENDED_RUN", run.where, f"{call.name} timed out for call "
                        f"{call.id}, which the model is to be told, and the run raised")
    elif tells_all(plan, run) and not rejected((run,), call) and not any(
            _may_tell(tool, text) for text in texts):
        yield Violation("TIMEOUT_UNTOLD", run.where, f"{call.name} timed out for call {call.id}, "
                        "which its output does not say")


CONTRACT = Contract(
    name="tool_timeout",
    promise="A tool is stopped at its timeout and not before, which is told or raised.",
    source="https://openai.github.io/openai-agents-python/tools/#function-tool-timeouts",
    codes={
        "TIMEOUT_IGNORED": "a tool went on after its timeout",
        "TIMEOUT_EARLY": "a tool timed out before its time was over",
        "TIMEOUT_NOT_RAISED": "a timeout that is to be raised did not end the run",
        "TIMEOUT_ENDED_RUN": "a timeout that the model is to be told ended the run",
        "TIMEOUT_UNTOLD": "a tool timed out, and its output does not say so",
    },
    applies=lambda plan, seen: any(_timed(plan, seen)),
    violations=_violations,
)
