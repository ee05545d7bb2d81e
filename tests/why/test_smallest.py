"""The search for the smallest plan, with oracles that only look at plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from agentrunproof import canonical
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan
from agentrunproof.why.elements import Whole
from agentrunproof.why.smallest import SAME, Outcome, OutOfBudget, Search, Smallest

ID = "runstate-sibling-approval-isolation"


PASSES = Outcome("p")


def search(fails: Callable[[Plan], bool], budget: int = 10_000, id: str = ID
           ) -> tuple[Smallest, list[str]]:
    judged: list[str] = []

    def oracle(plans: Sequence[Plan]) -> Iterable[Outcome]:
        for plan in plans:
            if len(judged) == budget:
                raise OutOfBudget
            judged.append(canonical.digest(plan.to_json()))
            yield SAME if fails(plan) else PASSES

    return Search(Whole(catalog.load(id)), oracle).run(), judged


def two_branches(plan: Plan) -> bool:
    return plan.tools["charge"].needs_approval if "charge" in plan.tools and len(
        plan.branches("pause")) == 2 else False


def test_only_what_the_failure_needs_is_left() -> None:
    found, _ = search(two_branches)
    small = found.reduced.plan
    assert two_branches(small)
    assert {phase.id for phase in small.phases} == {"pause", "approved", "untouched"}
    assert small.modes in (("run",), ("run_streamed",))
    assert small.agents["operator"].instructions is None
    assert "tools.charge.needs_approval" in found.needed
    assert "agents.operator.instructions" in found.gone


def test_no_single_element_can_go_any_more() -> None:
    found, _ = search(two_branches)
    left = found.reduced.left
    assert set(found.needed) | set(found.fixed) == left
    assert not set(found.needed) & set(found.fixed)
    whole = Whole(catalog.load(ID))
    removed = set(found.gone)
    for id in found.needed:
        reduced = whole.without(removed | {id})
        assert reduced is not None
        assert not two_branches(reduced.plan)


def test_no_plan_is_judged_twice_and_each_is_told() -> None:
    found, judged = search(two_branches)
    assert len(judged) == len(set(judged)) == len(found.trials)
    assert [canonical.digest(trial.reduced.plan.to_json()) for trial in found.trials] == judged


def test_a_failure_that_needs_everything_keeps_everything() -> None:
    whole = canonical.digest(catalog.load(ID).to_json())
    found, _ = search(lambda plan: canonical.digest(plan.to_json()) == whole)
    assert found.gone == ()
    assert found.ended == "done"
    assert found.reduced.plan == catalog.load(ID)


def test_the_best_so_far_is_left_when_the_budget_runs_out() -> None:
    found, judged = search(two_branches, budget=12)
    assert found.ended == "budget"
    assert len(judged) == 12
    assert two_branches(found.reduced.plan)


def test_the_best_so_far_is_left_when_it_is_interrupted() -> None:
    seen = 0

    def stop_at_ten(plan: Plan) -> bool:
        nonlocal seen
        seen += 1
        if seen > 10:
            raise KeyboardInterrupt
        return two_branches(plan)

    found, _ = search(stop_at_ten)
    assert found.ended == "stopped"
    assert two_branches(found.reduced.plan)
    assert len(found.trials) == 10
