"""The model is asked exactly as often as the script has turns.

The loop calls the model once a turn, until there is a final output, a pause or an error
(https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop). A scripted turn
that is never taken, or a call beyond the script, means that the Runner's loop took another way
than the one declared. The same promise in the SDK's own test kit:
``ScriptedModel.assert_complete`` and ``UnexpectedModelCall``
(https://openai.github.io/openai-agents-python/testing/).

When a guardrail beside the first model call stops the run, or the run is cut short, turns may
be left over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT, races
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        script = plan.phase(run.phase).script
        asked = Counter(event["agent"] for event in run.of("model_called"))
        may_be_left = run.outcome in CUT_SHORT or races(plan, run)
        for agent in dict.fromkeys([*script, *asked]):
            scripted = len(script.get(agent, ()))
            if asked[agent] > scripted:
                yield Violation("SCRIPT_OVERRUN", run.where, f"the model of {agent} was asked "
                                f"{asked[agent]} times, its script has {scripted} turns")
            elif asked[agent] < scripted and not may_be_left:
                yield Violation("SCRIPT_NOT_CONSUMED", run.where, f"the model of {agent} was "
                                f"asked {asked[agent]} times, its script has {scripted} turns")


CONTRACT = Contract(
    name="model_script_consumed",
    promise="Every scripted turn is taken and none is asked for beyond.",
    source="https://openai.github.io/openai-agents-python/testing/",
    codes={
        "SCRIPT_NOT_CONSUMED": "a scripted turn was never asked for",
        "SCRIPT_OVERRUN": "the model was asked beyond the end of its script",
    },
    applies=lambda plan, seen: True,
    violations=_violations,
)
