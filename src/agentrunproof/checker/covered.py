"""Step 4 for private records: recognise a packaged scenario by the structure of its plan."""

from __future__ import annotations

from agentrunproof.checker.judgement import reject
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan
from agentrunproof.record import private


def check_scenario(plan: Plan, scenario: str, notes: list[str]) -> None:
    """Hold a covered plan against the packaged scenario of that id.

    Both must be the same but for covered texts, and equal texts must stand in the same places.
    """
    if scenario not in catalog.ids():
        notes.append("plan not in the catalogue: it says itself what is expected")
        return
    if catalog.known_digest(scenario, plan.revision) is None:
        reject("PLAN_REVISION_UNKNOWN", f"{scenario} has no revision {plan.revision} that this "
               "version knows", "check it with the version that made it")
    packaged = catalog.load(scenario)
    if packaged.revision != plan.revision:
        notes.append("the packaged plan has a newer revision: its structure was not compared")
        return
    # Digests are numbered by first appearance, so any salt gives the same.
    if private.skeleton(private.cover_plan(packaged, b"")) != private.skeleton(plan):
        reject("PLAN_ALTERED", f"the covered plan is not the packaged one of {scenario}, revision "
               f"{plan.revision}", "a changed plan needs an id of its own")
