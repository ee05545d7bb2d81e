"""Rows of known upstream bugs name what exists, and the locks are those that they need."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from agentrunproof.contracts import registry
from agentrunproof.lab import history, locks, releases
from agentrunproof.lab.history import Declared
from agentrunproof.plan import catalog
from agentrunproof.record.history import catcher

ROOT = Path(__file__).parent.parent
LOCKS = ROOT / "requirements"
ROWS = history.load(ROOT / "history")
LISTED = history.listed(ROOT / "history")
ORDER = list(releases.known())
NEEDED = sorted({column.sdk for column in history.needed(ROWS, "3.12")}, key=releases.parse)


def _name(row: Declared) -> str:
    return f"{row.scenario}-{row.check}-{row.code}"


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_names_a_scenario_a_check_and_a_code_that_exist(row: Declared) -> None:
    assert row.scenario in catalog.ids()
    contract = registry.find(row.check)
    assert contract is not None
    assert row.code in contract.codes


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_is_of_a_plan_that_links_its_report_and_has_its_modes(row: Declared) -> None:
    plan = catalog.load(row.scenario)
    assert row.upstream is None or row.upstream in plan.upstream
    assert set(row.modes) <= set(plan.modes)
    assert len(set(row.modes)) == len(row.modes)


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_ends_between_neighbouring_releases(row: Declared) -> None:
    first, last, fixed = map(ORDER.index, (row.first_bad, row.last_bad, row.first_fixed))
    assert first <= last == fixed - 1


def test_no_row_stands_twice() -> None:
    assert [name for name, count in Counter(map(_name, ROWS)).items() if count > 1] == []


def test_there_are_as_many_rows_as_we_claim() -> None:
    shown = {row.listed for row in ROWS if row.listed is not None}
    caught = {row.listed for row in ROWS if row.listed is not None
              and catcher(row.check) != "expectation"}
    assert len(LISTED.bugs) == 114
    assert len(shown) >= 90
    assert len(caught) >= 0.55 * len(shown)


def test_every_bug_of_the_list_has_a_row_or_a_reason_and_not_both() -> None:
    shown = {row.listed for row in ROWS if row.listed is not None}
    assert len(set(LISTED.bugs)) == len(LISTED.bugs)
    assert shown | LISTED.uncovered.keys() == set(LISTED.bugs)
    assert not shown & LISTED.uncovered.keys()
    assert all(why.endswith(".") for why in LISTED.uncovered.values())


def test_there_is_a_lock_for_each_release_that_a_row_needs_and_no_other() -> None:
    assert {path.name for path in LOCKS.iterdir()} == set(map(locks.file_name, NEEDED))


@pytest.mark.parametrize("sdk", NEEDED)
def test_a_lock_is_well_formed_and_names_its_release(sdk: str) -> None:
    lock = locks.read(LOCKS / locks.file_name(sdk))
    assert lock.sdk.version == sdk
    assert "openai" in {wheel.name for wheel in lock.wheels}
