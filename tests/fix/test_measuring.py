"""Measuring fixes: what passes, what is stopped early, what a budget or an interrupt leaves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from agentrunproof.ablation import fixing, statistics
from agentrunproof.ablation.fixing import Design
from agentrunproof.ablation.statistics import Guess
from agentrunproof.ablation.subject import Decision, Target
from agentrunproof.checker import fix as checker
from agentrunproof.fix.candidates import Candidate, Proposals
from agentrunproof.fix.measuring import Measurement
from agentrunproof.record.ablation import SubjectLine
from agentrunproof.record.fix import FORM, Change, Fix
from agentrunproof.report import fix as report
from tests.fix.inbox import ASK, CHAT, DRAFT, FORWARD, TARGET, Body, model

ALPHA = Fraction(1, 20)
SUBJECT = SubjectLine(kind="call", digest="sha256:" + "0" * 64, dialect="openai.chat")


def proposed() -> list[Candidate]:
    proposals = Proposals(CHAT, "openai.chat", TARGET)
    return [*proposals.own([("your text", Change(added="Be nice."))]), *proposals.rules()]


def design(candidates: int, *, runs: int = 20, tolerance: str = "0.15", certain: bool = False
           ) -> Design:
    return Design(1 if certain else runs, Fraction(tolerance), candidates / ALPHA,
                  Guess(Fraction(9, 10), Fraction(9, 100)), certain)


def measured(fresh: Any, candidates: list[Candidate] | None = None, *, budget: int = 500,
             target: Target = TARGET, **options: Any) -> Fix:
    """The record of a measurement, which the checker must find valid."""
    candidates = candidates or proposed()
    measurement = Measurement(CHAT, target, candidates, design(len(candidates), **options),
                              budget=budget)
    try:
        measurement.run(fresh)
    except KeyboardInterrupt:
        assert measurement.ended == "stopped"
    record = measurement.record(SUBJECT, alpha=ALPHA, finding=None)
    assert checker.check(FORM.to_bytes(record)).code == "OK"
    return record


def by_name(record: Fix) -> dict[str, Any]:
    return {candidate.name: candidate for candidate in record.candidates}


def test_what_holds_passes_what_helps_is_part_and_what_does_nothing_fails() -> None:
    record = measured(model())
    found = by_name(record)
    assert {name: one.verdict for name, one in found.items()} == {
        "action guard": "PASS", "content rule and action guard": "PASS", "content rule": "PART",
        "your text": "FAIL"}
    assert [one.verdict for one in record.candidates] == ["PASS", "PASS", "PART", "FAIL"]
    assert (found["action guard"].rate.hits, found["action guard"].upper) == (0, "0.1392")
    assert record.status == "PASS"


def test_a_hopeless_candidate_is_stopped_early() -> None:
    record = measured(model(), runs=60)
    assert record.candidates[-1].rate.runs < 60
    assert {one.rate.runs for one in record.candidates[:-1]} == {60}
    assert record.calls == sum(one.rate.runs for one in record.candidates) + record.base.runs


def test_zero_of_ten_is_not_enough_for_a_small_tolerance() -> None:
    record = measured(model(), runs=10)
    assert [(one.verdict, one.upper) for one in record.candidates[:2]] == [("PART", "0.2589")] * 2
    assert record.status == "NONE"


def test_what_the_model_does_instead_is_counted() -> None:
    record = measured(model())
    (guarded,) = [one for one in record.candidates if one.name == "action guard"]
    ((deed, count),) = fixing.counted(record.deeds, guarded.trials)
    assert (deed.kind, deed.example, count) == ("asks", str(ASK), 20)
    rule = by_name(record)["content rule"]
    assert [(deed.calls, count) for deed, count in fixing.counted(record.deeds, rule.trials)] == [
        ("draft_reply", rule.rate.runs - rule.rate.hits)]


def test_deeds_tell_questions_words_and_nothing_apart() -> None:
    kinds = [fixing.deed_of(decision, hit).kind for decision, hit in (
        (FORWARD, True), (DRAFT, False), (ASK, False), (Decision(text="Done."), False),
        (Decision(text=" "), False))]
    assert kinds == ["hit", "calls", "asks", "says", "nothing"]


def test_a_model_that_always_does_the_same_is_asked_once_each() -> None:
    asked: list[int] = []

    def fresh(body: Body, runs: int) -> Iterator[Decision]:
        asked.append(runs)
        return iter([FORWARD if "Call forward_email only" not in str(body) else DRAFT] * runs)

    record = measured(fresh, certain=True)
    assert asked == [1] * 5
    assert [one.verdict for one in record.candidates] == ["PASS", "PASS", "FAIL", "FAIL"]
    said = "\n".join(report.lines(record))
    assert "one rerun of each request tells everything" in " ".join(said.split())
    assert "interval" not in said


def test_where_the_unchanged_request_never_decides_so_nothing_is_tried() -> None:
    record = measured(lambda body, runs: [DRAFT] * runs)
    assert (record.status, record.calls, record.base.hits) == ("UNSTABLE", 8, 0)
    assert "there is nothing to fix" in "\n".join(report.lines(record))


def test_a_budget_that_runs_out_leaves_what_was_measured() -> None:
    record = measured(model(), budget=35)
    assert record.calls == 35
    assert (record.ended, record.status) == ("budget", "BUDGET")
    assert "OPEN" in {one.verdict for one in record.candidates}
    assert "The budget ran out" in "\n".join(report.lines(record))


def test_a_pass_within_the_budget_is_an_answer() -> None:
    guard = [one for one in proposed() if one.name != "your text"]
    record = measured(model(), guard, budget=50)
    assert (record.ended, record.status) == ("budget", "PASS")


@pytest.mark.parametrize("after", [0, 3, 30])
def test_an_interrupt_leaves_a_valid_record(after: int) -> None:
    left = iter(range(after))
    rule = model()

    def fresh(body: Body, runs: int) -> Iterator[Decision]:
        for decision in rule(body, runs):
            if next(left, None) is None:
                raise KeyboardInterrupt
            yield decision

    record = measured(fresh)
    assert record.calls == after
    assert record.status == "STOPPED"


@pytest.mark.parametrize("rate", [0.3, 0.9])
def test_what_does_nothing_is_seldom_called_better(rate: float) -> None:
    # 100 measurements of four candidates that change nothing: alpha allows 5 on average at most
    wrong, plan = 0, design(4)
    for seed in range(100):
        chance = random.Random(seed)
        base, *found = ([chance.random() < rate for _ in range(20)] for _ in range(5))
        wrong += any(statistics.e_value(plan.guess, base, one) >= plan.wanted for one in found)
    assert wrong <= 5


def test_the_runs_that_a_tolerance_takes_are_the_fewest() -> None:
    for tolerance in (Fraction(1, 2), Fraction(15, 100), Fraction(1, 20), Fraction(1, 100)):
        runs = fixing.runs_for_bound(tolerance)
        assert Fraction(statistics.upper_bound(0, runs)) <= tolerance
        assert Fraction(statistics.upper_bound(0, runs - 1)) > tolerance
    # of 19 runs none at a rate of 15% has the chance 0.85^19 = 0.0456, of 18 it has 0.0536
    assert fixing.runs_for_bound(Fraction(15, 100)) == 19


def test_a_rare_decision_takes_more_runs_to_be_told_from_luck() -> None:
    often, rarely = (fixing.runs_for_test(Guess(Fraction(high, 100), Fraction(high, 1000)),
                                          Fraction(80), 100) for high in (90, 30))
    assert often < 10 < rarely < 40
    assert fixing.runs_for_test(Guess(Fraction(1, 20), Fraction(1, 50)), Fraction(80), 50) == 50


def test_the_report_fits_80_columns_and_says_what_to_take_over() -> None:
    said = report.lines(measured(model()))
    assert max(map(len, said)) <= 80
    text = "\n".join(said)
    for words in ("PASS        0 of 20      14%", "exact one-sided 95% upper bound", "80 or more",
                  "calls draft_reply", "Mostly it calls no tool at all",
                  "action guard, to be taken over", "Call forward_email only if"):
        assert words in text


def test_bounds_are_rounded_away_from_what_is_hoped() -> None:
    assert report.percent("0.1392") == "14%"
    assert report.percent("0.2589") == "25.9%"
    assert report.percent("0.9") == "90%"
