"""Certificates of plans that call functions: what the driver can write, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import canonical, checker
from agentrunproof.plan import catalog
from agentrunproof.record import certificate, private
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.document import id_of
from agentrunproof.record.observation import Observation

pytestmark = pytest.mark.sdk

PROBE = "empty-schemas-apart"
CASE = "no-items-of-a-conversation"


@pytest.fixture(scope="module")
def made() -> dict[str, Certificate]:
    from agentrunproof.api import run_scenario

    return {id: run_scenario((id, catalog.load(id))).certificate for id in (PROBE, CASE)}


def judge(value: Any) -> checker.Judgement:
    value["id"] = id_of(value)
    return checker.check(canonical.dumps(value) + b"\n")


@pytest.mark.parametrize("id", [PROBE, CASE])
def test_an_authentic_record_is_valid_and_judged_by_what_judges_calls(
        made: dict[str, Certificate], id: str) -> None:
    judgement = checker.check(certificate.to_bytes(made[id]))
    assert (judgement.code, judgement.verdict) == ("OK", "PASS")
    assert [check.check for check in judgement.checks] == ["execution_outcome"] + (
        ["session_suite"] if id == CASE else [])


@pytest.mark.parametrize("id", [PROBE, CASE])
def test_what_our_own_functions_give_stays_in_a_private_record(
        made: dict[str, Certificate], id: str) -> None:
    one = made[id]
    plan, seen = private.cover(one.plan, one.observation, b"salt" * 8)
    assert (plan.phases[0].call, plan.phases[0].expect) == (
        one.plan.phases[0].call, one.plan.phases[0].expect)
    assert seen.runs == one.observation.runs


def _value(text: str) -> Callable[[list[dict[str, Any]]], None]:
    return lambda events: events[0].update(value=text)


@pytest.mark.parametrize(("edit", "code"), [
    (_value('["leak"]'), "CHECKS_DIFFER"),
    (_value('[ ]'), "VALUE_MALFORMED"),
    (_value('{"b":1,"a":1}'), "VALUE_MALFORMED"),
    (_value('['), "RECORD_SENSELESS"),
    (lambda events: events.insert(0, copy.deepcopy(events[0])), "OUTCOME_DIFFERS"),
    (lambda events: events.pop(0), "OUTCOME_DIFFERS"),
    (lambda events: events[-1].update(outcome="cancelled"), "OUTCOME_DIFFERS"),
    (lambda events: events.insert(0, {"kind": "run_started", "agent": "a"}), "OUTCOME_DIFFERS"),
    (lambda events: events.append({"kind": "span_started", "span": 0, "type": "trace"}),
     "OUTCOME_DIFFERS"),
])
def test_what_no_driver_writes_is_refused(
        made: dict[str, Certificate], edit: Callable[[list[dict[str, Any]]], None],
        code: str) -> None:
    value = copy.deepcopy(certificate.to_json(made[PROBE]))
    edit(value["runs"][0]["events"])
    assert judge(value).code == code


def test_a_value_in_a_run_is_refused() -> None:
    from agentrunproof.api import run_scenario

    id = "max-turns-raised"
    value = certificate.to_json(run_scenario((id, catalog.load(id))).certificate)
    value["runs"][0]["events"].insert(1, {"kind": "call_returned", "value": "1"})
    assert judge(value).code == "RUN_ORDER"


def test_a_release_without_the_feature_is_not_judged_by_the_value(
        made: dict[str, Certificate]) -> None:
    from agentrunproof.contracts import registry
    from agentrunproof.record.events import make

    one = made[PROBE]
    [run] = one.observation.runs
    lacking = Observation((type(run)(run.mode, run.phase, (
        make("raised", error={"type": "Lacking", "message": "agents does not have it"}),
        make("run_finished", outcome="raised"))),))
    [result] = registry.judge(one.plan, lacking)
    assert (result.verdict, result.code) == ("UNTESTABLE", "FEATURE_UNOBSERVED")
