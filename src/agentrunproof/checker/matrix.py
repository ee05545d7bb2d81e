"""The numbered procedure by which a matrix is checked against its certificates.

 1. Bytes: strict JSON, and exactly the canonical bytes of the value they hold.
 2. Shape and id: a matrix of the format this version knows, named by the digest of the rest.
 3. Form: made by a version of ours; columns and rows in their order, none twice.
 4. Members: every certificate that a cell names is there, under its column and scenario, and
    nothing else is.
 5. Certificates: each is valid by the procedure for certificates, and has the id that is named.
 6. Belonging: each is of the plan of its row, and was made on the release and Python of its
    column; what the row says of the plan is what the plan says.
 7. Derivation: cells, checks and boundaries are derived again and are exactly those.

What cannot be derived is only reported: pins of a column, errors, and how commands exited. The
notes say how many cells those are.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentrunproof.checker import binding, procedure
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.checker.members import Assess, Members, Read, name_of
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import layout
from agentrunproof.record import matrix as matrices
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Cell, Column, Matrix, Row


def check(data: bytes, names: Iterable[str], read: Read, *, extra: bool = False,
          reproduced: bool = False, assess: Assess | None = None) -> Judgement:
    """Check the bytes of a matrix by all steps; the first that does not hold ends it.

    Args:
        data: the content of the matrix's file.
        names: of all members, each ``<column key>/<scenario>.json``.
        read: gives the bytes of one.
        extra: whether certificates of no cell may be there as well.
        reproduced: accept only observations that this version has made itself.
        assess: assesses many members at once, in place of reading and checking each here.
    """
    id = ""
    members = Members(names, read, reproduced, assess)
    try:
        value = procedure.read(data)                                                       # 1
        matrix = matrices.from_json(value)                                                 # 2
        id = value["id"]
        _check_form(matrix)                                                                # 3
        members.check_names(_certificates(matrix), extra)                                  # 4
        findings = {(row.scenario, column): _finding(members, row, column, cell)     # 5 and 6
                    for row in matrix.plans
                    for column, cell in zip(matrix.columns, row.cells, strict=True)}
        _check_derivation(matrix, findings)                                                # 7
        notes = (*_reported(matrix), *members.notes())
    except AgentRunProofError as problem:
        return refused(problem, id=id)
    return Judgement(valid=True, code="OK", id=id, notes=notes)


def _check_form(matrix: Matrix) -> None:
    binding.check_version(matrix.producer.version)
    columns = sorted(set(matrix.columns), key=lambda column: column.order)
    if list(matrix.columns) != columns:
        reject("COLUMNS_DISORDERED", "the columns are not in order, or one stands twice")
    places = [(row.area, row.scenario) for row in matrix.plans]
    names = {row.scenario for row in matrix.plans}
    if places != sorted(places) or len(names) != len(places):
        reject("ROWS_DISORDERED", "the rows are not in order, or one stands twice")
    for row in matrix.plans:
        if row.command and layout.head_of_command(row.scenario, row.command) != layout.head(row):
            reject("COMMAND_ALTERED", f"{row.scenario}: the row does not follow from its command")


def _certificates(matrix: Matrix) -> list[str]:
    """The names of the certificates that cells name."""
    return [name_of(column, row.scenario) for row in matrix.plans
            for column, cell in zip(matrix.columns, row.cells, strict=True)
            if cell.certificate is not None]


def _finding(members: Members, row: Row, column: Column, cell: Cell) -> Finding:
    """What was found in a cell: by its certificate, else as the cell reports it."""
    if cell.certificate is None:
        return _reported_finding(row, column, cell)
    return members.find(row, column, cell.certificate)


def _reported_finding(row: Row, column: Column, cell: Cell) -> Finding:
    """What a cell without a certificate says, if it may say so."""
    finding = layout.finding_of(row, cell)
    honest = layout.of_error(cell.error) if cell.error is not None else None
    if row.command and honest is None:
        state = layout.state(cell, matrices.EXIT)
        honest = layout.of_exit(*state) if state[0] == cell.verdict else None
    if finding != honest:
        reject("CELL_UNFOUNDED", f"{row.scenario} on {column.key}: the cell has neither a "
               "certificate nor an error")
    return finding


def _check_derivation(matrix: Matrix, findings: layout.Findings) -> None:
    derived = layout.lay_out(matrix.producer.version, matrix.columns, matrix.plans, findings)
    for stored, row in zip(matrix.plans, derived.plans, strict=True):
        if stored.checks != row.checks:
            reject("CHECKS_DIFFER", f"{row.scenario}: the row lists other checks than the "
                   "certificates hold")
        for column, cell, again in zip(matrix.columns, stored.cells, row.cells, strict=True):
            if cell != again:
                reject("CELL_DIFFERS", f"{row.scenario} on {column.key}: the cell says "
                       f"{_words(cell)}, the certificate gives {_words(again)}")
    if matrix.boundaries != derived.boundaries:
        reject("BOUNDARIES_DIFFER", "the boundaries are not those that follow from the cells")


def _words(cell: Cell) -> str:
    return " ".join((cell.verdict, *cell.missing, *(
        f"{check}={code}" for check, code in {**cell.codes, **cell.untestable}.items()),
        *(f"without {check}" for check in cell.absent)))


def _reported(matrix: Matrix) -> list[str]:
    """Notes on what the matrix says and no certificate shows."""
    cells = [(row, cell) for row in matrix.plans for cell in row.cells]
    errors = sum(cell.error is not None for _, cell in cells)
    exits = sum(bool(row.command) and cell.error is None for row, cell in cells)
    pinned = sum(bool(column.pins) for column in matrix.columns)
    return [f"{what}: {count}" for count, what in (
        (errors, "cells with an error, which no certificate shows"),
        (exits, "cells with the exit of a command, which no certificate shows"),
        (pinned, "columns with pins, which no certificate shows")) if count]

