"""Spans tell what became of a run and of its calls.

Tracing is "collecting a comprehensive record of events during an agent run"
(https://openai.github.io/openai-agents-python/tracing/), and ``Span.error`` is "Any error that
occurred during span execution." (agents.tracing.spans) So where an exception ends a run, streamed
or not, the span of its agent has one, or any span where it is a tripwire.
(openai-agents-python#4191) Not judged are an unfit answer, told wherever it is found out, what is
no ``Exception``, such as a cancellation, and a failing hook or guardrail, which `span_tree` judges.

A function span "Includes input, output and MCP data (if applicable)" (``FunctionSpanData``): a call
that waits for a decision has no output, so its span tells none. A run that resumes another is not
judged by that, for its calls may be those of before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

#: What is no failure of an agent's, or is judged elsewhere.
_UNMARKED = frozenset({"CancelledError", "SystemExit", "ModelBehaviorError", "HookFailure",
                       "GuardrailFailure"})
#: What is told of the span in which it was found.
_TRIPWIRES = frozenset({"InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered"})


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        if run.outcome not in CUT_SHORT:
            yield from _failed(run)
        if plan.phase(run.phase).resume is None:
            yield from _untrue(run)


def _failed(run: PhaseRun) -> Found:
    raised = run.last("raised")
    if raised is None or raised["error"].get("type") in _UNMARKED:
        return
    spans = run.of("span_started", "span_finished")
    agents = [span for span in spans if span["type"] == "agent"]
    asked = spans if raised["error"].get("type") in _TRIPWIRES else agents
    if agents and not any(span.get("error") for span in asked):
        yield Violation("SPAN_UNMARKED", run.where, f"{raised['error'].get('type')} ended the run, "
                        f"the span of {agents[-1]['name']} has no error")


def _untrue(run: PhaseRun) -> Found:
    told = Counter(span["name"] for span in run.of("span_finished")
                   if span["type"] == "function" and "output" in span["holds"])
    made = Counter(item.get("name") for event in run.of("model_responded")
                   for item in event["output"] if item.get("type") == "function_call")
    waiting = Counter(event["tool"] for event in run.of("interruption"))
    for tool, count in waiting.items():
        if told[tool] > max(made[tool] - count, 0):
            yield Violation("SPAN_TELLS_UNTRUE", run.where, f"{told[tool]} span(s) of {tool} tell "
                            f"an output, {count} of its {made[tool]} calls wait for a decision")


CONTRACT = Contract(
    name="span_truth",
    promise="Spans tell that their run failed, and no output of a call that waits.",
    source="https://openai.github.io/openai-agents-python/tracing/",
    codes={
        "SPAN_UNMARKED": "an exception ended the run, and its agent's span has no error",
        "SPAN_TELLS_UNTRUE": "a span tells an output of a call that waits for a decision",
    },
    applies=lambda plan, seen: plan.run.tracing and any(
        run.of("raised", "interruption") for run in seen.runs),
    violations=_violations,
)
