"""A tool's failure that the model is to be told is told, and in the declared words.

"By default (i.e. if you don't pass anything), it runs a default_tool_error_function which tells
the LLM an error occurred. If you pass your own error function, it runs that instead, and sends the
response to the LLM."
(https://openai.github.io/openai-agents-python/tools/#handling-errors-in-function-tools)

The default text is the SDK's own and has changed; it must speak of an error, or be that of the
run's formatter. What a nested run
fails with is its agent tool's to tell, and a failure that is to be raised is judged by
failure_raised. Where a guardrail of the tool rejects, its message is told (`tool_output`). An MCP
server that tells of a failure in a result has said all there is to be told.
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
from agentrunproof.contracts.reading import FAILURE_TYPES, lineage
from agentrunproof.plan.model import Plan, Tool
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _failed(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Event, Call, Tool]]:
    for run in seen.runs:
        made = {call.key: call for call in plain_calls(plan, seen, lineage(plan, seen, run))}
        for event in run.of("tool_failed"):
            call = made.get((event["parent"], event["call"]))
            tool = None if call is None else offered(plan, call)
            if call is not None and tool is not None and (
                    event["error"].get("type") == "ToolFailure" and tool.agent is None
                    and tool.failure != "raise"):
                yield run, event, call, tool


def _violations(plan: Plan, seen: Observation) -> Found:
    for run, event, call, tool in _failed(plan, seen):
        raised = run.last("raised")
        message = str(event["error"].get("message", ""))
        if raised is not None and not call.parent and message and (
                raised["error"].get("type") in FAILURE_TYPES
                and message in raised["error"].get("message", "")):
            yield Violation("FAILURE_ENDED_RUN", run.where, f"the tool of call {call.id} failed, "
                            "which the model is to be told, and the run raised "
                            f"{raised['error'].get('type')}")
        if not rejected((run,), call):
            server = plan.server_of(call.agent, call.name)
            in_words = server is not None and plan.mcp[server].fails_by == "result"
            yield from _told(plan, run, call, message if in_words else tool.failure_text)


def _told(plan: Plan, run: PhaseRun, call: Call, due: str | None) -> Found:
    texts = told(run, call)
    if tells_all(plan, run) and not texts and not call.parent:
        yield Violation("FAILURE_UNTOLD", run.where, f"the tool of call {call.id} failed, and "
                        "nothing is told of it")
    for text in texts:
        if due is not None:
            if text != due:
                yield Violation("FAILURE_TEXT_DIFFERS", run.where, f"the failure of call {call.id} "
                                f"is told as {text!r}, declared is {due!r}")
        elif not speaks_of_error(text) and text != plan.run.tool_error_text:
            yield Violation("FAILURE_UNTOLD", run.where, f"the failure of call {call.id} is told "
                            f"as {text!r}")


CONTRACT = Contract(
    name="tool_failure",
    promise="A tool's failure is told to the model in the declared words, unless it is raised.",
    source="https://openai.github.io/openai-agents-python/tools/"
           "#handling-errors-in-function-tools",
    codes={
        "FAILURE_ENDED_RUN": "a failure that the model is to be told ended the run",
        "FAILURE_UNTOLD": "a tool failed, and its output does not say so",
        "FAILURE_TEXT_DIFFERS": "a failure is told in other words than the declared ones",
    },
    applies=lambda plan, seen: any(_failed(plan, seen)),
    violations=_violations,
)
