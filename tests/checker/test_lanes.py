"""In which run of an agent tool a call is started: what contracts judge, the checker lets pass."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentrunproof import canonical, checker
from agentrunproof.contracts.registry import judge
from agentrunproof.plan.loader import load_text
from agentrunproof.record import certificate as records
from agentrunproof.record import sdk_releases
from agentrunproof.record.document import id_of
from tests.driven import observe
from tests.plans import PRODUCER

pytestmark = pytest.mark.sdk

_PLAN = """
title = "A plan"
area = "tests"
contract = "An agent has itself as a tool."
modes = ["run"]
start = "desk"
[agents.desk]
tools = ["ask"]
[agents.clerk]
tools = ["ask", "pay"]
[tools.ask]
agent = "clerk"
max_turns = 5
[tools.pay]
returns = "paid"
needs_approval = true
[[phases]]
id = "pause"
input = "Go."
script.desk = [[{ call = "ask", id = "o1", args = { input = "Pay." } }]]
script.clerk = [
  [{ call = "ask", id = "i1", args = { input = "Pay." } }],
  [{ call = "pay", id = "c1" }],
]
expect = { outcome = "interrupted", pending = ["c1"] }
[[phases]]
id = "half"
resume = { from = "pause", via = "json", approve = ["c1"] }
expect = { outcome = "interrupted" }
[[phases]]
id = "rest"
resume = { from = "half", via = "json", approve = ["c1"] }
script.desk = [[{ say = "Done." }]]
"""


@pytest.fixture(scope="module")
def made() -> records.Certificate:
    recorded = records.as_recorded(*(plan := load_text(_PLAN, "itself"), observe(plan)))
    results = judge(*recorded)
    verdict = "FAIL" if any(result.verdict == "FAIL" for result in results) else "PASS"
    sdk = records.Sdk(version="0.24.0", files=sdk_releases.known()["0.24.0"])
    return records.build("itself", *recorded, replace(PRODUCER, sdk=sdk), results, verdict)


def test_a_call_that_runs_in_the_run_around_its_own_is_recorded(
        made: records.Certificate) -> None:
    lanes = [event["parent"] for run in made.observation.runs for event in run.of("tool_started")
             if event["call"] == "c1"]
    assert set(lanes) == {"o1/i1", "o1"}  # the defect of 0.24.0, for which contracts fail the run
    judgement = checker.check(records.to_bytes(made))
    assert (judgement.code, judgement.verdict) == ("OK", "FAIL")


@pytest.mark.parametrize("lane", ["", "o2", "o"])
def test_a_call_that_runs_beside_its_own_run_is_refused(
        made: records.Certificate, lane: str) -> None:
    value = json.loads(records.to_bytes(made))
    for run in value["runs"]:
        for event in run["events"]:
            if event["kind"] == "tool_started" and event.get("parent") == "o1" and (
                    event["call"] == "c1"):
                del event["parent"]
                event.update({"parent": lane} if lane else {})  # no default stands in a record
    value["id"] = id_of(value)
    judgement = checker.check(canonical.dumps(value) + b"\n")
    assert judgement.code == "CALL_UNKNOWN", judgement
