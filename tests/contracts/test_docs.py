"""Pages that follow from the code and the evidence are the ones that these make."""

from __future__ import annotations

import re
from pathlib import Path

from agentrunproof.contracts.registry import CONTRACTS
from tests import scripts

ROOT = Path(__file__).resolve().parents[2]
STALE = "stale: run scripts/update_docs.py"


def test_the_page_of_contracts_is_the_one_the_code_makes() -> None:
    page = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
    assert page == scripts.load("update_docs").contracts_page(), STALE
    for contract in CONTRACTS:
        assert all(f"`{code}`" in page for code in contract.codes)


def test_the_mutation_page_names_every_contract_and_none_below_the_bar() -> None:
    page = (ROOT / "docs" / "mutation.md").read_text(encoding="utf-8")
    shares = dict(re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+)% \|", page, re.MULTILINE))
    assert shares.keys() >= {contract.name for contract in CONTRACTS}
    assert {name: share for name, share in shares.items() if float(share) < 90} == {}
    assert "no reason yet" not in page


def test_page_and_picture_of_the_history_are_those_of_the_evidence() -> None:
    script = scripts.load("update_docs")
    recorded = script.recorded_history()
    page = (ROOT / "docs" / "history.md").read_text(encoding="utf-8")
    picture = (ROOT / "docs" / "images" / "history.svg").read_text(encoding="utf-8")
    assert page == script.history_page(recorded), STALE
    assert picture == script.history_picture(recorded), STALE
    assert all(f"`{bug.scenario}`" in page for bug in recorded.rows)
