"""Labelled runs, the strategies held against each other, and the figures."""

from __future__ import annotations

from fractions import Fraction

import pytest

from agentrunproof.localize import datasets, scoring
from agentrunproof.localize.datasets import Case
from agentrunproof.localize.detectors import DETECTORS
from agentrunproof.localize.ranking import TERMS, localize
from agentrunproof.localize.strategies import OURS, STRATEGIES
from agentrunproof.localize.trace import Trace
from tests.localize.made import answer, task, tool

PACKAGED = datasets.read(datasets.packaged(), "runopsy_bench")


def _case(onset: int | None, *, steps: int = 5, agent: str = "") -> Case:
    made = (task(0, "x"), *(answer(n, f"step {n}", agent=f"a{n}") for n in range(1, steps)))
    return Case("c", made, onset, agent, failed=onset is not None)


def test_all_onsets_of_the_packaged_set_are_named_and_the_healthy_run_is_left_alone() -> None:
    for case in PACKAGED:
        assert localize(Trace(case.steps, failed=case.failed)).onset == case.onset, case.name


@pytest.mark.parametrize(("detector", "case"), [
    ("model-failure", "truncated_plan"), ("loop", "tool_loop"), ("stale-memory", "stale_memory"),
    ("incomplete-handoff", "incomplete_handoff"), ("claim", "contradicted_claim"),
    ("state-change", "silent_wrong_config"), ("tool-failure", "blocked_action")])
def test_the_packaged_set_needs_its_detectors(detector: str, case: str) -> None:
    steps = next(one.steps for one in PACKAGED if one.name == case)
    onset = next(one.onset for one in PACKAGED if one.name == case)
    found = localize(Trace(steps), without={detector})
    # A failed run always has a suspect: without evidence, its first act.
    assert found.onset != onset or [term.name for term in found.suspects[0].terms] == ["first-work"]


def test_names_of_terms_and_detectors_are_apart() -> None:
    assert not set(TERMS) & set(DETECTORS)


def test_only_the_exact_step_is_right() -> None:
    found = scoring.score("two", lambda trace: [2, 3], [_case(2), _case(3), _case(12, steps=20)])
    assert [rate.hits for rate in found.within] == [1, 2, 2]
    assert (found.top3.hits, found.top3.runs) == (2, 3)
    assert found.distance == Fraction(0 + 1 + 10, 3)


def test_silence_is_a_miss_and_costs_the_whole_run() -> None:
    found = scoring.score("no", STRATEGIES["no diagnosis"], [_case(2)])
    assert [rate.hits for rate in found.within] == [0, 0, 0]
    assert found.distance == 5


def test_a_claim_about_a_healthy_run_is_false() -> None:
    found = scoring.score("one", lambda trace: [1], [_case(None), _case(None)])
    assert (found.false.hits, found.false.runs) == (2, 2)
    assert found.within[0].percent == "not scored"
    assert found.distance is None


def test_agents_are_compared_where_they_are_labelled() -> None:
    cases = [_case(2, agent="a2"), _case(2, agent="a3"), _case(2)]
    found = scoring.score("two", lambda trace: [2], cases)
    assert (found.agent.hits, found.agent.runs) == (1, 2)


def test_chance_is_computed() -> None:
    found = scoring.chance([_case(0, steps=4), _case(None)])
    assert [rate.hits for rate in found.within] == [Fraction(1, 4), Fraction(1, 2), 1]
    assert found.top3.hits == Fraction(3, 4)
    assert found.distance == Fraction(0 + 1 + 2 + 3, 4)
    assert found.false.hits == 1


def test_intervals_are_exact() -> None:
    # Clopper-Pearson of 0 of 10: the upper end is 1 - 0.025 ** (1 / 10).
    low, high = scoring.Rate(Fraction(0), 10).interval or ("", "")
    assert (low, high[:5]) == ("0", str(1 - 0.025 ** 0.1)[:5])


def test_the_simple_rule_has_its_four_branches() -> None:
    rule = STRATEGIES["simple rule"]
    work = [task(0, "x"), answer(1, "a"), answer(2, "b")]
    change = tool(3, "cancel_order", by=2)
    failed = tool(3, "executor", "error", by=2)
    assert rule(Trace([*work, change])) == [2]
    assert rule(Trace([*work, failed])) == [2]
    assert rule(Trace(work)) == [1]
    assert rule(Trace([task(0, "x"), task(1, "y")])) == [1]


def test_failing_steps_are_named_from_both_ends() -> None:
    trace = Trace([tool(1, "a", "error"), tool(2, "b"), tool(3, "c", output="Error: no")])
    assert STRATEGIES["earliest failing step"](trace) == [1, 3]
    assert STRATEGIES["last failing step"](trace) == [3, 1]


def test_ours_is_one_of_the_strategies() -> None:
    assert STRATEGIES[OURS](Trace([tool(1, "a", "error")])) == [1]
