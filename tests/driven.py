"""Plans driven in this process with all their variants, for tests that need what was observed."""

from __future__ import annotations

from agentrunproof.plan.model import Plan
from agentrunproof.plan.variants import variants
from agentrunproof.record.observation import Observation, PhaseRun, gathered


def observe(plan: Plan) -> Observation:
    """What the installed SDK does with a plan and its variants."""
    from agentrunproof.sdk.drive import Watch, drive

    driven = drive(plan, Watch(), {variant.name: variant.plan for variant in variants(plan)})
    return gathered((run.variant, PhaseRun(run.mode, run.phase, tuple(run.events)))
                    for run in driven)
