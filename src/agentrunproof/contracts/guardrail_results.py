"""Whoever asks what the guardrails of a run found is told of each that decided.

"RunResultBase: input_guardrail_results: Guardrail results for the input messages;
output_guardrail_results: Guardrail results for the final output of the agent;
tool_input_guardrail_results: Tool input guardrail results from all tools executed during the run"
(https://openai.github.io/openai-agents-python/ref/result/); the same lists stand in the
``RunErrorDetails`` of an exception (agents.exceptions). Issues where a result was missing:
openai-agents-python#4071, #4090, #4097, #4223.

A result is due for each guardrail that decided in the outermost run, the one that tripped
included; one that raised has no result, and where one ends the run, none is due of those that
decide at the same moment or later. A resumed run may tell those from before its pause. Of tool
guardrails an exception tells what "accumulated from completed turns before the run failed"
(``RunErrorDetails.tool_input_guardrail_results``), which is judged of runs that resume nothing.
Where an exception tells nothing of its run, and no streamed result does, nothing is judged, but for
a tripwire in a plan that requires ``error-run-data``: "exception.run_data.input_guardrail_results
contains every input guardrail result completed before the run stopped, including the result that
triggered the tripwire. Output tripwires provide the equivalent accumulated results"
(https://openai.github.io/openai-agents-python/guardrails/#tripwires).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import out_of_turns, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

#: Exceptions that a tripwire of an agent or a run raises.
_TRIPWIRES = ("InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered")


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        end = run.last("raised") or run.last("result")
        if end is None or run.outcome == "cancelled" or not _tells(plan, end):
            continue
        due = Counter(check["guardrail"] for check in _decided(run)
                      if end["kind"] == "result" or _is_told(plan, run, check))
        lost = due - Counter(end["guardrails"] or ())
        if lost:
            what = "exception" if end["kind"] == "raised" else "result"
            yield Violation("GUARDRAIL_RESULT_LOST", run.where,
                            f"the {what} does not tell what {words(sorted(lost))} decided")


def _tells(plan: Plan, end: Event) -> bool:
    """Whether the end of a run tells of guardrails, or has to."""
    return end["guardrails"] is not None or (
        "error-run-data" in plan.requires and end["error"].get("type") in _TRIPWIRES)


def _is_told(plan: Plan, run: PhaseRun, check: Event) -> bool:
    """Whether an exception has to tell the check: one of a tool only when its turn had ended."""
    if not check["stage"].startswith("tool_"):
        return True
    asked = [event for event in run.of("guardrail_checked", "model_called") if not event["parent"]]
    later = asked[next(n for n, event in enumerate(asked) if event is check):]
    return plan.phase(run.phase).resume is None and (
        out_of_turns(plan, run) or any(event["kind"] == "model_called" for event in later))


def _decided(run: PhaseRun) -> list[Event]:
    """The checks that came to a result, up to the one that ended the run."""
    found = []
    for check in run.of("guardrail_checked"):
        if not check["parent"]:
            found.append(check)
            if run.outcome == "raised" and not check["stage"].startswith("tool_") and (
                    check["tripped"] or check["error"]):
                break
    return [check for check in found if not check["error"]]


CONTRACT = Contract(
    name="guardrail_results",
    promise="The result of a run, or its exception, tells what each guardrail decided.",
    source="https://openai.github.io/openai-agents-python/ref/result/",
    codes={"GUARDRAIL_RESULT_LOST": "a guardrail decided, its result is not told"},
    applies=lambda plan, seen: any(_decided(run) for run in seen.runs),
    violations=_violations,
)
