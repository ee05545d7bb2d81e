"""Lifecycle hooks observe a run and do not change it.

"A class that receives callbacks on various lifecycle events in an agent run" (docstring of
``agents.RunHooks``); "Sometimes, you want to observe the lifecycle of an agent. For example, you
may want to log events, pre-fetch data, or record usage when certain events occur."
(https://openai.github.io/openai-agents-python/agents/#lifecycle-events-hooks) The plan is run once
more without any, unless its hooks raise or take time. The same run is synchronous and not traced
where the plan may be run so, and therefore tells of those as well.

Before 0.0.14 only a hook is shown the usage, so there it is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.relations import Pair, contract, same_phase
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns


def _pairs(plan: Plan, seen: Observation, varied: VariantRuns) -> Iterator[Pair]:
    for phase, base, run in same_phase(plan, seen, varied):
        if base is not None and run is not None and run.last("result") and not run.of("usage"):
            base = PhaseRun(base.mode, base.phase, tuple(
                event for event in base.events if event["kind"] != "usage"))
        yield phase, base, run


CONTRACT = contract(
    "hooks",
    promise="A run does the same whether hooks listen to it or not.",
    source="https://openai.github.io/openai-agents-python/agents/#lifecycle-events-hooks",
    leaving_out=frozenset({"HOOKS_DIFFER"}),
    pairs=_pairs,
)
