"""The evidence that is committed: valid as a whole, of all declared rows, and true to them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from agentrunproof import canonical
from agentrunproof.attest import sums
from agentrunproof.attest.sums import COVERED
from agentrunproof.checker import bundle as checker
from agentrunproof.checker.bundle import CERTIFICATES
from agentrunproof.checker.members import name_of
from agentrunproof.contracts import registry
from agentrunproof.contracts.base import Violation
from agentrunproof.lab import evidence, history, locks
from agentrunproof.lab.history import Declared
from agentrunproof.lab.jury import Jury
from agentrunproof.plan.model import Mode
from agentrunproof.record import certificate as records
from agentrunproof.record import history as histories
from agentrunproof.record import store
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.history import Bug, History
from agentrunproof.record.matrix import Column

ROOT = Path(__file__).parent.parent
EVIDENCE = ROOT / "evidence" / "history"
ROWS = history.load(ROOT / "history")


@cache
def recorded() -> History:
    read: History = histories.FORM.from_json(canonical.parse(
        store.read(EVIDENCE / evidence.RECORD)))
    return read


def test_the_bundle_is_valid_with_its_locks() -> None:
    names = evidence.files_in(EVIDENCE)
    certificates = {name.removeprefix(CERTIFICATES): EVIDENCE / name for name in names}
    judgement = checker.check(
        names, lambda name: store.read(EVIDENCE / name),
        lambda sdk: store.read(ROOT / "requirements" / locks.file_name(sdk)), Jury(certificates))
    assert (judgement.code, judgement.message) == ("OK", "")
    assert judgement.notes == ()  # every release is certified, every observation a known one


def test_its_rows_are_exactly_those_declared() -> None:
    def of_bug(bug: Bug) -> tuple[object, ...]:
        return (bug.scenario, bug.check, bug.code, bug.universal, bug.bug,
                {name: side.sdk for name, side in bug.sides})

    def of_row(row: Declared) -> tuple[object, ...]:
        return (row.scenario, row.check, row.code, row.universal, row.upstream, row.sides)

    assert sorted(map(of_bug, recorded().rows), key=str) == sorted(map(of_row, ROWS), key=str)


def failing_modes(row: Declared, certificate: Certificate) -> set[str]:
    """The modes in which the row's check fails with its code.

    A check that compares modes names the one that is not as the plan's first.
    """
    contract = registry.find(row.check)
    assert contract is not None
    return {found.where.split("/")[0]
            for found in contract.violations(certificate.plan, certificate.observation)
            if isinstance(found, Violation) and found.code == row.code}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.scenario}-{row.check}-{row.code}")
def test_a_row_fails_in_the_modes_that_it_declares(row: Declared) -> None:
    column = Column(sdk=row.last_bad, python=recorded().python)
    certificate = records.from_json(canonical.parse(store.read(
        EVIDENCE / CERTIFICATES / name_of(column, row.scenario))))
    declared: tuple[Mode, ...] = row.modes or certificate.plan.modes
    assert failing_modes(row, certificate) == set(declared)


def test_every_file_has_its_checksum() -> None:
    names = [f"{folder}/{name}" for folder in COVERED
             for name in evidence.files_in(ROOT / folder)]
    named = sums.check((ROOT / "SHA256SUMS").read_text("utf-8"), COVERED, names,
                       lambda name: canonical.digest_bytes(store.read(ROOT / name))
                       .removeprefix("sha256:"))
    assert named == len(names)
    assert {name.split("/")[0] for name in names} == set(COVERED)
