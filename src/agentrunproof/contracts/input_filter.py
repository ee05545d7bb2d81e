"""A model is sent what the input filter returned, and asked for nothing before that.

"call_model_input_filter: Hook to edit the fully prepared model input (instructions and input
items) immediately before the model call"
(https://openai.github.io/openai-agents-python/running_agents/#run-config) "The return value must
be a ModelInputData object. Its input field is required and must be a list of input items.
Returning any other shape raises a UserError." "The runner passes a copy of the prepared input list
to the hook, so you can trim, replace, or reorder it without mutating the caller's original list in
place."
(https://openai.github.io/openai-agents-python/running_agents/#call-model-input-filter)

The filter of a plan works on the list it is given. What the run had ready for a model before is
what all other contracts judge, so that turn_input, session_input, new_items, input_list and
session_persistence tell a filter that reaches further than the one model call. An exception in it
ends the run by failure_raised. Whether nested runs are filtered is for the release to say, a model
that is tried again is sent the same again.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT, essences, retries, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    malformed = plan.run.input_filter is not None and plan.run.input_filter.malformed
    for run in seen.runs:
        for called, filtered in _asked(plan, run):
            yield from _unfiltered(run, called) if filtered is None else _sent(
                run, called, filtered)
        asked = [event for event in run.of("input_filtered") if not event["parent"]]
        if malformed and asked and run.outcome not in {"raised", *CUT_SHORT}:
            yield Violation("UNFIT_RETURN_ACCEPTED", run.where, "the filter returned no model "
                            f"input, and the run ended {run.outcome}")


def _asked(plan: Plan, run: PhaseRun) -> Iterator[tuple[Event, Event | None]]:
    """Each model call with what the filter made for it; None where it made nothing since."""
    again = retries(plan, run)
    made: dict[tuple[str, str], Event] = {}
    sent: dict[tuple[str, str], Event] = {}
    for event in run.of("input_filtered", "model_called"):
        lane = event["agent"], event["parent"]
        if event["kind"] == "input_filtered":
            made[lane] = event
            continue
        if lane in made:
            sent[lane] = made.pop(lane)
            yield event, sent[lane]
        else:
            yield event, sent.get(lane) if event in again else None


def _unfiltered(run: PhaseRun, called: Event) -> Found:
    if not called["parent"]:
        yield Violation("FILTER_SKIPPED", run.where, f"the model of {called['agent']} is called "
                        "with an input that the filter was not asked about")


def _sent(run: PhaseRun, called: Event, filtered: Event) -> Found:
    due, given = essences(filtered["input"]), essences(called["input"])
    if given != due:
        yield Violation("SENT_INPUT_DIFFERS", run.where, f"the model of {called['agent']} is sent "
                        f"{words(said[0] for said in given)}, the filter returned "
                        f"{words(said[0] for said in due)}")
    if called["instructions"] != filtered["instructions"]:
        yield Violation("SENT_INSTRUCTIONS_DIFFER", run.where, f"the model of {called['agent']} "
                        f"is told {called['instructions']!r}, the filter returned "
                        f"{filtered['instructions']!r}")


CONTRACT = Contract(
    name="input_filter",
    promise="Each model is sent exactly what the input filter returned.",
    source="https://openai.github.io/openai-agents-python/running_agents/#call-model-input-filter",
    codes={
        "FILTER_SKIPPED": "a model of the run was called and the filter was not asked before",
        "SENT_INPUT_DIFFERS": "a model was sent other items than the filter returned",
        "SENT_INSTRUCTIONS_DIFFER": "a model was told other instructions than the filter returned",
        "UNFIT_RETURN_ACCEPTED": "the filter returned no model input, and the run went on",
    },
    applies=lambda plan, seen: plan.run.input_filter is not None and any(
        run.of("model_called", "input_filtered") for run in seen.runs),
    violations=_violations,
    of_sent=True,
)
