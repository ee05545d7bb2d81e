"""The metamorphic relations that are watched on a plan of themselves, by name.

A relation says that two runs must come to the same. The second one is the run of a *variant* of
the plan (`plan.variants`), so a relation needs no expectation.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.plan.model import Plan
from agentrunproof.plan.problem import Problem, unknown

#: name, as the plan's `relations` has it -> what must come to the same
RELATIONS: dict[str, str] = {
    "sync": "the synchronous run and the awaited one",
    "hooks": "the run without lifecycle hooks and the one with them",
    "tracing": "the run without tracing and the one with it",
    "state": "runs resumed from the state itself and from its text",
    "approval": "the run of calls that need no approval and the one whose calls were approved",
    "history": "runs that are handed the history and those that find it in the session",
}


def relation_problems(plan: Plan) -> Iterator[Problem]:
    """Problems of the key `relations`: each name in it is a relation, with a reason."""
    for name, reason in plan.relations.items():
        if name not in RELATIONS:
            yield unknown("relations", "relation", name, RELATIONS)
        elif not reason.strip():
            yield Problem("PLAN_EMPTY", f"relations.{name}", "says nothing",
                          "why the two runs may differ, in one sentence")
