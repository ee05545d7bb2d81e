"""The test of claims keeps its promise under optional stopping, and the intervals are exact."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.ablation.statistics import (
    EProcess,
    Guess,
    at_most,
    decimal,
    e_decimal,
    e_value,
    interval,
    upper_bound,
)

GUESSES = [Guess(), Guess(Fraction(19, 20), Fraction(3, 20)),
           Guess(Fraction(1, 4), Fraction(1, 25))]


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_the_e_value_is_expected_to_be_at_most_one_under_the_null(guess: Guess, rate: Fraction
                                                                  ) -> None:
    expected = Fraction(0)
    blocks = list(itertools.product((True, False), repeat=2))
    for course in itertools.product(blocks, repeat=4):
        chance, process = Fraction(1), EProcess(guess)
        for block in course:
            for outcome in block:
                chance *= rate if outcome else 1 - rate
            process.add(*block)
        expected += chance * process.value
    assert expected <= 1


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("rate", [0.2, 0.5, 0.7, 0.9])
def test_stopping_at_will_is_wrong_no_more_often_than_alpha(guess: Guess, rate: float) -> None:
    chance, wrong, trials = random.Random(f"{rate}"), 0, 150
    for _ in range(trials):
        process = EProcess(guess)
        while process.blocks < 40 and process.value < 20:
            process.add(chance.random() < rate, chance.random() < rate)
        wrong += process.value >= 20
    # three standard deviations above alpha
    assert wrong / trials <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / trials)


@pytest.mark.parametrize(("high", "low", "blocks"), [
    (1.0, 0.0, 6), (0.9, 0.3, 40), (0.35, 0.0, 60)])
def test_a_true_effect_is_found_soon(high: float, low: float, blocks: int) -> None:
    chance = random.Random(7)
    found = 0
    for _ in range(100):
        process = EProcess(Guess())
        while process.blocks < blocks and process.value < 20:
            process.add(chance.random() < high, chance.random() < low)
        found += process.value >= 20
    assert found >= 95


@given(st.lists(st.booleans(), max_size=12), st.lists(st.booleans(), max_size=12))
def test_the_e_value_is_the_largest_on_the_way_and_what_is_left_over_unused(
        one: Sequence[bool], two: Sequence[bool]) -> None:
    count = min(len(one), len(two))
    process = EProcess(Guess())
    on_the_way = [Fraction(1), *(process.add(*block) for block in zip(one, two, strict=False))]
    assert e_value(Guess(), one, two) == max(on_the_way) == e_value(
        Guess(), one[:count], two[:count])


def test_equal_outcomes_are_no_evidence() -> None:
    outcomes = [True, False] * 10
    assert e_value(Guess(), outcomes, outcomes) == 1


@given(st.integers(1, 25), st.data())
def test_the_interval_holds_exactly_the_rates_that_outcomes_do_not_refute(
        runs: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, runs))
    low, high = map(Fraction, interval(hits, runs))
    side, step = Fraction(1, 40), Fraction(1, 10**4)
    assert low <= Fraction(hits, runs) <= high
    if hits:
        assert 1 - at_most(hits - 1, runs, low) <= side < 1 - at_most(hits - 1, runs, low + step)
    if hits < runs:
        assert at_most(hits, runs, high) <= side < at_most(hits, runs, high - step)


@pytest.mark.parametrize(("hits", "runs", "bound"), [(0, 10, "0.2589"), (0, 59, "0.0496"),
                                                     (10, 10, "1")])
def test_none_in_ten_says_less_than_26_percent(hits: int, runs: int, bound: str) -> None:
    assert upper_bound(hits, runs) == bound


def test_chances_of_all_outcomes_add_up() -> None:
    assert at_most(7, 7, Fraction(1, 3)) == 1
    assert at_most(0, 3, Fraction(1, 3)) == Fraction(8, 27)


@pytest.mark.parametrize(("value", "written"), [
    (Fraction(1, 2), "0.5"), (Fraction(-1, 4), "-0.25"), (Fraction(0), "0"), (Fraction(3), "3"),
    (Fraction(2, 3), "0.6667")])
def test_numbers_are_written_without_idle_zeros(value: Fraction, written: str) -> None:
    assert decimal(value) == written


def test_e_values_are_rounded_down_and_capped() -> None:
    assert e_decimal(Fraction(19999, 1000)) == "19.99"
    assert e_decimal(Fraction(10**9)) == "1000000"
