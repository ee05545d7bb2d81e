"""The model is told of a rejected call what was given for it.

"By default, a rejected tool call returns the SDK's standard rejection text back into the run.";
"pass rejection_message=... to state.reject(...) when you want one specific rejected tool call to
surface a different message."
(https://openai.github.io/openai-agents-python/human_in_the_loop/#custom-rejection-messages)
"RunState.reject: When rejection_message is provided, that exact text is sent back to the model when
the run resumes." (https://openai.github.io/openai-agents-python/ref/run_state/)

"Run-wide fallback: set RunConfig.tool_error_formatter to control the default model-visible message
for approval rejections across the whole run." (same page; `Run.tool_error_text`)

The standard text is the SDK's own; it must speak of approval. Of several decisions on a call the
last one counts. A call that was rejected because its tool was, for always, may carry the message of
the decision that did so, or the standard text.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import Call, offered, plain_calls, told
from agentrunproof.contracts.reading import decided, decisions, is_covered, lineage
from agentrunproof.plan.model import Decision, Plan
from agentrunproof.record.observation import Observation, PhaseRun

_STANDARD = "approv"


def _rejected(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Call, Decision]]:
    """Calls of completed runs that the declared decisions reject one by one."""
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        if run.outcome != "completed" or len(runs) == 1:
            continue
        made = decisions(plan, plan.phase(run.phase))
        for call in plain_calls(plan, seen, runs):
            tool = offered(plan, call)
            exact = [decision for decision in made if decision.call == call.id]
            # With which words of several a call was rejected is said nowhere.
            worded = {decision.message for decision in exact if not decision.approve}
            if tool is not None and tool.needs_approval and exact and not exact[-1].approve and (
                    len(worded) == 1 and decided(plan, runs, call.id, call.name) is False):
                yield run, call, exact[-1]


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, call, decision in _rejected(plan, seen):
        texts = told(run, call)
        if not texts and not call.parent:
            yield Violation("REJECTION_UNTOLD", run.where, f"call {call.id} was rejected, and "
                            "nothing is told of it")
        for text in texts:
            if decision.message is not None and text != decision.message:
                yield Violation("REJECTION_MESSAGE_DIFFERS", run.where, f"call {call.id} was "
                                f"rejected with {decision.message!r}, told is {text!r}")
            elif decision.message is None and plan.run.tool_error_text not in (None, text):
                yield Violation("REJECTION_MESSAGE_DIFFERS", run.where, f"call {call.id} was "
                                f"rejected, which is to be told as {plan.run.tool_error_text!r}, "
                                f"told is {text!r}")
            elif decision.message is None and plan.run.tool_error_text is None and (
                    _STANDARD not in text.lower() and not is_covered(text)):
                yield Violation("REJECTION_UNTOLD", run.where, f"call {call.id} was rejected, "
                                f"told is {text!r}")


CONTRACT = Contract(
    name="rejection",
    promise="A rejected call is answered with the message of its rejection.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#custom-rejection-messages",
    codes={
        "REJECTION_UNTOLD": "a call was rejected, and its output does not say so",
        "REJECTION_MESSAGE_DIFFERS": "a rejected call has another output than its message",
    },
    applies=lambda plan, seen: any(_rejected(plan, seen)),
    violations=_violations,
)
