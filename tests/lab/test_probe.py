from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.errors import LabError, PlanError
from agentrunproof.lab import environments, probe, process
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan, Tool
from agentrunproof.record import sdk_releases
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from tests.plans import greeting

HELLO = process.Hello("0.24.0", sdk_releases.known()["0.24.0"], "3.13.0", "audit-hook")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[process.Request]:
    """What the worker was asked; each plan's only run times out, ``lost`` is lost."""
    requests: list[process.Request] = []

    def share_out(workers: object, request: process.Request,
                  progress: object = None) -> Iterator[process.Report]:
        requests.append(request)
        for id, plan in request.plans.items():
            if id == "lost":
                yield process.Report(id, error=LabError("WORKER_DIED", "it died"))
                continue
            run = PhaseRun("run", plan.phases[0].id,
                           (make("run_finished", outcome="timeout"),))
            missing = ("run-state",) if id == "lacking" else ()
            yield process.Report(id, HELLO, [] if missing else [run], missing)

    monkeypatch.setattr(process, "started", lambda python, count: nullcontext([python] * count))
    monkeypatch.setattr(process, "share_out", share_out)
    return requests


def test_an_outcome_is_judged_and_recorded_with_who_made_it(
        asked: list[process.Request]) -> None:
    (outcome,) = probe.probe({"greeting": greeting()})
    assert outcome.verdict == "FAIL"
    assert outcome.certificate is not None
    assert outcome.certificate.producer.sdk.version == "0.24.0"
    assert outcome.certificate.checks[0].code == "TIMEOUT"


def test_changed_sources_of_a_release_are_recorded_as_local(
        asked: list[process.Request], monkeypatch: pytest.MonkeyPatch) -> None:
    changed = replace(HELLO, sdk_files="sha256:" + "0" * 64)
    monkeypatch.setattr(sys.modules[__name__], "HELLO", changed)
    (outcome,) = probe.probe({"greeting": greeting()})
    assert outcome.certificate is not None
    assert outcome.certificate.producer.sdk.version == "0.24.0+local"


def test_a_lost_plan_is_an_error_and_the_next_goes_on(asked: list[process.Request]) -> None:
    lost, other = probe.probe({"lost": greeting(), "greeting": greeting()})
    assert (lost.verdict, lost.certificate) == ("ERROR", None)
    assert lost.error is not None
    assert lost.error.code == "WORKER_DIED"
    assert other.certificate is not None


def test_outcomes_come_in_the_order_of_the_plans(
        asked: list[process.Request], monkeypatch: pytest.MonkeyPatch) -> None:
    in_order = process.share_out

    def as_they_are_there(*given: Any, **options: Any) -> Iterator[process.Report]:
        yield from reversed(list(in_order(*given, **options)))

    monkeypatch.setattr(process, "share_out", as_they_are_there)
    names = ("one", "two", "three")
    found = probe.probe({name: greeting() for name in names})
    assert tuple(outcome.scenario for outcome in found) == names


def test_a_release_that_lacks_what_a_plan_needs_is_untestable(
        asked: list[process.Request]) -> None:
    (outcome,) = probe.probe({"lacking": greeting()})
    assert outcome.verdict == "UNTESTABLE"
    assert outcome.certificate is not None
    assert outcome.certificate.checks == ()


def test_options_reach_the_worker(asked: list[process.Request]) -> None:
    list(probe.probe({"greeting": greeting()},
                     probe.Options(deadline="2.5", path=["/folder"])))
    assert (asked[0].deadline, asked[0].path) == ("2.5", ["/folder"])


def test_a_release_asked_for_is_run_in_its_own_environment(
        asked: list[process.Request], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[object] = []

    def isolated(*arguments: object) -> environments.Environment:
        wanted.extend(arguments)
        return environments.Environment(Path(sys.executable), "0.20.0")

    monkeypatch.setattr(environments, "isolated", isolated)
    list(probe.probe({"greeting": greeting()}, probe.Options(sdk="0.20.0", python="3.12")))
    assert wanted[:2] == ["0.20.0", "3.12"]


def test_a_python_without_a_release_is_refused(asked: list[process.Request]) -> None:
    with pytest.raises(LabError) as caught:
        list(probe.probe({"greeting": greeting()}, probe.Options(python="3.12")))
    assert caught.value.code == "PYTHON_WITHOUT_SDK"
    assert asked == []


def test_foreign_python_is_refused_before_anything_runs(asked: list[process.Request]) -> None:
    foreign = replace(greeting(), tools={"tool": Tool(python="python:os:getcwd")})
    with pytest.raises(PlanError, match=r"tools\.tool\.python would run python:os:getcwd"):
        list(probe.probe({"greeting": greeting(), "foreign": foreign}))
    assert asked == []
    assert list(probe.probe({"foreign": foreign}, probe.Options(allow_python=True)))


@pytest.mark.parametrize("change", [{"title": "Another"}, {"revision": 99}])
def test_another_plan_under_a_packaged_id_is_refused(
        asked: list[process.Request], change: dict[str, Any]) -> None:
    id = catalog.ids()[0]
    plan = catalog.load(id)
    with pytest.raises(PlanError) as caught:
        list(probe.probe({id: replace(plan, **change)}))
    assert caught.value.code == "PLAN_BORROWED_ID"
    assert asked == []
    assert list(probe.probe({id: plan}))


def test_a_packaged_plan_under_another_id_is_refused(asked: list[process.Request]) -> None:
    id = catalog.ids()[0]
    with pytest.raises(PlanError, match=f"this is the packaged scenario {id}"):
        list(probe.probe({"another": catalog.load(id)}))
    assert asked == []


@pytest.mark.parametrize(("modes", "id"), [
    (["run"], "greeting-run"), (["run_streamed", "run_sync"], "greeting-run-streamed-run-sync"),
    (["run", "run_streamed"], "greeting")])
def test_a_plan_confined_to_some_modes_is_a_scenario_of_its_own(
        modes: list[str], id: str) -> None:
    plan: Plan
    found, plan = probe.in_modes("greeting", greeting(), modes)
    assert found == id
    assert list(plan.modes) == modes
