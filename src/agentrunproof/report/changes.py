"""What changed from one matrix to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentrunproof.record.matrix import Cell, Column, Matrix, Row
from agentrunproof.report.text import wrap
from agentrunproof.shape import encode


@dataclass(frozen=True)
class Change:
    """A cell that both have, and that is not the same in both, certificates aside."""

    scenario: str
    column: Column
    before: Cell
    after: Cell

    def to_json(self) -> dict[str, Any]:
        """For ``--format json``."""
        table: dict[str, Any] = encode(self)
        return table


def compare(old: Matrix, new: Matrix) -> list[Change]:
    """The changed cells, row by row in the order of `new`."""
    before = {row.scenario: row for row in old.plans}
    return [change for row in new.plans if row.scenario in before
            for change in _row(old, before[row.scenario], new, row)]


def lines(old: Matrix, new: Matrix) -> list[str]:
    """The changes in words, and what only one of the two has."""
    changes = compare(old, new)
    told = []
    for change in changes:
        told += wrap(f"{change.scenario} on {change.column.key}: {_words(change.before)} -> "
                     f"{_words(change.after)}", "  ")
    added = {column.key for column in new.columns} - {column.key for column in old.columns}
    gone = {column.key for column in old.columns} - {column.key for column in new.columns}
    fresh = {row.scenario for row in new.plans} - {row.scenario for row in old.plans}
    lost = {row.scenario for row in old.plans} - {row.scenario for row in new.plans}
    for what, names in (("new columns", added), ("columns not looked at", gone),
                        ("new plans", fresh), ("plans not looked at", lost)):
        if names:
            told += wrap(f"{what}: {len(names)}", "  ")
    return [f"changes: {len(changes) or 'none'}", *told]


def _row(old: Matrix, before: Row, new: Matrix, after: Row) -> Iterator[Change]:
    cells = dict(zip(old.columns, before.cells, strict=True))
    for column, cell in zip(new.columns, after.cells, strict=True):
        was = cells.get(column)
        if was is not None and _meaning(was) != _meaning(cell):
            yield Change(after.scenario, column, was, cell)


def _meaning(cell: Cell) -> tuple[Any, ...]:
    """What a cell says; which checks are absent depends on the other cells of its row."""
    return cell.verdict, cell.missing, cell.codes, cell.untestable, cell.error


def _words(cell: Cell) -> str:
    reasons = [*(f"{check} {code}" for check, code in {**cell.codes, **cell.untestable}.items()),
               *(f"lacks {name}" for name in cell.missing), *([cell.error] if cell.error else [])]
    return cell.verdict + (f" ({', '.join(reasons)})" if reasons else "")
