"""The matrix checker: an authentic matrix holds, and each step refuses for its own reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.checker import matrix as checker
from agentrunproof.plan.model import ExpectedOutcome, Plan
from agentrunproof.record import certificate as records
from agentrunproof.record import layout, matrix
from agentrunproof.record.certificate import Certificate, Sdk
from agentrunproof.record.document import id_of
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, Matrix
from tests.plans import greeting

pytestmark = pytest.mark.sdk

RELEASES = ("0.23.2", "0.23.3", "0.23.4")  # none that we know the files of
COLUMNS = tuple(Column(sdk=release, python="3.12") for release in RELEASES)


def wrong() -> Plan:
    """A greeting that expects other words than the model's."""
    phase = dataclasses.replace(greeting().phases[0],
                                expect=ExpectedOutcome(final_output="Something else"))
    return dataclasses.replace(greeting(), title="A wrong greeting", phases=(phase,))


PLANS = {"greeting": greeting(), "wrong": wrong()}


@pytest.fixture(scope="module")
def certificates() -> dict[str, Certificate]:
    from agentrunproof.api import run_scenario

    return {id: run_scenario((id, plan)).certificate for id, plan in PLANS.items()}


def made_on(certificate: Certificate, release: str, python: str = "3.12.1") -> Certificate:
    """The certificate as another release would have given it."""
    producer = dataclasses.replace(
        certificate.producer, python=python,
        sdk=Sdk(version=release, files=canonical.digest_bytes(release.encode())))
    return dataclasses.replace(certificate, producer=producer)


class Bundle:
    """A matrix with its members, both open to change."""

    def __init__(self, certificates: dict[str, Certificate]) -> None:
        self.members: dict[str, bytes] = {}
        self.findings: dict[tuple[str, Column], Finding] = {}
        for id, made in certificates.items():
            for column in COLUMNS:
                self.put(id, column, made_on(made, column.sdk))
        self.value = matrix.to_json(self.matrix())

    def put(self, id: str, column: Column, made: Certificate) -> None:
        data = records.to_bytes(made)
        self.members[f"{column.key}/{id}.json"] = data
        self.findings[id, column] = layout.of_certificate(
            records.read_envelope(canonical.parse(data)))

    def matrix(self) -> Matrix:
        heads = [layout.head_of_plan(id, plan) for id, plan in PLANS.items()]
        return layout.lay_out("0.1.0", COLUMNS, heads, self.findings)

    def lay_out(self) -> None:
        """Make the record of what was put in."""
        self.value = matrix.to_json(self.matrix())

    def judge(self, **options: Any) -> tuple[str, str]:
        self.value["id"] = id_of(self.value)
        data = canonical.dumps(self.value)
        judgement = checker.check(data, self.members, self.members.__getitem__, **options)
        assert judgement.valid == (judgement.code == "OK")
        return judgement.code, " ".join(judgement.notes) or judgement.message


@pytest.fixture
def bundle(certificates: dict[str, Certificate]) -> Bundle:
    return Bundle(certificates)


def test_an_authentic_matrix_holds(bundle: Bundle) -> None:
    assert {row["scenario"]: row["cells"][0]["verdict"] for row in bundle.value["plans"]} == {
        "greeting": "PASS", "wrong": "FAIL"}
    code, notes = bundle.judge()
    assert code == "OK"
    assert "untested SDK release 0.23.3: 2 certificates" in notes


def test_a_matrix_of_what_we_did_not_observe_is_refused_to_who_asks_for_that(
        bundle: Bundle) -> None:
    assert bundle.judge(reproduced=True)[0] == "OBSERVATION_UNKNOWN"


def test_what_no_certificate_shows_is_noted(bundle: Bundle) -> None:
    bundle.findings["wrong", COLUMNS[0]] = layout.of_error("WORKER_DIED")
    del bundle.members[f"{COLUMNS[0].key}/wrong.json"]
    bundle.lay_out()
    code, notes = bundle.judge()
    assert code == "OK"
    assert "cells with an error, which no certificate shows: 1" in notes


def test_a_matrix_of_a_command_is_checked_by_itself() -> None:
    row = layout.head_of_command("run-x", ["x"])
    made = layout.lay_out("0.1.0", COLUMNS[:2], [row], {
        ("run-x", COLUMNS[0]): layout.of_exit("FAIL", "EXIT_1"),
        ("run-x", COLUMNS[1]): layout.of_exit("PASS", "OK")})
    judgement = checker.check(matrix.to_bytes(made), [], {}.__getitem__)
    assert judgement.code == "OK"
    assert judgement.notes == ("cells with the exit of a command, which no certificate shows: 2",)


def cell(bundle: Bundle, row: int = 0, column: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = bundle.value["plans"][row]["cells"][column]
    return found


def _passed(bundle: Bundle) -> None:
    """Call a failure a pass."""
    broken = cell(bundle, 1)
    broken["verdict"] = "PASS"
    del broken["codes"]


def _hide(bundle: Bundle) -> None:
    """Leave the failed check out everywhere."""
    row = bundle.value["plans"][1]
    for one in row["cells"]:
        for check in one["codes"]:
            if check in row["checks"]:
                row["checks"].remove(check)
        one["verdict"] = "PASS"
        del one["codes"]


def _swap(bundle: Bundle) -> None:
    """Let two columns change their certificates."""
    a, b = (f"{column.key}/greeting.json" for column in COLUMNS[:2])
    bundle.members[a], bundle.members[b] = bundle.members[b], bundle.members[a]
    first, second = cell(bundle), cell(bundle, 0, 1)
    first["certificate"], second["certificate"] = second["certificate"], first["certificate"]


def _other_plan(bundle: Bundle) -> None:
    """Put the certificate of one plan into the row of another."""
    column = COLUMNS[0].key
    bundle.members[f"{column}/wrong.json"] = bundle.members[f"{column}/greeting.json"]
    cell(bundle, 1)["certificate"] = cell(bundle)["certificate"]


def _tamper(bundle: Bundle) -> None:
    name = f"{COLUMNS[0].key}/wrong.json"
    bundle.members[name] = bundle.members[name].replace(b'"FAIL"', b'"PASS"')


def _unfound(bundle: Bundle) -> None:
    """A pass without a certificate."""
    del bundle.members[f"{COLUMNS[0].key}/greeting.json"]
    del cell(bundle)["certificate"]


def _error_with_more(bundle: Bundle) -> None:
    del bundle.members[f"{COLUMNS[0].key}/greeting.json"]
    cell(bundle).clear()
    cell(bundle).update(verdict="ERROR", error="WORKER_DIED", codes={"usage_sum": "SUM"})


def _boundary(bundle: Bundle) -> None:
    bundle.value["boundaries"] = [{
        "scenario": "wrong", "check": "execution_outcome", "kind": "fixed-in", "sdk": "0.23.3",
        "previous": "0.23.2", "code": "FINAL_OUTPUT", "python": "3.12"}]


def _reverse(rows: list[Any]) -> None:
    rows.reverse()


NEGATIVE: list[tuple[Callable[[Bundle], object], str]] = [
    (lambda bundle: bundle.value.update(schema="other"), "MATRIX_FORMAT"),
    (lambda bundle: bundle.value.update(extra=1), "RECORD_SHAPE"),
    (lambda bundle: bundle.value["producer"].update(version="9.9.9"), "PRODUCER_UNKNOWN"),
    (lambda bundle: _reverse(bundle.value["columns"]), "COLUMNS_DISORDERED"),
    (lambda bundle: bundle.value["columns"].__setitem__(1, bundle.value["columns"][0]),
     "COLUMNS_DISORDERED"),
    (lambda bundle: _reverse(bundle.value["plans"]), "ROWS_DISORDERED"),
    (lambda bundle: bundle.value["plans"].__setitem__(1, bundle.value["plans"][0]),
     "ROWS_DISORDERED"),
    (lambda bundle: bundle.value["plans"][0].update(command=["x"]), "COMMAND_ALTERED"),
    (lambda bundle: bundle.value["plans"][0]["cells"].pop(), "MATRIX_ROW_LENGTH"),
    (lambda bundle: bundle.members.pop(f"{COLUMNS[1].key}/wrong.json"), "CERTIFICATE_MISSING"),
    (lambda bundle: bundle.members.update({"0.1.0-python-3.12/x.json": b"{}"}),
     "CERTIFICATE_EXTRA"),
    (_tamper, "ID_DIFFERS"),
    (lambda bundle: cell(bundle).update(certificate="sha256:" + "0" * 64), "CERTIFICATE_DIFFERS"),
    (_other_plan, "CERTIFICATE_OF_OTHER_PLAN"),
    (lambda bundle: bundle.value["plans"][0].update(plan="sha256:" + "0" * 64),
     "CERTIFICATE_OF_OTHER_PLAN"),
    (_swap, "CERTIFICATE_OF_OTHER_COLUMN"),
    (lambda bundle: bundle.value["plans"][0].update(title="Another"), "ROW_DIFFERS"),
    (lambda bundle: bundle.value["plans"][0].update(area="a"), "ROW_DIFFERS"),
    (lambda bundle: bundle.value["plans"][0].update(upstream=["x#1"]), "ROW_DIFFERS"),
    (_unfound, "CELL_UNFOUNDED"),
    (_error_with_more, "CELL_DIFFERS"),
    (_passed, "CELL_DIFFERS"),
    (_hide, "CHECKS_DIFFER"),
    (lambda bundle: cell(bundle).update(absent=["tool_linkage"]), "CELL_DIFFERS"),
    (lambda bundle: cell(bundle).update(missing=["run-state"]), "CELL_DIFFERS"),
    (_boundary, "BOUNDARIES_DIFFER"),
]


@pytest.mark.parametrize(("forge", "code"), NEGATIVE,
                         ids=[f"{number}-{code}" for number, (_, code) in enumerate(NEGATIVE)])
def test_a_forged_matrix_is_refused_for_the_named_reason(
        bundle: Bundle, forge: Callable[[Bundle], object], code: str) -> None:
    forge(bundle)
    assert bundle.judge()[0] == code


def test_certificates_of_no_cell_may_be_allowed_and_are_noted(bundle: Bundle) -> None:
    bundle.members["0.1.0-python-3.12/x.json"] = b"{}"
    code, notes = bundle.judge(extra=True)
    assert code == "OK"
    assert "certificates there that belong to no cell: 1" in notes


def test_a_matrix_in_other_bytes_or_changed_after_it_was_made_is_refused(bundle: Bundle) -> None:
    data = canonical.dumps(bundle.value)
    loose = data.replace(b'{"columns":', b'{ "columns":')
    changed = data.replace(b'"A greeting"', b'"A GREETING"')
    codes = [checker.check(one, bundle.members, bundle.members.__getitem__).code
             for one in (loose, changed, b"", b"[]")]
    assert codes == ["NOT_CANONICAL", "MATRIX_ID", "JSON_EMPTY", "MATRIX_FORMAT"]
