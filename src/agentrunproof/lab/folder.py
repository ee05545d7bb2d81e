"""The folder of a sweep: certificates by column, and what of them can be relied on.

    build/matrix/
      matrix.json                        the record, written when all is there
      columns/<column>/<scenario>.json   certificates
      columns/<column>/column.json       which of them are done, written after them
      columns/<column>/output.log        what a command said

A certificate counts as done if ``column.json`` names it, this version made it of this very plan,
and the checker finds it valid. Anything else in the folder is made again or left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal

import agentrunproof
from agentrunproof import canonical, shape
from agentrunproof.checker.members import name_of
from agentrunproof.errors import AgentRunProofError, LabError
from agentrunproof.lab.columns import Result
from agentrunproof.lab.jury import Jury, Tick
from agentrunproof.plan.model import ScenarioId
from agentrunproof.record import certificate as records
from agentrunproof.record import layout, matrix, store
from agentrunproof.record.document import Version, decode_exactly
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, Matrix
from agentrunproof.record.result import CheckResult
from agentrunproof.shape import Digest, Name

SCHEMA = "agentrunproof/column/1"
RECORD = "matrix.json"
COLUMNS = "columns"
STATE = "column.json"
LOG = "output.log"


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error by its parts."""

    code: Name
    message: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class ColumnState:
    """``column.json``: what was done in a column.

    Args:
        column: which.
        version: of agentrunproof.
        plans: digest of each plan that has a certificate here.
        certificates: id of each of these.
        errors: what stood in the way of other plans.
        wheel: SHA-256 of the SDK's wheel, where it is known.
    """

    schema: Literal["agentrunproof/column/1"]
    column: Column
    version: Version
    plans: dict[ScenarioId, Digest] = field(default_factory=dict)
    certificates: dict[ScenarioId, Digest] = field(default_factory=dict)
    errors: dict[ScenarioId, Failure] = field(default_factory=dict)
    wheel: Digest | None = None


class Folder:
    """One output folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def record(self) -> Path:
        """Where the matrix stands."""
        return self.path / RECORD

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other sweep out of the folder, which is made if need be.

        Raises:
            LabError: ``FOLDER_IN_USE`` or ``FOLDER_UNWRITABLE``.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = open(self.path / ".lock", "a")  # noqa: SIM115
        except OSError as error:
            raise LabError("FOLDER_UNWRITABLE", f"{self.path}: {error.strerror or error}",
                           "name a folder that can be made with --out") from error
        with handle:
            try:
                _lock(handle)
            except OSError:
                raise LabError("FOLDER_IN_USE", f"{self.path}: another sweep is at work there",
                               "wait for it, or name another folder with --out") from None
            yield

    def done(self, columns: Sequence[Column], plans: Mapping[str, str],
             tick: Tick | None = None) -> tuple[dict[tuple[str, Column], Finding], list[str]]:
        """What need not be run again, and what is wrong with what is there.

        Args:
            columns: those of the sweep.
            plans: digests of the wanted plans by scenario id.
            tick: told of each certificate that is checked.
        """
        named = {name_of(column, scenario): (scenario, column, id) for column in columns
                 for scenario, id in self._done(column, plans)}
        files = {name: self.path / COLUMNS / name for name in named}
        findings: dict[tuple[str, Column], Finding] = {}
        problems: list[str] = []
        for name, (judgement, envelope) in zip(files, Jury(files, tick=tick)(list(files)),
                                               strict=True):
            scenario, column, id = named[name]
            if envelope is None:
                problems.append(f"{files[name]}: {judgement.code}: {judgement.message}")
            elif judgement.id != id:
                problems.append(f"{files[name]}: CERTIFICATE_OTHER: not the certificate that was "
                                "written there")
            else:
                findings[scenario, column] = layout.of_certificate(envelope)
        return findings, problems

    def _done(self, column: Column, plans: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
        """Scenarios of which ``column.json`` has these plans, and the ids of the certificates."""
        state = self._state(column)
        if state is not None:
            for scenario, digest in plans.items():
                if state.plans.get(scenario) == digest:
                    yield scenario, state.certificates.get(scenario)

    def keep(self, result: Result, plans: Mapping[str, str]) -> None:
        """Write what came of a column; what is there of other plans stays.

        Raises:
            RecordError: something cannot be written.
        """
        place = self._place(result.column)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LabError("FOLDER_UNWRITABLE", f"{place}: {error.strerror or error}") from error
        before = self._state(result.column)
        digests = dict(before.plans) if before else {}
        ids = dict(before.certificates) if before else {}
        for scenario, data in result.certificates.items():
            store.write(place / f"{scenario}.json", data)
            digests[scenario] = plans[scenario]
            ids[scenario] = canonical.parse(data)["id"]
        for scenario in result.errors:
            digests.pop(scenario, None)
            ids.pop(scenario, None)
            (place / f"{scenario}.json").unlink(missing_ok=True)
        if result.log:
            store.write(place / LOG, result.log)
        errors = {scenario: Failure(code=error.code, message=error.message, hint=error.hint)
                  for scenario, error in result.errors.items()}
        state = ColumnState(
            schema="agentrunproof/column/1", column=result.column,
            version=agentrunproof.__version__, plans=digests, certificates=ids, errors=errors,
            wheel=result.wheel or (before.wheel if before else None))
        store.write(place / STATE, canonical.dumps(shape.encode(state)) + b"\n")

    def write(self, made: Matrix) -> None:
        """Write the record.

        Raises:
            RecordError: it cannot be written.
        """
        store.write(self.record, matrix.to_bytes(made))

    def failures(self, made: Matrix) -> dict[str, tuple[CheckResult, ...]]:
        """The checks that are not OK, by certificate id.

        Raises:
            RecordError: a certificate that the matrix names cannot be read.
        """
        found: dict[str, tuple[CheckResult, ...]] = {}
        for row in made.plans:
            for column, cell in zip(made.columns, row.cells, strict=True):
                if cell.certificate is not None and (cell.codes or cell.untestable):
                    data = store.read(self._place(column) / f"{row.scenario}.json")
                    checks = records.read_envelope(canonical.parse(data)).checks
                    found[cell.certificate] = tuple(
                        one for one in checks if one.verdict != "PASS")
        return found

    def _place(self, column: Column) -> Path:
        return self.path / COLUMNS / column.key

    def _state(self, column: Column) -> ColumnState | None:
        """What an earlier sweep of this version left, if it can be made sense of."""
        try:
            value = canonical.parse(store.read(self._place(column) / STATE))
            state: ColumnState = decode_exactly(ColumnState, value, "")
        except AgentRunProofError:
            return None
        same = state.version == agentrunproof.__version__ and state.column == column
        return state if same else None


def _lock(file: IO[str]) -> None:
    """Take the file for this process until it is closed; OSError if another has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
