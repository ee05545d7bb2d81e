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

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NoReturn

from agentrunproof import canonical
from agentrunproof.checker import binding, procedure
from agentrunproof.checker.judgement import Judgement, reject
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import certificate as records
from agentrunproof.record import layout
from agentrunproof.record import matrix as matrices
from agentrunproof.record.certificate import Envelope
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Cell, Column, Matrix, Row

#: Gives the bytes of a member by its name.
Read = Callable[[str], bytes]


def check(data: bytes, names: Iterable[str], read: Read, *, extra: bool = False,
          reproduced: bool = False) -> Judgement:
    """Check the bytes of a matrix by all steps; the first that does not hold ends it.

    Args:
        data: the content of the matrix's file.
        names: of all members, each ``<column key>/<scenario>.json``.
        read: gives the bytes of one.
        extra: whether certificates of no cell may be there as well.
        reproduced: accept only observations that this version has made itself.
    """
    id, notes = "", list[str]()
    members = _Members(read, reproduced)
    try:
        value = procedure.read(data)                                                       # 1
        matrix = matrices.from_json(value)                                                 # 2
        id = value["id"]
        _check_form(matrix)                                                                # 3
        _check_members(matrix, set(names), notes, extra)                                   # 4
        findings = {(row.scenario, column): members.find(row, column, cell)          # 5 and 6
                    for row in matrix.plans
                    for column, cell in zip(matrix.columns, row.cells, strict=True)}
        _check_derivation(matrix, findings)                                                # 7
        notes += [*_reported(matrix), *members.notes()]
    except AgentRunProofError as problem:
        return Judgement(valid=False, code=problem.code, message=problem.message,
                         hint=problem.hint, id=id)
    return Judgement(valid=True, code="OK", id=id, notes=tuple(notes))


def member(column: Column, row: Row) -> str:
    """The name of the certificate of a cell."""
    return f"{column.key}/{row.scenario}.json"


def _check_form(matrix: Matrix) -> None:
    if matrix.producer.version not in binding.OUR_VERSIONS:
        reject("PRODUCER_UNKNOWN", f"made by agentrunproof {matrix.producer.version}, which this "
               "version does not know", "check it with that version")
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


def _check_members(matrix: Matrix, names: set[str], notes: list[str], extra: bool) -> None:
    needed = {member(column, row): cell.certificate for row in matrix.plans
              for column, cell in zip(matrix.columns, row.cells, strict=True)
              if cell.certificate is not None}
    missing = sorted(needed.keys() - names)
    if missing:
        reject("CERTIFICATE_MISSING", f"{missing[0]} is not there"
               + (f", nor are {len(missing) - 1} more" if len(missing) > 1 else ""),
               "give the folder with the certificates")
    surplus = sorted(names - needed.keys())
    if surplus and not extra:
        reject("CERTIFICATE_EXTRA", f"{surplus[0]} belongs to no cell"
               + (f", nor do {len(surplus) - 1} more" if len(surplus) > 1 else ""),
               "a folder that several sweeps use is checked with --allow-extra")
    if surplus:
        notes.append(f"certificates there that belong to no cell: {len(surplus)}")


class _Members:
    """The certificates, each checked when it is asked for; what is noted of them is counted."""

    def __init__(self, read: Read, reproduced: bool) -> None:
        self._read = read
        self._reproduced = reproduced
        self._noted: Counter[str] = Counter()

    def find(self, row: Row, column: Column, cell: Cell) -> Finding:
        """What was found in a cell: by its certificate, else as the cell reports it."""
        if cell.certificate is None:
            return _reported_finding(row, column, cell)
        name = member(column, row)
        data = self._read(name)
        judgement = procedure.check(data, reproduced=self._reproduced)
        if not judgement.valid:
            _refuse(name, judgement.code, judgement.message, judgement.hint)
        if judgement.id != cell.certificate:
            _refuse(name, "CERTIFICATE_DIFFERS", "its id is not the one that the matrix names")
        envelope = records.read_envelope(canonical.parse(data))
        _check_belonging(name, row, column, envelope)
        self._noted.update(judgement.notes)
        return layout.of_certificate(envelope)

    def notes(self) -> list[str]:
        """What is noted of certificates, and of how many."""
        return [f"{note}: {count} certificates" for note, count in sorted(self._noted.items())]


def _check_belonging(name: str, row: Row, column: Column, envelope: Envelope) -> None:
    if row.command or envelope.subject.scenario != row.scenario \
            or envelope.subject.plan != row.plan:
        _refuse(name, "CERTIFICATE_OF_OTHER_PLAN", "it is not of the plan of its row")
    made_by = envelope.producer
    if made_by.sdk.version != column.sdk or not made_by.python.startswith(f"{column.python}."):
        _refuse(name, "CERTIFICATE_OF_OTHER_COLUMN", f"it was made on {made_by.sdk.version} and "
                f"Python {made_by.python}")
    plan = envelope.plan
    said = (row.area, row.title, list(row.upstream))
    if said != (plan["area"], plan["title"], list(plan.get("upstream", ()))):
        _refuse(name, "ROW_DIFFERS", "the plan has another area, title or upstream links")


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


def _refuse(name: str, code: str, message: str, hint: str = "") -> NoReturn:
    reject(code, f"{name}: {message}", hint)
