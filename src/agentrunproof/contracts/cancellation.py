"""A consumer that cancels a stream keeps the run from going on to a further turn.

Of ``cancel(mode)``: "immediate" (default): "Stop immediately, cancel all tasks, clear queues";
"after_turn": "Complete current turn gracefully before stopping", which "Allows LLM response to
finish", "Executes pending tool calls", "Saves session state properly", "Tracks usage accurately"
and "Stops before next turn begins" (https://openai.github.io/openai-agents-python/ref/result/,
RunResultStreaming.cancel; openai-agents-python#4130)

The current turn is the one whose response the consumer has last seen begin. Where it is the
consumer's own task that is cancelled, which the stream must pass on to the run, one more may have
begun of which the consumer had not been told yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import turns_seen
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.in_mode("run_streamed"):
        cancel = plan.phase(run.phase).cancel
        if cancel is None or run.outcome == "timeout":
            continue
        begun = turns_seen(run, cancel)
        untold = 1 if cancel.mode == "task" else 0
        called = sum(1 for event in run.of("model_called") if not event["parent"])
        if begun is not None and called > begun + untold:
            yield Violation("TURN_AFTER_CANCEL", run.where, f"the consumer cancelled in turn "
                            f"{begun}, the model was called {called} times")


CONTRACT = Contract(
    name="cancellation",
    promise="After a stream was cancelled no further turn begins.",
    source="https://openai.github.io/openai-agents-python/ref/result/",
    codes={"TURN_AFTER_CANCEL": "the model was called again after the stream was cancelled"},
    applies=lambda plan, seen: any(phase.cancel is not None for phase in plan.phases),
    violations=_violations,
)
