"""What the verdicts of a matrix come to, known failures considered: after a sweep or a merge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, note, paint

if TYPE_CHECKING:
    from agentrunproof.lab.expected import KnownFailure, Stale
    from agentrunproof.record.matrix import Cell, Column, Matrix


@dataclass(frozen=True)
class Verdicts:
    """Judges matrices in the light of failures that are known."""

    known: tuple[KnownFailure, ...]

    @classmethod
    def knowing(cls, file: Path | None) -> Verdicts:
        """With the packaged known failures, and those of a file if one is given.

        Raises:
            PlanError: ``KNOWN_FAILURES``, or the file cannot be read.
        """
        from agentrunproof.lab import expected

        return cls((*expected.load(), *(expected.load(file) if file is not None else ())))

    def expected(self, scenario: str, cell: Cell, column: Column) -> bool:
        """Whether everything that fails in a cell is known to fail there."""
        from agentrunproof.lab import expected

        return expected.is_expected(self.known, scenario, cell, column)

    def reason(self, scenario: str, column: Column, check: str, code: str
               ) -> tuple[str, str] | None:
        """Where a known failure was reported, and what one should know about it."""
        from agentrunproof.lab import expected

        known = expected.reason(self.known, scenario, column, check, code)
        return (known.upstream or "", known.note) if known else None

    def stale(self, made: Matrix) -> list[Stale]:
        """The known failures that the matrix contradicts."""
        from agentrunproof.lab import expected

        return list(expected.stale(self.known, made))

    def exit(self, made: Matrix) -> int:
        """The gravest of: an unknown FAIL or a stale known one, then an ERROR."""
        return exits.worst(
            [exits.of_verdict(cell.verdict)
             for row in made.plans
             for column, cell in zip(made.columns, row.cells, strict=True)
             if cell.verdict in ("FAIL", "ERROR")
             and not self.expected(row.scenario, cell, column)]
            + [exits.VIOLATION for _ in self.stale(made)])

    def tell_stale(self, made: Matrix) -> None:
        """Name the known failures that are no more."""
        for one in self.stale(made):
            note(f"stale: {one} (delete or correct the entry)")

    def show(self, made: Matrix, old: Matrix | None, *, markdown: bool) -> None:
        """Print a matrix, and what changed since an older one."""
        from agentrunproof.report import changes, grid

        if markdown:
            print(grid.markdown(made, self.expected), end="")
        else:
            lines(grid.lines(made, self.expected, paint()))
        if old is not None:
            lines(["", *changes.lines(old, made)])
