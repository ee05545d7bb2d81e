"""The input list of a result is the original input and then the new items.

"A replay-ready next-turn input list with the full local transcript"; "Use the default
to_input_list() mode or new_items when you need the full converted history for logs, UIs, or
audits."
(https://openai.github.io/openai-agents-python/results/#input-next-turn-history-and-new-items)

A resumed run's original input is that of the run which paused first. What a session gave may stand
before it. Where a handoff rewrites the history, by filter or by nesting, or a callback joins it
with the input, nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import Item, essences, lineage, new_items, rewrites, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _judged(plan: Plan, seen: Observation
            ) -> Iterator[tuple[PhaseRun, list[Item], list[Item], list[Item]]]:
    """Runs with their original input, their new items and the list that is made of them."""
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        result, started = run.last("result"), runs[0].last("run_started")
        rewritten = any(any(rewrites(plan, event["from"], event["to"]))
                        for other in runs for event in other.of("handoff"))
        rewritten = rewritten or plan.run.session_input is not None
        if result is not None and started is not None and not rewritten and (
                run.outcome in ("completed", "interrupted")):
            yield run, list(started["input"]), new_items(result) or [], list(result["history"])


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, original, made, history in _judged(plan, seen):
        given, due, held = essences(original), essences(made), essences(history)
        if plan.session is not None:
            held = held[max(len(held) - len(given) - len(due), 0):]
        if held[:len(given)] != given:
            yield Violation("ORIGINAL_INPUT_DIFFERS", run.where, f"the input list has "
                            f"{words(said[0] for said in held[:len(given)])} for the input "
                            f"{words(said[0] for said in given)}")
        elif held[len(given):] != due:
            yield Violation("GENERATED_ITEMS_DIFFER", run.where, f"the input list goes on with "
                            f"{words(said[0] for said in held[len(given):])}, the new items are "
                            f"{words(said[0] for said in due)}")


CONTRACT = Contract(
    name="input_list",
    promise="The input list of a result is the original input and then the new items.",
    source="https://openai.github.io/openai-agents-python/results/"
           "#input-next-turn-history-and-new-items",
    codes={
        "ORIGINAL_INPUT_DIFFERS": "the input list does not hold the original input where it must",
        "GENERATED_ITEMS_DIFFER": "the input list does not go on with the new items",
    },
    applies=lambda plan, seen: any(_judged(plan, seen)),
    violations=_violations,
)
