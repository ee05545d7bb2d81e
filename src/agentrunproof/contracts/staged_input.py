"""Input that was staged on a state is given to the next model call, once and behind the outputs.

"A string becomes a user message, and multiple calls preserve insertion order. The staged input is
part of serialized RunState, so it survives to_json() / from_json() and to_string() / from_string()
round trips."; "Across serialization, resume, and replay-safe retries, the SDK preserves one durable
InputItem occurrence."; "Successfully admitted input appears in new_items as an InputItem."
(https://openai.github.io/openai-agents-python/results/#add-input-before-resuming)

Judged in the run that resumes the state, if it calls the model at all. In a session the input
stands once, too, which is session_persistence's matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Item,
    essences,
    lineage,
    new_items,
    server_keeps,
    staged,
    words,
)
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Said = list[tuple[str, ...]]


def _admitted(seen: Observation) -> Iterator[tuple[PhaseRun, list[Item], list[Item]]]:
    """Runs with staged input, that input, and what their first model call is given."""
    for run in seen.runs:
        called = [event for event in run.of("model_called") if not event["parent"]]
        if staged(run) and called:
            yield run, staged(run), list(called[0]["input"])


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, items, given in _admitted(seen):
        due, told = essences(items), essences(given)
        lost = Counter(due) - Counter(told)
        if lost:
            yield Violation("STAGED_INPUT_LOST", run.where, f"{words(said[0] for said in lost)} "
                            "was staged, and the model is not given it")
        elif told[len(told) - len(due):] != due:
            yield Violation("STAGED_INPUT_NOT_LAST", run.where, "what the model is given does not "
                            f"end with {words(said[0] for said in due)}, which was staged")
        elif not server_keeps(plan):
            before = [said for other in lineage(plan, seen, run)[:-1]
                      for said in essences(staged(other))]
            if not set(before) & set(due):  # the same was staged on an earlier pause
                yield from _once(run, due)


def _once(run: PhaseRun, due: Said) -> Iterator[Violation | Unobserved]:
    """In whatever the run tells, the input stands as often as it was staged."""
    places = [("what a model is given", list(event["input"])) for event in run.of("model_called")
              if not event["parent"]]
    places += [("the new items", new_items(event) or []) for event in run.of("result")]
    for place, items in places:
        held = essences(items)
        if any(held.count(said) != count for said, count in Counter(due).items()):
            yield Violation("STAGED_INPUT_REPEATED", run.where, f"{words(said[0] for said in due)} "
                            f"was staged once and does not stand once in {place}")


CONTRACT = Contract(
    name="staged_input",
    promise="Input staged on a state is given to the next model call, once, behind the outputs.",
    source="https://openai.github.io/openai-agents-python/results/#add-input-before-resuming",
    codes={
        "STAGED_INPUT_LOST": "the model is not given the input that was staged",
        "STAGED_INPUT_NOT_LAST": "something stands behind the staged input, or it is out of order",
        "STAGED_INPUT_REPEATED": "the staged input stands there more or less often than once",
    },
    applies=lambda plan, seen: any(_admitted(seen)),
    violations=_violations,
)
