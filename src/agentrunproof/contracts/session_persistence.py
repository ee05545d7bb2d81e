"""After a completed run the session holds what it held before, the input, and what the run made.

"Before each run: The runner automatically retrieves the conversation history for the session and
prepends it to the input items. After each run: All new items generated during the run (user
input, assistant responses, tool calls, etc.) are automatically stored in the session."
(https://openai.github.io/openai-agents-python/sessions/#core-session-behavior) "The resumed turn
is then appended to the same stored conversation history."
(https://openai.github.io/openai-agents-python/human_in_the_loop/#streaming-and-sessions)

What a run made is what its model answered (seen from outside of the Runner) and, for outputs and
handoffs, the new items of its result. A handoff's filter may also take from what is stored
(``HandoffInputData.new_items``); then the result's new items alone say what was made.

Where a callback joins the session's history and the input, the session keeps the input as it made
it: "If you rewrite new-turn items there, the rewritten version is what gets persisted for that
turn." (https://openai.github.io/openai-agents-python/streaming/) A write that a plan lets fail is
not made up for but by running the state again (`reading.lineage`).

Of a run that did not complete only this much is promised: what stood before still stands, nothing
stands twice, and where it raised, each call whose tool has ended stands there with an output
(openai-agents-python#4125, #4148). An input that a guardrail refused, or on which one failed, need
leave nothing (#1843).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Item,
    essences,
    filters_handoff,
    finished_calls,
    lineage,
    new_items,
    refused_input,
)
from agentrunproof.plan.items import replaced, session_items
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Said = list[tuple[str, ...]]


def _violations(plan: Plan, seen: Observation) -> Found:
    for mode in seen.modes:
        before: Said | None = essences(session_items(plan))
        written: dict[str, Said] = {}
        for run in seen.in_mode(mode):
            after = _content(run)
            if after is None or before is None:
                yield Unobserved("SESSION_UNOBSERVED", f"{run.where}: no content of the session")
            elif after[:len(before)] != before:
                yield Violation("SESSION_HISTORY_CHANGED", run.where,
                                "what the session held before the run is no longer its beginning")
            else:
                written[run.phase] = after[len(before):]
                yield from _judge(plan, seen, run, written)
                if run.outcome == "raised" and not refused_input(run) and (
                        not run.of("session_failed")):
                    yield from _effects(plan, run, lineage(plan, seen, run), after)
            before = after


def _content(run: PhaseRun) -> Said | None:
    read = [event for event in run.of("session_read") if event["op"] == "observe"]
    return essences(read[-1]["items"]) if read else None


def _judge(plan: Plan, seen: Observation, run: PhaseRun, written: dict[str, Said]) -> Found:
    runs = lineage(plan, seen, run)
    made = _made(plan, runs)
    if made is None:
        return
    found = [said for other in runs for said in written.get(other.phase, [])]
    twice = Counter(found) - Counter(made)
    for said in twice:
        code = "SESSION_ITEM_DUPLICATED" if said in made else "SESSION_ITEM_FOREIGN"
        yield Violation(code, run.where, f"the session holds {said[0]} "
                        f"{found.count(said)} times, the run made it {made.count(said)} times")
    if run.outcome != "completed":
        return
    lost = Counter(made) - Counter(found)
    for said in lost:
        yield Violation("SESSION_ITEM_LOST", run.where, f"{said[0]} is not in the session")
    if not twice and not lost and found != made:
        yield Violation("SESSION_ORDER_CHANGED", run.where,
                        "the session holds what the run made in another order")


def _effects(plan: Plan, run: PhaseRun, runs: tuple[PhaseRun, ...], content: Said) -> Found:
    """What tools have done before the run raised is remembered, but what a handoff filters."""
    if filters_handoff(plan, runs):
        return
    held = {said[0] for said in content}
    for call in sorted(finished_calls(runs)):
        if not {f"call:{call}", f"output:{call}"} <= held:
            yield Violation("SESSION_EFFECT_LOST", run.where, f"the tool of call {call} has ended, "
                            "and the session does not hold the call with an output")


def _made(plan: Plan, runs: tuple[PhaseRun, ...]) -> Said | None:
    """Input and items of a lineage in order; None where the run left no account of them."""
    started = runs[0].last("run_started")
    made = new_items(runs[-1].last("result"))
    if made is None:
        made = new_items(runs[-1].last("raised"))
    if started is None or made is None:
        return None
    answers: list[Item] = []
    if not filters_handoff(plan, runs):
        answers = [item for run in runs for event in run.of("model_responded")
                   if not event["parent"] for item in event["output"]]
    given = replaced(plan.run.session_input, list(started["input"]))
    return essences([*given, *_with_answers(made, answers)])


def _with_answers(made: list[Item], answers: list[Item]) -> list[Item]:
    """The new items, and at their end those answers of the model that they leave out."""
    held = Counter(essences(made))
    left_out = []
    for answer in answers:
        said = essences([answer])[0]
        if held[said]:
            held[said] -= 1
        else:
            left_out.append(answer)
    return [*made, *left_out]


CONTRACT = Contract(
    name="session_persistence",
    promise="After a run the session holds its former items, the input and what the run made.",
    source="https://openai.github.io/openai-agents-python/sessions/#core-session-behavior",
    codes={
        "SESSION_HISTORY_CHANGED": "items that stood in the session before were changed or moved",
        "SESSION_ITEM_LOST": "an item of a completed run is not in the session",
        "SESSION_ITEM_DUPLICATED": "an item stands in the session more often than it was made",
        "SESSION_ITEM_FOREIGN": "the session holds an item that the run neither got nor made",
        "SESSION_ORDER_CHANGED": "the session holds the run's items in another order",
        "SESSION_EFFECT_LOST": "a run raised, and a call whose tool had ended is not there",
        "SESSION_UNOBSERVED": "the session's content was not observed",
    },
    applies=lambda plan, seen: plan.session is not None and bool(seen.runs),
    violations=_violations,
)
