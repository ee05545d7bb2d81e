"""docs/contracts.md says what the contracts are."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from agentrunproof.contracts.registry import CONTRACTS

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_contracts_is_the_one_the_code_makes() -> None:
    script = ROOT / "scripts" / "update_docs.py"
    spec = importlib.util.spec_from_file_location("update_docs", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
    assert page == module.contracts_page(), "stale: run scripts/update_docs.py"
    for contract in CONTRACTS:
        assert all(f"`{code}`" in page for code in contract.codes)
