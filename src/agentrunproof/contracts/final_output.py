"""The final output is what the last agent said, of the type that the agent declares.

"The final_output property contains the final output of the last agent that ran. This is either: a
str, if the last agent did not have an output_type defined; an object of type
last_agent.output_type, if the last agent had an output type defined."
(https://openai.github.io/openai-agents-python/results/#final-output) "The rule for whether the LLM
output is considered as a "final output" is that it produces text output with the desired type, and
there are no tool calls." (https://openai.github.io/openai-agents-python/running_agents/)
"ModelBehaviorError: ... Malformed JSON: When the model provides a malformed JSON structure for tool
calls or in its direct output, especially if a specific output_type is defined."
(https://openai.github.io/openai-agents-python/running_agents/#exceptions)

Judged by the last message of the last answer, if that answer calls nothing and refuses nothing. A
JSON value is unfit if it is no object or lacks a declared field, and under a strict schema also if
a field is of another type: the model was told the schema, and "validate_json: Validate a JSON
string against the output type. You must return the validated object, or raise a ModelBehaviorError
if the JSON is invalid" (https://openai.github.io/openai-agents-python/ref/agent_output/). Under a
lenient one, whether it can be turned into the declared type is the validator's matter. What a
handler supplies for an unfit one is judged by error_fallback.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import Item, is_covered, lineage, message_text, refuses
from agentrunproof.plan.items import of_type
from agentrunproof.plan.model import OutputType, Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _said(plan: Plan, seen: Observation, run: PhaseRun) -> tuple[str, str] | None:
    """The last agent that answered and its text, if the answer is one that ends a run."""
    answers = [event for other in lineage(plan, seen, run)
               for event in other.of("model_responded") if not event["parent"]]
    if not answers or answers[-1]["agent"] not in plan.agents:
        return None
    items: tuple[Item, ...] = answers[-1]["output"]
    messages = [item for item in items if item.get("type") == "message"]
    if not messages or refuses(messages) or any(
            item.get("type") == "function_call" for item in items):
        return None
    text = message_text(messages[-1])
    return None if text is None else (answers[-1]["agent"], text)


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        said = _said(plan, seen, run)
        result = run.last("result")
        if run.outcome == "interrupted" and result is not None and (
                result["final_output"] is not None):
            yield Violation("PAUSED_WITH_OUTPUT", run.where, "the run waits for a decision and "
                            f"has the final output {result['final_output']!r}")
        if said is None:
            continue
        agent, text = said
        declared = plan.agents[agent].output_type
        if declared is not None:
            yield from _structured(plan.types[declared], run, text,
                                   plan.run.on_invalid_output is not None)
        elif run.outcome == "completed" and result is not None and (
                result["final_output"] != text):
            yield Violation("NOT_WHAT_WAS_SAID", run.where, f"the final output is "
                            f"{result['final_output']!r}, {agent} said {text!r}")


def _structured(declared: OutputType, run: PhaseRun, text: str, handled: bool) -> Found:
    given = _object(text)
    result, raised = run.last("result"), run.last("raised")
    if is_covered(text):
        return
    if given is None or is_unfit(declared, text):
        if run.outcome == "completed" and not handled:
            yield Violation("UNFIT_ACCEPTED", run.where, f"{text!r} is not of the declared type, "
                            "and the run completed with it")
        return
    if not _fits(declared, given):
        return
    if raised is not None and raised["error"].get("type") == "ModelBehaviorError":
        yield Violation("FIT_REFUSED", run.where, f"{text!r} is of the declared type, and was "
                        f"refused: {raised['error'].get('message', '')}")
    elif run.outcome == "completed" and result is not None:
        held = _object(result["final_output"] or "")
        if held is None or any(held.get(name) != given[name] for name in declared.fields):
            yield Violation("NOT_WHAT_WAS_SAID", run.where, f"the final output is "
                            f"{result['final_output']!r}, the model gave {text!r}")


def is_unfit(declared: OutputType, text: str) -> bool:
    """Whether a text is beyond doubt not of the declared type."""
    given = _object(text)
    return given is None or not (_fits(declared, given) if declared.strict
                                 else declared.fields.keys() <= given.keys())


def _fits(declared: OutputType, given: dict[str, Any]) -> bool:
    return all(of_type(field.type, given.get(name)) for name, field in declared.fields.items())


def _object(text: str) -> dict[str, Any] | None:
    try:
        given = json.loads(text)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def _applies(plan: Plan, seen: Observation) -> bool:
    return any(run.outcome in ("completed", "interrupted", "raised")
               and (_said(plan, seen, run) or run.outcome == "interrupted") for run in seen.runs)


CONTRACT = Contract(
    name="final_output",
    promise="The final output is what the last agent said, of the type it declares.",
    source="https://openai.github.io/openai-agents-python/results/#final-output",
    codes={
        "NOT_WHAT_WAS_SAID": "the final output is not the last message of the last agent",
        "UNFIT_ACCEPTED": "a run completed with an output that is not of the declared type",
        "FIT_REFUSED": "an output of the declared type was refused",
        "PAUSED_WITH_OUTPUT": "a run that waits for a decision has a final output",
    },
    applies=_applies,
    violations=_violations,
)
