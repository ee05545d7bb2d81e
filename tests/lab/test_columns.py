"""One column: what is asked of environment and worker, and where its results may go."""

from __future__ import annotations

import pickle
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.errors import LabError
from agentrunproof.lab import columns, environments, executors, probe
from agentrunproof.lab.columns import Job
from agentrunproof.lab.environments import Environment
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import make
from agentrunproof.record.matrix import Column
from tests.plans import certificate, greeting

COLUMN = Column(sdk="0.24.0", python="3.12", pins=("openai=lowest",))
JOB = Job({"greeting": greeting(), "lost": greeting()}, options=probe.Options(deadline="7"))


Asked = tuple[Environment, probe.Options]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """Environment and options of each probe; ``lost`` is lost in it."""
    asked: list[Asked] = []

    def fake(environment: Environment, plans: Mapping[str, Plan], options: probe.Options, *,
             progress: object = None) -> Iterator[probe.Outcome]:
        asked.append((environment, options))
        for id in plans:
            if id == "lost":
                yield probe.Outcome(id, error=LabError("WORKER_DIED", "it died"))
            else:
                yield probe.Outcome(id, certificate(make("run_finished", outcome="completed"),
                                                    id=id))

    monkeypatch.setattr(probe, "probe_in", fake)
    monkeypatch.setattr(environments, "isolated", lambda sdk, python, say, pins: Environment(
        Path(f"python{python}", *pins), sdk, "sha256:" + "2" * 64))
    return asked


def test_all_plans_run_in_the_columns_environment(seen: list[Asked]) -> None:
    result = columns.run_column(JOB, COLUMN)
    ((environment, options),) = seen
    assert (environment.sdk, environment.python) == ("0.24.0", Path("python3.12/openai=lowest"))
    assert options.deadline == "7"
    assert canonical.parse(result.certificates["greeting"])["subject"]["scenario"] == "greeting"
    assert {id: error.code for id, error in result.errors.items()} == {"lost": "WORKER_DIED"}
    assert result.wheel == "sha256:" + "2" * 64


def test_without_an_environment_every_plan_has_the_error(
        seen: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> Environment:
        raise LabError("NO_NETWORK", "no way")

    monkeypatch.setattr(environments, "isolated", fails)
    result = columns.run_column(JOB, COLUMN)
    assert {id: error.code for id, error in result.errors.items()} == dict.fromkeys(
        JOB.plans, "NO_NETWORK")


def test_an_error_of_the_machine_is_one_of_the_column(
        seen: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> Environment:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(environments, "isolated", fails)
    result = columns.run_column(JOB, COLUMN)
    assert {error.code for error in result.errors.values()} == {"COLUMN_FAILED"}


def test_an_environment_with_another_release_is_noticed(seen: list[Asked]) -> None:
    result = columns.run_column(JOB, Column(sdk="0.20.0", python="3.12"))
    assert result.errors["greeting"].code == "SDK_DIFFERS"
    assert result.certificates == {}


def test_job_and_result_can_be_sent_elsewhere(seen: list[Asked]) -> None:
    job, column = pickle.loads(pickle.dumps((JOB, COLUMN)))
    result = pickle.loads(pickle.dumps(columns.run_column(job, column)))
    assert result.certificates == columns.run_column(JOB, COLUMN).certificates
    assert result.errors["lost"].code == "WORKER_DIED"
    assert str(result.errors["lost"]) == "it died"


class Future:
    def __init__(self, value: Any = None, error: Exception | None = None) -> None:
        self._value, self._error = value, error

    def exception(self) -> Exception | None:
        return self._error

    def result(self) -> Any:
        return self._value

    def done(self) -> bool:
        return True


def test_a_cluster_brings_results_and_losses_back(
        seen: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    class Client:
        def __init__(self, address: str) -> None:
            assert address == "tcp://host:8786"

        def submit(self, work: Any, job: Job, column: Column, pure: bool) -> Future:
            if column.sdk == "0.8.0":
                return Future(error=RuntimeError("the worker is gone"))
            return Future(work(job, column))

        def cancel(self, futures: list[Future]) -> None:
            assert futures == []

        def close(self) -> None:
            pass

    fake = types.ModuleType("distributed")
    fake.Client = Client  # type: ignore[attr-defined]
    fake.as_completed = iter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", fake)
    lost = Column(sdk="0.8.0", python="3.12")
    executor = executors.of_uri("dask://host:8786")
    done = dict(executor.run([(JOB, COLUMN), (JOB, lost)], lambda message: None))
    assert isinstance(done[COLUMN], columns.Result)
    assert isinstance(done[lost], RuntimeError)


def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(address: str) -> None:
        raise OSError("timed out")

    fake = types.ModuleType("distributed")
    fake.Client = refuses  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", fake)
    with pytest.raises(LabError, match="host:8786"):
        executors.of_uri("dask://host:8786")
