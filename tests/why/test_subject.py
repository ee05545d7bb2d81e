"""A failing plan as a subject: its leaves, its pieces, its reruns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentrunproof.ablation.explain import Explanation
from agentrunproof.ablation.subject import Edit, Subject, Target
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan
from agentrunproof.why.elements import Whole
from agentrunproof.why.smallest import SAME, Outcome
from agentrunproof.why.subject import NO_PLAN, FailingPlan

ID = "session-limit-orphan-output"


def subject() -> FailingPlan:
    """The plan, said to fail exactly where its session has a limit."""
    def judge(plans: Sequence[Plan]) -> Iterable[Outcome]:
        for plan in plans:
            limited = plan.session is not None and plan.session.limit is not None
            yield SAME if limited else Outcome("p")

    return FailingPlan(Whole(catalog.load(ID)), "tool_linkage", "ORPHAN_OUTPUT", judge)


def test_groups_hold_all_leaves_in_their_order() -> None:
    plan = subject()
    assert [n for low, high in plan.groups for n in range(low, high)] \
        == list(range(len(plan.texts)))
    assert [plan.group_id(n) for n in range(len(plan.groups))] \
        == ["modes", "agents.clerk", "tools.lookup", "session", "phases.first", "phases.second"]
    assert all(plan.leaf(n).group == k for k, (low, high) in enumerate(plan.groups)
               for n in range(low, high))


def test_pieces_hold_what_lies_within_them() -> None:
    plan = subject()
    every = [piece for top in plan.pieces() for piece in top.walk()]
    assert [piece.id for piece in every] == [one.id for one in plan.whole.elements]
    assert [piece.leaves[0] for piece in every] == list(range(len(every)))
    session = next(piece for piece in every if piece.id == "session")
    assert [child.id for child in session.children] == ["session.limit"]


def test_a_rerun_decides_as_the_judged_plan_does() -> None:
    plan: Subject = subject()
    failing = plan.rerun(Edit())
    target = Target("tool:tool_linkage:code=ORPHAN_OUTPUT", failing)
    assert target.met(failing)
    limit = next(n for n in range(len(plan.texts)) if plan.leaf(n).id == "session.limit")
    passing = plan.rerun(Edit(1 << limit))
    assert not target.met(passing)
    assert passing.text == "passes"
    assert plan.rerun(Edit((1 << len(plan.texts)) - 1)).text == NO_PLAN


def test_the_search_for_causes_works_on_a_plan_as_on_a_call() -> None:
    plan = subject()
    explanation = Explanation(plan, Target(plan.target, plan.rerun(Edit())))
    explanation.run()
    assert explanation.ended == "done"
    found = {plan.leaf(n).id for one in explanation.claims for n in range(len(plan.texts))
             if one.leaves >> n & 1}
    assert "session.limit" in found
