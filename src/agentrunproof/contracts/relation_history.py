"""A history that is handed on by hand is the one that a session keeps.

"The Agents SDK provides built-in session memory to automatically maintain conversation history
across multiple agent runs, eliminating the need to manually handle .to_input_list() between
turns." (https://openai.github.io/openai-agents-python/sessions/)

The plan is run once more without its session, each later phase with the ``to_input_list()`` of the
one before. What the models are given must be the same, and so must all that follows from it. Not
compared is the result's own ``to_input_list()``: nobody says whether it holds what a session gave,
and early releases leave that out.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.relations import Pair, contract, same_phase
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns


def _pairs(plan: Plan, seen: Observation, varied: VariantRuns) -> Iterator[Pair]:
    for phase, base, run in same_phase(plan, seen, varied):
        yield phase, base and _without_history(base), run and _without_history(run)
        # What ended in another way than planned leaves no history to hand on, whatever the session
        # has of it; that it did is told by execution_outcome.
        if base is not None and base.outcome != plan.phase(phase).expect.outcome:
            return


def _without_history(run: PhaseRun) -> PhaseRun:
    return PhaseRun(run.mode, run.phase, tuple(
        event | {"history": ()} if event["kind"] == "result" else event for event in run.events))


CONTRACT = contract(
    "history",
    promise="A run does the same whether its history comes from a session or by hand.",
    source="https://openai.github.io/openai-agents-python/sessions/",
    leaving_out=frozenset({"SESSION_CONTENTS_DIFFER", "SESSION_WRITES_DIFFER"}),
    pairs=_pairs,
)
