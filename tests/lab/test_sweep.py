"""Sweeps, with columns that a fake fills: what is kept, what is run again, what is refused."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from agentrunproof import canonical
from agentrunproof.checker.judgement import Judgement
from agentrunproof.checker.members import Assessed
from agentrunproof.errors import JsonError, LabError
from agentrunproof.lab import executors, jury
from agentrunproof.lab.columns import Job, Result, Say
from agentrunproof.lab.executors import Done, Local, Task
from agentrunproof.lab.folder import Folder
from agentrunproof.lab.sweep import Swept, sweep
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate as records
from agentrunproof.record import layout, matrix
from agentrunproof.record.certificate import Sdk
from agentrunproof.record.document import id_of
from agentrunproof.record.events import make
from agentrunproof.record.matrix import Column
from tests.plans import certificate, greeting

COLUMNS = tuple(Column(sdk=sdk, python="3.13") for sdk in ("0.8.0", "0.9.0", "0.20.0"))
PLANS: dict[str, Plan] = {"greeting": greeting(),
                          "parting": dataclasses.replace(greeting(), title="A parting")}


def made_on(id: str, column: Column) -> bytes:
    made = certificate(make("run_finished", outcome="completed"), id=id, plan=PLANS[id])
    producer = dataclasses.replace(made.producer, sdk=Sdk(version=column.sdk,
                                                          files="sha256:" + "0" * 64))
    return records.to_bytes(dataclasses.replace(made, producer=producer))


class Lab:
    """Fills columns, notes which, and may be told what goes wrong in one."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, tuple[str, ...]]] = []
        self.wrong: dict[str, BaseException] = {}
        self.warnings: list[str] = []

    def __call__(self, job: Job, column: Column, say: Say) -> Result:
        self.ran.append((column.sdk, tuple(job.plans)))
        if column.sdk in self.wrong:
            raise self.wrong[column.sdk]
        if job.command is not None:
            return Result(column, commanded=layout.of_exit("PASS", "OK"), log=b"fine\n")
        return Result(column, {id: made_on(id, column) for id in job.plans}, wheel="sha256:" +
                      "1" * 64)

    def sweep(self, place: Path, plans: Sequence[str] = ("greeting",),
              columns: Sequence[Column] = COLUMNS) -> Swept:
        self.ran.clear()
        self.warnings.clear()
        job = Job({id: PLANS[id] for id in plans})
        return sweep(Folder(place), job, columns, Local(1, self), say=lambda message: None,
                     tick=lambda finished, total, column: None, warn=self.warnings.append)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab whose certificates are valid if they are whole."""
    def assess(data: bytes, reproduced: bool) -> Assessed:
        try:
            value = canonical.parse(data)
        except JsonError as error:
            return Judgement(valid=False, code=error.code), None
        if value["id"] != id_of(value):
            return Judgement(valid=False, code="ID_DIFFERS"), None
        return Judgement(valid=True, code="OK", id=value["id"]), records.read_envelope(value)

    monkeypatch.setattr(jury, "assess", assess)
    return Lab()


def test_a_sweep_leaves_certificates_what_was_done_and_the_record(
        lab: Lab, tmp_path: Path) -> None:
    swept = lab.sweep(tmp_path / "deep" / "out", tuple(PLANS))
    assert [sdk for sdk, _ in lab.ran] == ["0.8.0", "0.9.0", "0.20.0"]
    place = tmp_path / "deep" / "out"
    assert matrix.from_json(canonical.parse((place / "matrix.json").read_bytes())) == swept.matrix
    for column in COLUMNS:
        kept = {path.name for path in (place / "columns" / column.key).iterdir()}
        assert kept == {"greeting.json", "parting.json", "column.json"}
    state = json.loads((place / "columns" / COLUMNS[0].key / "column.json").read_text())
    assert state["wheel"] == "sha256:" + "1" * 64
    assert state["plans"] == {id: canonical.digest(plan.to_json()) for id, plan in PLANS.items()}


def test_what_is_done_is_not_run_again(lab: Lab, tmp_path: Path) -> None:
    first = lab.sweep(tmp_path)
    again = lab.sweep(tmp_path)
    assert lab.ran == []
    assert (again.matrix, again.reused) == (first.matrix, 3)


def test_further_plans_and_columns_are_run_alone(lab: Lab, tmp_path: Path) -> None:
    lab.sweep(tmp_path, columns=COLUMNS[:2])
    lab.sweep(tmp_path, tuple(PLANS))
    assert lab.ran == [("0.8.0", ("parting",)), ("0.9.0", ("parting",)),
                       ("0.20.0", ("greeting", "parting"))]
    lab.sweep(tmp_path, tuple(PLANS))
    assert lab.ran == []


def test_a_changed_plan_is_run_again(
        lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.sweep(tmp_path)
    monkeypatch.setitem(PLANS, "greeting", dataclasses.replace(greeting(), title="Another"))
    lab.sweep(tmp_path)
    assert [sdk for sdk, _ in lab.ran] == ["0.8.0", "0.9.0", "0.20.0"]
    assert lab.warnings == []


def test_a_plan_with_foreign_python_is_run_again(
        lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.sweep(tmp_path)
    monkeypatch.setattr(Plan, "python_refs", lambda plan: iter([("tools.x", "python:a:b")]))
    lab.sweep(tmp_path)
    assert len(lab.ran) == 3


@pytest.mark.parametrize("change", [
    lambda data: data.replace(b'"PASS"', b'"FAIL"'),
    lambda data: data[:100],
    lambda data: made_on("greeting", COLUMNS[1]),
])
def test_a_tampered_certificate_is_named_and_made_again(
        lab: Lab, tmp_path: Path, change: object) -> None:
    first = lab.sweep(tmp_path)
    path = tmp_path / "columns" / COLUMNS[0].key / "greeting.json"
    path.write_bytes(change(path.read_bytes()))  # type: ignore[operator]
    again = lab.sweep(tmp_path)
    assert [sdk for sdk, _ in lab.ran] == ["0.8.0"]
    (warning,) = lab.warnings
    assert str(path) in warning
    assert again.matrix == first.matrix
    assert path.read_bytes() == made_on("greeting", COLUMNS[0])


@pytest.mark.parametrize("damage", ["gone", "cut", "version", "column"])
def test_a_column_without_a_good_account_of_itself_is_run_again(
        lab: Lab, tmp_path: Path, damage: str) -> None:
    lab.sweep(tmp_path)
    path = tmp_path / "columns" / COLUMNS[0].key / "column.json"
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:50])
    else:
        value = json.loads(path.read_text())
        value.update({"version": "9.0.0"} if damage == "version" else {
            "column": {"sdk": "0.9.0", "python": "3.13"}})
        path.write_bytes(canonical.dumps(value))
    lab.sweep(tmp_path)
    assert [sdk for sdk, _ in lab.ran] == ["0.8.0"]


def test_a_column_that_crashes_is_a_column_of_errors_and_tried_again(
        lab: Lab, tmp_path: Path) -> None:
    lab.wrong = {"0.9.0": RuntimeError("boom"), "0.20.0": LabError("NO_NETWORK", "no way")}
    swept = lab.sweep(tmp_path)
    assert [cell.error for cell in swept.matrix.plans[0].cells] == [
        None, "COLUMN_LOST", "NO_NETWORK"]
    assert {column.sdk: error.code for (_, column), error in swept.errors.items()} == {
        "0.9.0": "COLUMN_LOST", "0.20.0": "NO_NETWORK"}
    lab.wrong.clear()
    again = lab.sweep(tmp_path)
    assert [sdk for sdk, _ in lab.ran] == ["0.9.0", "0.20.0"]
    assert {cell.verdict for cell in again.matrix.plans[0].cells} == {"PASS"}


def test_an_error_takes_the_place_of_an_old_certificate(lab: Lab, tmp_path: Path) -> None:
    lab.sweep(tmp_path)
    path = tmp_path / "columns" / COLUMNS[0].key / "greeting.json"
    path.write_bytes(path.read_bytes()[:9])
    lab.wrong = {"0.8.0": LabError("WORKER_DIED", "it died")}
    swept = lab.sweep(tmp_path)
    assert swept.matrix.plans[0].cells[0].error == "WORKER_DIED"
    assert not path.exists()


class Interrupting:
    """An executor that is interrupted after the first column."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def run(self, tasks: Sequence[Task], say: Say) -> Generator[Done, None, None]:
        job, column = tasks[0]
        yield column, self._lab(job, column, say)
        raise KeyboardInterrupt


def test_an_interrupted_sweep_keeps_what_is_done_and_goes_on_from_there(
        lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        sweep(Folder(tmp_path), Job({"greeting": greeting()}), COLUMNS, Interrupting(lab),
              say=lambda message: None, tick=lambda *args: None, warn=lab.warnings.append)
    assert not (tmp_path / "matrix.json").exists()
    swept = lab.sweep(tmp_path)
    assert [sdk for sdk, _ in lab.ran] == ["0.9.0", "0.20.0"]
    assert swept.reused == 1


def test_two_sweeps_in_one_folder_are_refused(lab: Lab, tmp_path: Path) -> None:
    with Folder(tmp_path).locked(), pytest.raises(LabError) as caught:
        lab.sweep(tmp_path)
    assert caught.value.code == "FOLDER_IN_USE"
    assert lab.ran == []
    lab.sweep(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LabError) as caught:
        lab.sweep(tmp_path / "file")
    assert caught.value.code == "FOLDER_UNWRITABLE"


def test_a_command_is_always_run_and_its_output_kept(lab: Lab, tmp_path: Path) -> None:
    from agentrunproof.lab.commands import Command

    job = Job(command=Command(("pytest", "-q"), str(tmp_path)))
    for _ in range(2):
        lab.ran.clear()
        swept = sweep(Folder(tmp_path), job, COLUMNS[:1], Local(1, lab), say=lambda message: None,
                      tick=lambda *args: None, warn=lab.warnings.append)
        assert len(lab.ran) == 1
    assert swept.matrix.plans[0].cells[0].verdict == "PASS"
    assert (tmp_path / "columns" / COLUMNS[0].key / "output.log").read_bytes() == b"fine\n"


def test_an_executor_runs_as_many_columns_at_once_as_it_has_jobs() -> None:
    meeting = threading.Barrier(2, timeout=30)

    def work(job: Job, column: Column, say: Say) -> Result:
        meeting.wait()
        return Result(column)

    tasks = [(Job(), column) for column in (*COLUMNS, COLUMNS[0])]
    done = list(Local(2, work).run(tasks, lambda message: None))
    assert {column for column, _ in done} == set(COLUMNS)
    assert all(isinstance(result, Result) for _, result in done)


def test_closing_an_executor_ends_what_runs() -> None:
    started, ended = threading.Event(), threading.Event()

    def work(job: Job, column: Column, say: Say) -> Result:
        if column == COLUMNS[0]:
            return Result(column)
        started.set()
        try:
            while True:
                say("working")
        finally:
            ended.set()

    results = Local(2, work).run([(Job(), column) for column in COLUMNS], lambda message: None)
    assert next(results)[0] == COLUMNS[0]
    assert started.wait(timeout=30)
    results.close()
    assert ended.wait(timeout=30)


@pytest.mark.parametrize("uri", ["spark://x", "dask:", "dask://", "remote"])
def test_an_unknown_executor_is_refused(uri: str) -> None:
    with pytest.raises(LabError) as caught:
        executors.of_uri(uri)
    assert caught.value.code == "EXECUTOR_UNKNOWN"


def test_without_dask_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LabError, match=r"agentrunproof\[dask\]"):
        executors.of_uri("dask://host:8786")


