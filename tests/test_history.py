"""Rows of known upstream bugs name what exists: scenario, check, code, neighbouring releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrunproof.contracts import registry
from agentrunproof.lab import releases
from agentrunproof.plan import catalog
from agentrunproof.plan.loader import read_toml

FOLDER = Path(__file__).parent.parent / "history"
ROWS: list[dict[str, Any]] = [
    row for file in sorted(FOLDER.glob("*.toml")) for row in read_toml(file)["rows"]]
ORDER = list(releases.known())


def _name(row: dict[str, Any]) -> str:
    return f"{row['scenario']}-{row['check']}-{row['last_bad']}"


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_names_a_scenario_a_check_and_a_code_that_exist(row: dict[str, Any]) -> None:
    assert row["scenario"] in catalog.ids()
    contract = registry.find(row["check"])
    assert contract is not None
    assert row["code"] in contract.codes
    assert row["universal"] == (row["check"] != "execution_outcome")


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_row_ends_between_neighbouring_releases(row: dict[str, Any]) -> None:
    assert ORDER.index(row["first_fixed"]) == ORDER.index(row["last_bad"]) + 1
    if row["first_bad"]:
        assert ORDER.index(row["first_bad"]) <= ORDER.index(row["last_bad"])


def test_no_row_stands_twice() -> None:
    assert ROWS
    assert len({_name(row) for row in ROWS}) == len(ROWS)
