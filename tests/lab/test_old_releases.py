"""One harness drives releases from before sessions, hooks around the model and run states."""

from __future__ import annotations

import pytest

from agentrunproof import canonical, checker
from agentrunproof.lab import probe
from agentrunproof.plan import catalog
from agentrunproof.record import certificate as records
from agentrunproof.record.certificate import Certificate

pytestmark = pytest.mark.lab

PLANS = ("basic-tool-parity", "basic-tool-session-parity", "parallel-calls-keep-order",
         "two-pauses")


def _certificates(sdk: str) -> dict[str, Certificate]:
    found = {}
    for outcome in probe.probe({id: catalog.load(id) for id in PLANS},
                               probe.Options(sdk=sdk, python="3.12")):
        assert outcome.error is None
        assert outcome.certificate is not None
        judgement = checker.check(canonical.dumps(records.to_json(outcome.certificate)))
        assert judgement.valid, f"{sdk} {outcome.scenario}: {judgement.message}"
        found[outcome.scenario] = outcome.certificate
    return found


def _failed(certificate: Certificate) -> set[str]:
    return {check.check for check in certificate.checks if check.verdict != "PASS"}


def test_0_0_3_runs_a_tool_and_does_not_count_the_usage_of_a_stream() -> None:
    found = _certificates("0.0.3")
    assert found["basic-tool-session-parity"].observation.missing == ("session",)
    assert found["two-pauses"].observation.missing == ("run-state",)
    for id in ("basic-tool-parity", "parallel-calls-keep-order"):
        assert _failed(found[id]) == {"stream_parity", "usage_sum"}
        for run in found[id].observation.runs:
            calls = {item["call_id"] for event in run.of("model_responded")
                     for item in event["output"] if "call_id" in item}
            assert {event["call"] for event in run.of("tool_started")} == calls
            assert {event["call"] for event in run.of("hook") if event["tool"]} == calls
            assert run.of("run_started")[0]["unheard"] == ("on_llm_end", "on_llm_start")


def test_0_6_9_keeps_a_session_and_cannot_pause() -> None:
    found = _certificates("0.6.9")
    assert found["two-pauses"].observation.missing == ("run-state",)
    for id in PLANS[:3]:
        assert found[id].verdict == "PASS"
        assert all(run.of("run_started")[0]["unheard"] == ()
                   for run in found[id].observation.runs)
