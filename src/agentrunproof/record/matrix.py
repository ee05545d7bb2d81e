"""The matrix: what became of each plan on each SDK release, and where that changed.

A matrix holds verdicts, codes and the ids of certificates, never their contents, so it is small,
and whoever has the certificates can derive it again (`record.layout`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from agentrunproof.errors import RecordError
from agentrunproof.plan.model import ScenarioId
from agentrunproof.record.document import Document, Version
from agentrunproof.record.result import Verdict
from agentrunproof.shape import Digest, Name, Text

#: The one check of a row that is a command rather than a plan: how the command exited.
EXIT = "exit"

MinorPython = Annotated[str, Text(r"3\.[1-9][0-9]", "a Python version such as 3.12")]
Pin = Annotated[str, Text(r"[a-z0-9]([a-z0-9.\-]*[a-z0-9])?=[a-z0-9][a-z0-9.]*",
                          "a pin such as openai=lowest")]
BoundaryKind = Literal["introduced-in", "fixed-in", "regressed-in"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One environment: an SDK release, a Python, and what was pinned besides.

    Args:
        sdk: release of the SDK.
        python: Python such as ``3.12``.
        pins: ``name=version``, where the version may be ``lowest`` or ``latest``; by name.
    """

    sdk: Version
    python: MinorPython
    pins: tuple[Pin, ...] = ()

    @property
    def key(self) -> str:
        """A name for it that no other column has, fit for a folder."""
        return f"{self.sdk}-python-{self.python}" + "".join(f"+{pin}" for pin in self.pins)

    @property
    def lane(self) -> tuple[str, tuple[str, ...]]:
        """What it has in common with the columns that differ in the release alone."""
        return self.python, self.pins

    @property
    def order(self) -> tuple[Any, ...]:
        """Sorts columns: by release, then Python, then pins."""
        return version_order(self.sdk), version_order(self.python), self.pins


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What became of one plan in one column.

    Args:
        verdict: the certificate's; ``ERROR`` where there is none.
        certificate: its id.
        missing: capabilities that the release lacks, which is why the plan was not run.
        codes: of the checks that failed.
        untestable: codes of the checks that could not be judged.
        absent: checks of the row that did not apply here.
        error: code of what stood in the way of a certificate.
    """

    verdict: Verdict
    certificate: Digest | None = None
    missing: tuple[Name, ...] = ()
    codes: dict[Name, Name] = field(default_factory=dict)
    untestable: dict[Name, Name] = field(default_factory=dict)
    absent: tuple[Name, ...] = ()
    error: Name | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One plan (or command) over all columns; `checks` are those that occur in any cell.

    Args:
        scenario: the plan's id, or a name made of the command.
        plan: digest of the plan, or of the command's words.
        area: of the plan.
        title: of the plan.
        upstream: links of the plan.
        command: the words of the command; nothing for a plan.
        checks: names, sorted.
        cells: one for each column.
    """

    scenario: ScenarioId
    plan: Digest
    area: Name
    title: str
    upstream: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    checks: tuple[Name, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Boundary:
    """Two releases between which a check changed.

    Args:
        scenario: the row.
        check: the check that changed.
        kind: ``introduced-in``: failed for the first time; ``fixed-in``: passed again;
            ``regressed-in``: failed again after it had been fixed.
        sdk: the first release of the new state.
        previous: the last one that was judged before. Where nothing was judged before a first
            failure, because releases lack what the plan needs, it is the last that lacks it.
        code: of the failure that begins, or ends, here.
        python: Python of the columns.
        pins: pins of the columns.
    """

    scenario: ScenarioId
    check: Name
    kind: BoundaryKind
    sdk: Version
    previous: Version
    code: Name
    python: MinorPython
    pins: tuple[Pin, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MatrixProducer:
    """Who made the record."""

    version: Version


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A whole matrix: columns in version order, rows by area and id.

    `record.layout.lay_out` makes one; boundaries follow from the cells.
    """

    producer: MatrixProducer
    columns: tuple[Column, ...]
    plans: tuple[Row, ...]
    boundaries: tuple[Boundary, ...] = ()


FORM = Document("matrix", Matrix)


def version_order(version: str) -> tuple[Any, ...]:
    """A key by which versions sort: ``0.9.0`` before ``0.10.0rc1`` before ``0.10.0``."""
    numbers = re.match(r"[0-9]+(?:\.[0-9]+)*", version)
    assert numbers is not None, version
    rest = version[numbers.end():]
    return tuple(int(part) for part in numbers[0].split(".")), not rest, rest


def to_json(matrix: Matrix) -> dict[str, Any]:
    """The JSON table of a matrix, its id included."""
    return FORM.to_json(matrix)


def to_bytes(matrix: Matrix) -> bytes:
    """The content of a matrix's file: its canonical bytes and one line feed."""
    return FORM.to_bytes(matrix)


def from_json(value: Any) -> Matrix:
    """Read a matrix's JSON table; its form is checked, its truth is not (see `checker.matrix`).

    Raises:
        RecordError: ``MATRIX_ROW_LENGTH``, or what `record.document.Document.from_json` says.
    """
    matrix = FORM.from_json(value)
    for row in matrix.plans:
        if len(row.cells) != len(matrix.columns):
            raise RecordError("MATRIX_ROW_LENGTH", f"{row.scenario}: {len(row.cells)} cells for "
                              f"{len(matrix.columns)} columns")
    return matrix
