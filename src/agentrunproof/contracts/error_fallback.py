"""What a handler supplies for a refusal or an invalid output is the final output, and only then.

"Use "model_refusal" when a model refusal should produce an application-specific fallback instead of
ending the run with ModelRefusalError."; "Use "invalid_final_output" when a model message does not
validate against the agent's structured output_type ... It does not retry the model call or replay
any tool side effects."; "RunErrorHandlerResult.include_in_history defaults to True."; "Set
include_in_history=False when you want the fallback returned to the caller without adding it to
result history or session storage."
(https://openai.github.io/openai-agents-python/running_agents/#error-handlers)

Judged by the last answer of the outermost run, where it calls nothing. That the model is not asked
again shows as a script that does not suffice (model_script_consumed). What turns that ran out come
to is max_turns_fallback's matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.final_output import is_unfit
from agentrunproof.contracts.reading import (
    Item,
    among_new_items,
    is_covered,
    lineage,
    message_text,
    model_said,
    refuses,
)
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _ended(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, str | None]]:
    """Runs that a handler may have ended, with the fallback that is due, if one is."""
    if plan.run.on_refusal is None and plan.run.on_invalid_output is None:
        return
    for run in seen.runs:
        answers = [event for other in lineage(plan, seen, run)
                   for event in other.of("model_responded") if not event["parent"]]
        items: tuple[Item, ...] = answers[-1]["output"] if answers else ()
        messages = [item for item in items if item.get("type") == "message"]
        if run.outcome not in ("completed", "raised") or not messages or any(
                item.get("type") == "function_call" for item in items):
            continue
        if refuses(messages):
            yield run, plan.run.on_refusal
            continue
        agent = plan.agents.get(answers[-1]["agent"])
        text = message_text(messages[-1])
        unfit = agent is not None and agent.output_type is not None and text is not None and (
            is_unfit(plan.types[agent.output_type], text))
        yield run, plan.run.on_invalid_output if unfit else None


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    supplied = {plan.run.on_refusal, plan.run.on_invalid_output} - {None}
    for run, due in _ended(plan, seen):
        result, raised = run.last("result"), run.last("raised")
        final = None if result is None else result["final_output"]
        if due is None:
            if final in supplied and not model_said(run, str(final)):
                yield Violation("HANDLED_WITHOUT_CAUSE", run.where, "the final output is a "
                                "handler's, and the model gave one that is fit")
        elif raised is not None:
            if raised["error"].get("type") in ("ModelRefusalError", "ModelBehaviorError"):
                yield Violation("HANDLER_IGNORED", run.where, f"{raised['error'].get('type')} was "
                                "raised although a handler supplies the final output")
        elif due == plan.run.on_invalid_output and is_covered(final or ""):
            continue  # of a private record, whose digest of a structure nobody can derive
        elif final != due:
            yield Violation("HANDLER_OUTPUT_DIFFERS", run.where, f"the handler supplies {due!r}, "
                            f"the final output is {final!r}")
        else:
            held = among_new_items(result, due)
            if held != plan.run.fallback_in_history:
                yield Violation("HANDLER_HISTORY_DIFFERS", run.where, "the new items "
                                f"{'hold' if held else 'do not hold'} what the handler supplied")


CONTRACT = Contract(
    name="error_fallback",
    promise="What a handler supplies for a refusal or an invalid output is the final output.",
    source="https://openai.github.io/openai-agents-python/running_agents/#error-handlers",
    codes={
        "HANDLER_IGNORED": "a refusal or an invalid output was raised although it has a handler",
        "HANDLER_OUTPUT_DIFFERS": "the final output is not what the handler supplied",
        "HANDLED_WITHOUT_CAUSE": "the final output is a handler's, though the answer was fit",
        "HANDLER_HISTORY_DIFFERS": "the fallback is told in the history and is not to be, or not",
    },
    applies=lambda plan, seen: any(_ended(plan, seen)),
    violations=_violations,
)
