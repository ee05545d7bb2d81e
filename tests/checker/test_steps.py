"""One negative vector for each step of the checker, refused for the named reason."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import canonical, checker
from agentrunproof.contracts import registry
from agentrunproof.plan import catalog
from agentrunproof.record import certificate, private
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.document import id_of
from agentrunproof.record.observation import PhaseRun

pytestmark = pytest.mark.sdk

BASIC = "basic-tool-session-parity"
SIBLING = "runstate-sibling-approval-isolation"


@pytest.fixture(scope="module")
def authentic() -> Callable[[str], Certificate]:
    from agentrunproof.api import run_scenario

    made: dict[str, Certificate] = {}

    def of(scenario: str) -> Certificate:
        if scenario not in made:
            made[scenario] = run_scenario((scenario, catalog.load(scenario))).certificate
        return made[scenario]

    return of


@pytest.fixture
def basic(authentic: Callable[[str], Certificate]) -> dict[str, Any]:
    return copy.deepcopy(certificate.to_json(authentic(BASIC)))


def judge(value: Any) -> checker.Judgement:
    return checker.check(canonical.dumps(value) + b"\n")


def sealed(value: dict[str, Any]) -> dict[str, Any]:
    value["subject"]["plan"] = canonical.digest(value["plan"])
    value["id"] = id_of(value)
    return value


def events(value: dict[str, Any], kind: str, run: int = 0) -> list[dict[str, Any]]:
    return [event for event in value["runs"][run]["events"] if event["kind"] == kind]


def rejudged(made: Certificate, edit: Callable[[list[dict[str, Any]]], None]) -> Certificate:
    """The record of an observation edited alike in every mode, judged anew by our contracts.

    Its variants are not edited.
    """
    runs = []
    for run in made.observation.runs:
        changed = copy.deepcopy(list(run.events))
        edit(changed)
        runs.append(PhaseRun(run.mode, run.phase, tuple(changed)))
    seen = dataclasses.replace(made.observation, runs=tuple(runs))
    plan, seen = certificate.as_recorded(made.plan, seen)
    checks = registry.judge(plan, seen)
    return dataclasses.replace(made, observation=seen, checks=checks,
                               verdict=registry.verdict(checks))  # type: ignore[arg-type]


@pytest.mark.parametrize("scenario", [BASIC, SIBLING, "nested-handoff-history",
                                      "cancel-immediately", "hanging-tool", "tool-error-raised"])
def test_an_authentic_record_is_valid_in_both_profiles(
        authentic: Callable[[str], Certificate], scenario: str) -> None:
    made = authentic(scenario)
    judgement = checker.check(certificate.to_bytes(made))
    assert (judgement.code, judgement.verdict) == ("OK", made.verdict)
    assert (judgement.scenario, judgement.underived) == (scenario, 0)
    assert judgement.id == certificate.to_json(made)["id"]
    plan, seen = private.cover(made.plan, made.observation, b"salt" * 8)
    checks = registry.judge(plan, seen)
    covered = dataclasses.replace(made, plan=plan, observation=seen, checks=checks,
                                  profile="private")
    assert [(c.check, c.verdict, c.code) for c in checks] == [
        (c.check, c.verdict, c.code) for c in made.checks]
    assert checker.check(certificate.to_bytes(covered)).code == "OK"


def test_the_line_feed_at_the_end_may_be_missing_and_nothing_else(basic: dict[str, Any]) -> None:
    data = canonical.dumps(basic)
    assert checker.check(data).valid
    for other in (data + b"\n\n", b" " + data, data + b" ", data.replace(b'":', b'": ', 1)):
        assert checker.check(other).code == "NOT_CANONICAL"


def test_step_1_bytes() -> None:
    assert checker.check(b"").code == "JSON_EMPTY"
    assert checker.check(b'{"a":NaN}').code == "JSON_NOT_A_NUMBER"
    assert checker.check(b"x" * (16 * 2**20 + 1)).code == "JSON_TOO_LARGE"


def test_step_2_envelope(basic: dict[str, Any]) -> None:
    assert judge({**basic, "schema": "agentrunproof/certificate/9"}).code == "RECORD_FORMAT"
    assert judge({**basic, "note": "x"}).code == "RECORD_SHAPE"
    assert judge({**basic, "missing": []}).code == "RECORD_EXPLICIT_DEFAULT"


def test_step_3_id(basic: dict[str, Any]) -> None:
    assert judge({**basic, "verdict": "FAIL"}).code == "ID_DIFFERS"


def test_step_4_plan(basic: dict[str, Any]) -> None:
    basic["subject"]["plan"] = "sha256:" + "0" * 64
    basic["id"] = id_of(basic)
    assert judge(basic).code == "PLAN_DIGEST_DIFFERS"
    relaxed = copy.deepcopy(basic)
    del relaxed["plan"]["phases"][0]["expect"]
    assert judge(sealed(relaxed)).code == "PLAN_ALTERED"
    renamed = copy.deepcopy(basic)
    renamed["subject"]["scenario"] = "something-else"
    assert judge(sealed(renamed)).code == "PLAN_RENAMED"
    bumped = copy.deepcopy(basic)
    bumped["plan"]["revision"] = 99
    assert judge(sealed(bumped)).code == "PLAN_REVISION_UNKNOWN"
    dangling = copy.deepcopy(basic)
    dangling["plan"]["start"] = "nobody"
    assert judge(sealed(dangling)).code.startswith("PLAN_")


def test_step_5_producer(basic: dict[str, Any]) -> None:
    other = copy.deepcopy(basic)
    other["producer"]["version"] = "99.0.0"
    assert judge(sealed(other)).code == "PRODUCER_UNKNOWN"
    patched = copy.deepcopy(basic)
    patched["producer"]["sdk"] = {"version": "0.24.0", "files": "sha256:" + "0" * 64}
    assert judge(sealed(patched)).code == "SDK_FILES_DIFFER"
    swapped = copy.deepcopy(patched)
    swapped["producer"]["sdk"]["version"] = "0.24.0"
    from agentrunproof.record import sdk_releases
    swapped["producer"]["sdk"]["files"] = sdk_releases.known()["0.20.0"]
    assert judge(sealed(swapped)).code == "SDK_VERSION_DIFFERS"


def test_step_6_items_and_events(basic: dict[str, Any]) -> None:
    basic["items"].append({"role": "user", "content": "nobody said so"})
    assert judge(sealed(basic)).code == "RECORD_UNUSED_ITEM"


@pytest.mark.parametrize(("edit", "code"), [
    (lambda v: v["runs"].pop(), "RUNS_DIFFER"),
    (lambda v: v["runs"].reverse(), "RUNS_DIFFER"),
    (lambda v: events(v, "run_started")[0].update(input=[]), "RECORD_EXPLICIT_DEFAULT"),
    (lambda v: events(v, "run_started")[0].pop("input"), "RUN_INPUT"),
    (lambda v: events(v, "run_started")[0].update(agent="other"), "RUN_START"),
    (lambda v: events(v, "run_finished")[0].update(outcome="interrupted"), "OUTCOME_DIFFERS"),
    (lambda v: v["runs"][0]["events"].remove(events(v, "run_finished")[0]), "RUN_END"),
    (lambda v: v["runs"][0]["events"].remove(events(v, "usage")[0]), "RUN_END"),
    (lambda v: v["runs"][0]["events"].append({"kind": "stream_event", "type": "raw",
                                              "name": "x"}), "RUN_ORDER"),
])
def test_step_7_course(basic: dict[str, Any], edit: Callable[[Any], Any], code: str) -> None:
    del basic["variants"]  # they are told by the runs that are edited
    edit(basic)
    assert judge(sealed(basic)).code == code


@pytest.mark.parametrize(("edit", "code"), [
    (lambda v: events(v, "model_responded")[0].update(response_id="r"), "MODEL_ANSWER_DIFFERS"),
    (lambda v: events(v, "model_responded")[0]["usage"].update(input=11), "MODEL_ANSWER_DIFFERS"),
    (lambda v: events(v, "tool_finished")[0].update(output="forged"), "TOOL_RESULT_DIFFERS"),
    (lambda v: events(v, "tool_started")[0].update(arguments='{"x":1}'), "ARGUMENTS_DIFFER"),
    (lambda v: events(v, "tool_started")[0].update(call="other"), "CALL_UNKNOWN"),
    (lambda v: v["runs"][0]["events"].remove(events(v, "tool_finished")[0]),
     "TOOL_EVENTS_DIFFER"),
    (lambda v: v["items"][0].update(content="Forged."), "RUN_INPUT"),
    (lambda v: events(v, "result")[0].update(final_output="forged"), "FINAL_OUTPUT_UNEXPLAINED"),
    (lambda v: events(v, "result")[0]["new_items"][0].update(agent="nobody"), "RESULT_DIFFERS"),
])
def test_step_8_provenance(basic: dict[str, Any], edit: Callable[[Any], Any], code: str) -> None:
    del basic["variants"]  # they are told by the runs that are edited
    edit(basic)
    assert judge(sealed(basic)).code == code


@pytest.mark.parametrize(("edit", "code"), [
    (lambda v: v["runs"][0]["events"].remove(events(v, "session_written")[0]),
     "SESSION_DIFFERS"),
    (lambda v: events(v, "hook")[0].update(agent="nobody"), "HOOK_UNKNOWN"),
    (lambda v: events(v, "model_called")[0].update(tools=["forged"]), "MODEL_CALL_DIFFERS"),
    (lambda v: events(v, "stream_event", 1)[1].update(name="response.forged"), "STREAM_DIFFERS"),
    (lambda v: events(v, "span_finished")[1].update(name="forged"), "SPANS_DIFFER"),
    (lambda v: events(v, "usage")[0].update(total=1), "USAGE_DIFFERS"),
])
def test_step_9_coherence(basic: dict[str, Any], edit: Callable[[Any], Any], code: str) -> None:
    del basic["variants"]  # they are told by the runs that are edited
    edit(basic)
    assert judge(sealed(basic)).code == code


def test_step_10_known_observations(authentic: Callable[[str], Certificate],
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.checker import known

    made = authentic(BASIC)
    value = certificate.to_json(made)
    envelope = certificate.read_envelope(value)
    table = {envelope.subject.plan: {
        made.producer.sdk.version: known.observation_digest(envelope)}}
    monkeypatch.setattr(known, "known_observations", lambda: table)
    assert checker.check(certificate.to_bytes(made), reproduced=True).valid

    def without_a_hook(changed: list[dict[str, Any]]) -> None:
        changed.remove(next(event for event in changed if event["kind"] == "hook"))

    forged = certificate.to_bytes(rejudged(made, without_a_hook))
    assert checker.check(forged, reproduced=True).code == "OBSERVATION_DIFFERS"
    assert checker.check(forged, reproduced=None).code == "OBSERVATION_DIFFERS"
    assert "observed something else" in checker.check(forged).notes[-1]
    table.clear()
    assert checker.check(certificate.to_bytes(made), reproduced=True).code == "OBSERVATION_UNKNOWN"
    assert checker.check(certificate.to_bytes(made), reproduced=None).valid


def test_steps_11_and_12_judgement(authentic: Callable[[str], Certificate]) -> None:
    made = authentic(BASIC)
    for changes, code in (
            ({"checks": made.checks[1:]}, "CHECKS_DIFFER"),
            ({"checks": (*made.checks, made.checks[0])}, "CHECKS_DIFFER"),
            ({"checks": tuple(dataclasses.replace(c, detail="x") for c in made.checks)},
             "CHECKS_DIFFER"),
            ({"verdict": "FAIL"}, "VERDICT_DIFFERS")):
        forged = dataclasses.replace(made, **changes)  # type: ignore[arg-type]
        assert checker.check(certificate.to_bytes(forged)).code == code


def test_a_covered_plan_is_still_held_against_the_packaged_one(
        authentic: Callable[[str], Certificate]) -> None:
    made = authentic(BASIC)
    plan, seen = private.cover(made.plan, made.observation, b"s" * 32)
    phase = dataclasses.replace(plan.phases[0], expect=dataclasses.replace(
        plan.phases[0].expect, final_output=None))
    plan = dataclasses.replace(plan, phases=(phase, *plan.phases[1:]))
    forged = dataclasses.replace(made, plan=plan, observation=seen, profile="private",
                                 checks=registry.judge(plan, seen))
    assert checker.check(certificate.to_bytes(forged)).code == "PLAN_ALTERED"


def test_the_checker_works_where_the_sdk_cannot_be_imported(basic: dict[str, Any]) -> None:
    code = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("agents", "openai"):
            raise AssertionError(name + " was imported")
sys.meta_path.insert(0, Blocked())
from agentrunproof.checker import check
judgement = check(sys.stdin.buffer.read())
print(judgement.code, judgement.verdict)
"""
    done = subprocess.run([sys.executable, "-c", code], input=canonical.dumps(basic),
                          capture_output=True, check=True)
    assert done.stdout.decode().split() == ["OK", "PASS"]
