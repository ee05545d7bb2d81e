"""A matrix as one self-contained HTML page: no network, no other file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentrunproof.contracts.registry import CONTRACTS
from agentrunproof.record import matrix as records
from agentrunproof.record.matrix import Matrix
from agentrunproof.report.grid import Expected, none_expected, summary

_PLACE = "@DATA@"


def render(matrix: Matrix, expected: Expected = none_expected,
           details: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """The page.

    Args:
        matrix: what to show.
        expected: tells known failures.
        details: by certificate id, what was observed in each check that is not OK.
    """
    known = {number: columns for number, row in enumerate(matrix.plans) if (columns := [
        n for n, (cell, column) in enumerate(zip(row.cells, matrix.columns, strict=True))
        if cell.verdict == "FAIL" and expected(row.scenario, cell, column)])}
    data: dict[str, Any] = {
        "matrix": records.to_json(matrix),
        "summary": summary(matrix, expected),
        "known": known,
        "words": {contract.name: {"promise": contract.promise, "codes": contract.codes}
                  for contract in CONTRACTS},
        "details": details or {},
    }
    # "</script>" inside a string would end the element that holds the data.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return template.replace(_PLACE, text)
