"""Writes the pages of docs/ that are made from the code: docs/contracts.md.

Run it after changing a contract; a test fails while the page on disk is another one.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from agentrunproof.contracts.base import Contract
from agentrunproof.contracts.registry import CONTRACTS, verdict

DOCS = Path(__file__).resolve().parent.parent / "docs"

HEAD = """# Contracts

<!-- Written by scripts/update_docs.py from src/agentrunproof/contracts; edit the code instead. -->

A contract is one promise of the Agents SDK's Runner. Each contract that applies to a plan is
judged on every run of it and gives one check: `PASS`, `FAIL` with the code of the first breach,
or `UNTESTABLE` where the run left nothing to judge by. A contract that does not apply is absent.
A failed check says where (`mode/phase`), what was seen, and how many more breaches there are.

What a contract compares is narrower than its promise where the promise leaves the Runner a
choice; its section says where.

## How the verdict follows
"""


def contracts_page() -> str:
    """The text of docs/contracts.md."""
    rules = (inspect.getdoc(verdict) or "").replace("``", "`")
    parts = [HEAD, rules, "", "## The checks", "", "| check | promise |", "|---|---|"]
    parts += [f"| [`{c.name}`](#{c.name}) | {c.promise} |" for c in CONTRACTS]
    for contract in CONTRACTS:
        parts += ["", *_section(contract)]
    return "\n".join(parts) + "\n"


def _section(contract: Contract) -> list[str]:
    module = importlib.import_module(f"agentrunproof.contracts.{contract.name}")
    told = (inspect.getdoc(module) or "").replace("``", "`")
    lines = [f"### {contract.name}", "", told, "", f"Source: <{contract.source}>", "",
             "| code | meaning |", "|---|---|"]
    return lines + [f"| `{code}` | {meaning} |" for code, meaning in contract.codes.items()]


if __name__ == "__main__":
    (DOCS / "contracts.md").write_text(contracts_page(), encoding="utf-8")
