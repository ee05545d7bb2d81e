"""Failures that are known: which check of which scenario fails on which releases, and why.

``scenarios/known-failures.toml`` lists them, strictly: a failure that is listed does not fail a
matrix, and an entry that covers a release on which the check passes does, so that the list can
hold nothing that is no longer so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from agentrunproof import shape
from agentrunproof.errors import PlanError, ShapeError
from agentrunproof.lab import selection
from agentrunproof.plan import catalog
from agentrunproof.plan.loader import read_toml
from agentrunproof.plan.model import ScenarioId
from agentrunproof.record import layout
from agentrunproof.record.matrix import Cell, Column, Matrix, Row
from agentrunproof.shape import Name, Text

FILE = "known-failures.toml"

Link = Annotated[str, Text(r"https://\S+|[\w.\-]+#[0-9]+", "a link, or repository#number")]


@dataclass(frozen=True, kw_only=True)
class KnownFailure:
    """One known failure, of one check in all scenarios in which it has the same reason.

    Args:
        scenarios: whose.
        check: the check that fails.
        sdk: the releases on which it does, such as ``>=0.8,<0.12``; it may hold others on which
            the check cannot be judged.
        code: its code; any code if left out.
        upstream: where it was reported, or where the change was decided. What has none has a
            note that says so.
        note: what one should know about it.
    """

    scenarios: tuple[ScenarioId, ...]
    check: Name
    sdk: str
    code: Name | None = None
    upstream: Link | None = None
    note: str = ""

    def covers(self, scenario: str, sdk: str, check: str) -> bool:
        """Whether it speaks of this check on this release."""
        return scenario in self.scenarios and check == self.check \
            and selection.matcher(self.sdk)(sdk)


@dataclass(frozen=True)
class Stale:
    """A known failure that did not fail, and where."""

    known: KnownFailure
    scenario: str
    column: Column

    def __str__(self) -> str:
        return (f"a known failure says that {self.known.check} of {self.scenario} fails "
                f"on {self.known.sdk}, but it passes on {self.column.key}")


@dataclass(frozen=True, kw_only=True)
class _File:
    failure: tuple[KnownFailure, ...] = ()


def load(path: Path | None = None) -> tuple[KnownFailure, ...]:
    """The known failures of a file; by default the packaged ones.

    Raises:
        PlanError: ``KNOWN_FAILURES``, naming the file and the place in it.
    """
    path = path or catalog.folder() / FILE
    try:
        file: _File = shape.decode(_File, read_toml(path))
    except ShapeError as error:
        raise PlanError("KNOWN_FAILURES", f"{path}: {error.message}", error.hint) from error
    for number, known in enumerate(file.failure):
        selection.matcher(known.sdk)
        if not (known.scenarios and (known.upstream or known.note)):
            raise PlanError("KNOWN_FAILURES", f"{path}: failure[{number}]: names no scenario, or "
                            "has neither upstream nor note", "where nothing was reported, a note "
                            "says so")
    return file.failure


def reason(known: tuple[KnownFailure, ...], scenario: str, column: Column, check: str,
           code: str) -> KnownFailure | None:
    """The known failure that a failed check is, if any."""
    return next((one for one in known if one.covers(scenario, column.sdk, check)
                 and one.code in (None, code)), None)


def is_expected(known: tuple[KnownFailure, ...], scenario: str, cell: Cell,
                column: Column) -> bool:
    """Whether every failed check of a cell is a known failure."""
    return bool(cell.codes) and all(reason(known, scenario, column, check, code)
                                    for check, code in cell.codes.items())


def stale(known: tuple[KnownFailure, ...], matrix: Matrix) -> Iterator[Stale]:
    """What a matrix contradicts: each entry and scenario once, by the first such column."""
    rows = {row.scenario: row for row in matrix.plans}
    for one in known:
        for scenario in one.scenarios:
            row = rows.get(scenario)
            if row is not None and one.check in row.checks:
                column = next(_passed(one, row, matrix.columns), None)
                if column is not None:
                    yield Stale(one, scenario, column)


def _passed(known: KnownFailure, row: Row, columns: tuple[Column, ...]) -> Iterator[Column]:
    for column, cell in zip(columns, row.cells, strict=True):
        if known.covers(row.scenario, column.sdk, known.check) \
                and layout.judged(cell, known.check) and known.check not in cell.codes:
            yield column
