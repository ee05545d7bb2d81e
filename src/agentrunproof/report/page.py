"""A matrix as one self-contained HTML page (`report.html`).

Cells of one meaning share one entry of ``states``, so the page of all plans on all releases stays
small.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentrunproof.contracts.registry import CONTRACTS
from agentrunproof.plan.capabilities import CAPABILITIES
from agentrunproof.plan.model import Plan
from agentrunproof.record import matrix as records
from agentrunproof.record.matrix import Boundary, Cell, Column, Matrix, Row
from agentrunproof.record.result import CheckResult
from agentrunproof.report import grid, html
from agentrunproof.report.explain import expected_words
from agentrunproof.report.grid import Expected, none_expected

#: Where a known failure was reported and what is said of it, by scenario, column, check and code.
Reason = Callable[[str, Column, str, str], "tuple[str, str] | None"]


def no_reason(scenario: str, column: Column, check: str, code: str) -> None:
    return None


@dataclass(frozen=True)
class Background:
    """What a page tells besides the matrix; whatever is left out is not told.

    Args:
        expected: tells known failures.
        reason: tells where they were reported.
        checks: the checks of certificates that are not OK, by certificate id.
        plans: by scenario id.
        errors: what stood in the way of a certificate, by scenario id and column.
        names: what a plan is called on the command line where that is not its scenario id.
        install: what a command needs besides pytest.
    """

    expected: Expected = none_expected
    reason: Reason = no_reason
    checks: Mapping[str, Sequence[CheckResult]] = field(default_factory=dict)
    plans: Mapping[str, Plan] = field(default_factory=dict)
    errors: Mapping[tuple[str, Column], str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    install: Sequence[str] = ()


def render(matrix: Matrix, background: Background | None = None) -> str:
    """The page of a matrix."""
    return html.page("page", _Page(matrix, background or Background()).table())


class _Page:
    """The data of a page while it is put together."""

    def __init__(self, matrix: Matrix, background: Background) -> None:
        self._matrix = matrix
        self._told = background
        self._states: dict[str, int] = {}
        self._links: dict[str, str] = {}
        self._numbers = {(column.sdk, column.lane): number
                         for number, column in enumerate(matrix.columns)}

    def table(self) -> dict[str, Any]:
        """Everything that the script of the page reads."""
        matrix = self._matrix
        rows = [self._row(row) for row in matrix.plans]
        met = {check for row in matrix.plans for check in row.checks}
        return {
            "scope": grid.scope(matrix),
            "id": records.to_json(matrix)["id"],
            "version": matrix.producer.version,
            "signs": {**grid.MARKS, "KNOWN": grid.EXPECTED_MARK},
            "columns": [{"sdk": column.sdk, "python": column.python, "pins": column.pins,
                         "key": column.key, "lane": grid.lane_name(column.lane)}
                        for column in matrix.columns],
            "rows": rows,
            "states": [json.loads(state) for state in self._states],
            "checks": {contract.name: {"promise": contract.promise, "codes": contract.codes}
                       for contract in CONTRACTS if contract.name in met},
            "capabilities": CAPABILITIES,
            "links": self._links,
        }

    def _row(self, row: Row) -> dict[str, Any]:
        plan = self._told.plans.get(row.scenario)
        self._link(row.upstream)
        return {
            "id": row.scenario, "area": row.area, "title": row.title, "checks": row.checks,
            "command": bool(row.command), "upstream": row.upstream, "how": self._how(row),
            "contract": plan.contract if plan else "", "why": plan.why if plan else "",
            "expected": {phase.id: "; ".join(expected_words(phase.expect))
                         for phase in plan.phases} if plan else {},
            "edges": [self._edge(row, one) for one in grid.row_boundaries(self._matrix, row)],
            "cells": [self._state(row, cell, column) for cell, column in self._cells(row)],
            "ids": [(cell.certificate or "").removeprefix("sha256:") for cell in row.cells],
        }

    def _cells(self, row: Row) -> Iterable[tuple[Cell, Column]]:
        return zip(row.cells, self._matrix.columns, strict=True)

    def _how(self, row: Row) -> tuple[str, str]:
        """The command line that shows one cell: before and after the words for its column."""
        if row.command:
            install = [word for one in self._told.install for word in ("--install", one)]
            return (shlex.join(["agentrunproof", "matrix", *install]),
                    "-- " + shlex.join(row.command))
        # a probe takes no pins
        verb = "matrix" if any(column.pins for column in self._matrix.columns) else "probe"
        name = self._told.names.get(row.scenario, row.scenario)
        return shlex.join(["agentrunproof", verb, name]), ""

    def _state(self, row: Row, cell: Cell, column: Column) -> int:
        """The number of what a cell says, its certificate's id aside."""
        known = cell.verdict == "FAIL" and self._told.expected(row.scenario, cell, column)
        error = self._told.errors.get((row.scenario, column), cell.error or "")
        state = {"verdict": "KNOWN" if known else cell.verdict, "lacks": cell.missing,
                 "error": error, "absent": cell.absent,
                 "checks": self._checks(row, cell, column)}
        return self._states.setdefault(json.dumps(state), len(self._states))

    def _checks(self, row: Row, cell: Cell, column: Column) -> list[dict[str, Any]]:
        """The checks of a cell that are not OK."""
        seen = {one.check: one for one in self._told.checks.get(cell.certificate or "", ())}
        found = []
        for check, code in (*cell.codes.items(), *cell.untestable.items()):
            told: dict[str, Any] = {"check": check, "code": code}
            if check in seen:
                one = seen[check]
                told |= {"seen": one.detail, "where": one.where, "also": one.also}
            known = self._told.reason(row.scenario, column, check, code)
            if known is not None:
                told["known"] = known
                self._link(known[:1])
            found.append(told)
        return found

    def _edge(self, row: Row, one: Boundary) -> dict[str, Any]:
        """A boundary, with the issue of its check if that is known, else those of the plan."""
        number = self._numbers[one.sdk, (one.python, one.pins)]
        failing = number if one.kind != "fixed-in" \
            else self._numbers[one.previous, (one.python, one.pins)]
        known = self._told.reason(row.scenario, self._matrix.columns[failing], one.check,
                                  one.code)
        return {"at": number, "kind": one.kind, "check": one.check, "code": one.code,
                "previous": one.previous,
                "upstream": [*filter(None, known[:1])] if known else row.upstream}

    def _link(self, references: Iterable[str]) -> None:
        """Remember where references lead, if they are links at all."""
        for reference in references:
            address = grid.address_of(reference)
            if address is not None:
                self._links[reference] = address
