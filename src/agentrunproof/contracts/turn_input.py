"""A model is given what it was given before, what it answered, and what its tools gave.

"If the LLM produces tool calls, we run those tool calls, append the results, and re-run the loop."
(https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop) "The resumed run
continues where it left off" (https://openai.github.io/openai-agents-python/human_in_the_loop/), and
a state that was stored goes on as one that was not. Issues where a later turn saw something else:
openai-agents-python#4140, #4320.

Input that was staged on a state may come in with the resumed run, or with one that goes on from
there (`staged_input`).

Judged from one model call to the next of the same agent in the same run, pauses between them
included. In which order the outputs of one answer stand is not said; what a handoff brings its
agent is judged by handoff_history, and what is sent where the server keeps the conversation by
server_conversation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Turn,
    essences,
    lineage,
    server_keeps,
    staged,
    turns,
    words,
)
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _steps(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Turn, Turn]]:
    """Each turn that follows another one of its agent, with the run in which it was taken."""
    for run in seen.runs:
        by_lane: dict[str, list[tuple[PhaseRun, Turn]]] = {}
        for other in lineage(plan, seen, run):
            for turn in turns(other):
                by_lane.setdefault(turn.parent, []).append((other, turn))
        for taken in by_lane.values():
            for (_, before), (where, after) in pairwise(taken):
                kept = server_keeps(plan) and not after.parent
                if where is run and before.agent == after.agent and not kept:
                    yield run, before, after


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, before, after in _steps(plan, seen):
        stood = essences([*before.input, *(before.output or ())])
        given = essences(after.input)
        called = {item.get("call_id") for item in before.output or ()
                  if item.get("type") == "function_call"}
        results = [said for said, item in zip(given, after.input, strict=True)
                   if item.get("type") == "function_call_output"
                   and item.get("call_id") in called]
        lost = Counter(stood) - Counter(given)
        come_in = [item for other in lineage(plan, seen, run) for item in staged(other)]
        added = Counter(given) - Counter(stood) - Counter(results) - Counter(essences(come_in))
        if lost:
            yield Violation("TURN_ITEM_LOST", run.where, f"{after.agent} is no longer given "
                            f"{words(said[0] for said in lost)}")
        elif added:
            yield Violation("TURN_ITEM_ADDED", run.where, f"{after.agent} is given "
                            f"{words(said[0] for said in added)}, which nobody said since")
        elif given[:len(stood)] != stood:
            yield Violation("TURN_ORDER_CHANGED", run.where, f"{after.agent} is given what stood "
                            "there before in another order")


CONTRACT = Contract(
    name="turn_input",
    promise="Each turn is given all of the one before, its answer and its results, in order.",
    source="https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop",
    codes={
        "TURN_ITEM_LOST": "a model is no longer given an item that stood there before",
        "TURN_ITEM_ADDED": "a model is given an item that nobody said since its last turn",
        "TURN_ORDER_CHANGED": "a model is given what stood there before in another order",
    },
    applies=lambda plan, seen: any(_steps(plan, seen)),
    violations=_violations,
)
