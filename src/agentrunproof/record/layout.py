"""How a matrix follows from what was found: cells, absent checks, boundaries, and merging.

Everything here is a pure function of the findings. Who makes a matrix, who merges parts of one
and who checks one all call `lay_out`, so there is one rule for what a matrix must say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentrunproof import canonical
from agentrunproof.errors import RecordError
from agentrunproof.plan.model import Plan
from agentrunproof.record.certificate import Envelope
from agentrunproof.record.matrix import (
    EXIT,
    Boundary,
    BoundaryKind,
    Cell,
    Column,
    Matrix,
    MatrixProducer,
    Row,
)
from agentrunproof.record.result import OK, CheckResult, Verdict


@dataclass(frozen=True)
class Finding:
    """What was found of one plan in one column.

    Args:
        verdict: over all checks.
        certificate: id of the certificate, if there is one.
        missing: capabilities that the release lacks.
        checks: name, verdict and code of each; nothing else of them stands in a matrix.
        error: code of what stood in the way of a certificate.
    """

    verdict: Verdict
    certificate: str | None = None
    missing: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    error: str | None = None


Findings = Mapping[tuple[str, Column], Finding]


def head_of_plan(scenario: str, plan: Plan) -> Row:
    """The row of a plan, its cells still empty."""
    return Row(scenario=scenario, plan=canonical.digest(plan.to_json()), area=plan.area,
               title=plan.title, upstream=plan.upstream, checks=(), cells=())


def head_of_command(scenario: str, command: Sequence[str]) -> Row:
    """The row of a command, its cells still empty."""
    return Row(scenario=scenario, plan=canonical.digest({"command": list(command)}),
               area="command", title=" ".join(command), command=tuple(command), checks=(),
               cells=())


def of_certificate(envelope: Envelope) -> Finding:
    """What a certificate found."""
    checks = tuple(CheckResult(one.check, one.verdict, one.code) for one in envelope.checks)
    return Finding(envelope.verdict, envelope.id, envelope.missing, checks)


def of_error(code: str) -> Finding:
    """What is found where there is no certificate."""
    return Finding("ERROR", error=code)


def of_exit(verdict: Verdict, code: str) -> Finding:
    """What a command's exit found; the verdict is one of PASS, FAIL, UNTESTABLE."""
    return Finding(verdict, checks=(CheckResult(EXIT, verdict, code),))


def lay_out(version: str, columns: Iterable[Column], heads: Iterable[Row],
            findings: Findings) -> Matrix:
    """The matrix of all findings.

    Args:
        version: of agentrunproof.
        columns: in any order.
        heads: rows whose cells and checks are not looked at.
        findings: by scenario id and column, for every pair.
    """
    ordered = sorted(set(columns), key=lambda column: column.order)
    rows = []
    for head in sorted(heads, key=lambda row: (row.area, row.scenario)):
        found = [findings[head.scenario, column] for column in ordered]
        checks = sorted({result.check for finding in found for result in finding.checks})
        rows.append(replace(head, checks=tuple(checks),
                            cells=tuple(_cell(finding, checks) for finding in found)))
    boundaries = [boundary for row in rows for boundary in _boundaries(row, ordered)]
    return Matrix(producer=MatrixProducer(version=version), columns=tuple(ordered),
                  plans=tuple(rows), boundaries=tuple(boundaries))


def findings_of(matrix: Matrix) -> dict[tuple[str, Column], Finding]:
    """The findings of which a matrix was made, as far as it holds them."""
    return {(row.scenario, column): finding_of(row, cell)
            for row in matrix.plans for column, cell in zip(matrix.columns, row.cells, strict=True)}


def finding_of(row: Row, cell: Cell) -> Finding:
    """The finding of which a cell was made."""
    if cell.error is not None or cell.missing:
        return Finding(cell.verdict, cell.certificate, cell.missing, (), cell.error)
    results = tuple(CheckResult(check, *state(cell, check)) for check in row.checks
                    if check not in cell.absent)
    return Finding(cell.verdict, cell.certificate, (), results)


def state(cell: Cell, check: str) -> tuple[Verdict, str]:
    """Verdict and code of one check of a row in a cell where it is not absent."""
    if check in cell.codes:
        return "FAIL", cell.codes[check]
    if check in cell.untestable:
        return "UNTESTABLE", cell.untestable[check]
    return "PASS", OK


def judged(cell: Cell, check: str) -> bool:
    """Whether a check passed or failed in a cell."""
    return cell.error is None and not cell.missing and check not in cell.absent \
        and check not in cell.untestable


def merge(parts: Sequence[Matrix]) -> Matrix:
    """One matrix of several; the order of the parts does not matter.

    Raises:
        RecordError: ``MERGE_NOTHING``; ``MERGE_VERSIONS`` for parts of different versions of
            agentrunproof; ``MERGE_PLANS`` where they are not about the same plans;
            ``MERGE_CONFLICT`` where two say different things of one cell.
    """
    if not parts:
        raise RecordError("MERGE_NOTHING", "no matrix to merge")
    first = parts[0]
    heads = {row.scenario: head(row) for row in first.plans}
    findings: dict[tuple[str, Column], Finding] = {}
    for part in parts:
        if part.producer != first.producer:
            raise RecordError("MERGE_VERSIONS", "the parts were made by agentrunproof "
                              f"{first.producer.version} and {part.producer.version}",
                              "make all of them with one version")
        _same_plans(heads, {row.scenario: head(row) for row in part.plans})
        for place, finding in findings_of(part).items():
            if findings.setdefault(place, finding) != finding:
                scenario, column = place
                raise RecordError("MERGE_CONFLICT", f"two parts differ on {scenario} in "
                                  f"{column.key}", "run that column again")
    columns = {column for part in parts for column in part.columns}
    return lay_out(first.producer.version, columns, heads.values(), findings)


def head(row: Row) -> Row:
    """A row without its cells: what it is about."""
    return replace(row, checks=(), cells=())


def _same_plans(ours: Mapping[str, Row], theirs: Mapping[str, Row]) -> None:
    for scenario in sorted({*ours, *theirs}):
        if ours.get(scenario) != theirs.get(scenario):
            what = "different plans of it" if scenario in ours and scenario in theirs \
                else "not all of them have it"
            raise RecordError("MERGE_PLANS", f"the parts are not of the same plans: {scenario}: "
                              f"{what}", "merge shards of one matrix only")


def _cell(finding: Finding, checks: Sequence[str]) -> Cell:
    present = {result.check for result in finding.checks}
    ran = finding.error is None and not finding.missing
    return Cell(
        verdict=finding.verdict, certificate=finding.certificate, missing=finding.missing,
        codes={result.check: result.code for result in finding.checks
               if result.verdict == "FAIL"},
        untestable={result.check: result.code for result in finding.checks
                    if result.verdict not in ("FAIL", "PASS")},
        absent=tuple(name for name in checks if name not in present) if ran else (),
        error=finding.error)


def _boundaries(row: Row, columns: Sequence[Column]) -> Iterator[Boundary]:
    for lane in dict.fromkeys(column.lane for column in columns):
        cells = [(column, cell) for column, cell in zip(columns, row.cells, strict=True)
                 if column.lane == lane]
        for check in row.checks:
            for kind, column, previous, code in _changes(check, cells):
                yield Boundary(scenario=row.scenario, check=check, kind=kind, sdk=column.sdk,
                               previous=previous.sdk, code=code, python=lane[0], pins=lane[1])


def _changes(check: str, cells: Sequence[tuple[Column, Cell]]
             ) -> Iterator[tuple[BoundaryKind, Column, Column, str]]:
    """Each change of a check along one lane: kind, column, the column before, code."""
    last: tuple[Column, Cell] | None = None  # the last that was judged
    mended = False
    for number, (column, cell) in enumerate(cells):
        if not judged(cell, check):
            continue
        failing = check in cell.codes
        if last is None:
            before = cells[number - 1] if number else None
            if failing and before is not None and before[1].missing:
                yield "introduced-in", column, before[0], cell.codes[check]
        elif failing and check not in last[1].codes:
            kind: BoundaryKind = "regressed-in" if mended else "introduced-in"
            yield kind, column, last[0], cell.codes[check]
        elif not failing and check in last[1].codes:
            mended = True
            yield "fixed-in", column, last[0], last[1].codes[check]
        last = column, cell
