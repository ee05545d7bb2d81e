"""Records of staged input, failing writes and supplied texts: sound ones hold, forged ones not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from agentrunproof import canonical, checker
from agentrunproof.plan.loader import load_text
from agentrunproof.record import certificate
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.observation import PhaseRun

pytestmark = pytest.mark.sdk

PAYING = """
title = "A payment whose storing fails, and one to which something is added"
area = "tests"
contract = "It works."
modes = ["run"]
[agents.a]
tools = ["pay", "wait"]
[tools.pay]
returns = "paid"
needs_approval = true
[tools.wait]
returns = "waited"
delay = 2
timeout = 1
timeout_text = "Too slow."
[session]
[run]
unknown_tools = "tell"
tool_error_text = "Not so."
[[phases]]
id = "pause"
input = "Pay."
script = [[{ call = "wait" }, { call = "way" }], [{ call = "pay" }]]
expect = { outcome = "interrupted", pending = ["call-3"] }
[[phases]]
id = "locked"
resume = { from = "pause", approve = ["call-3"] }
failing_write = {}
expect = { outcome = "raised", error = "SessionFailure" }
[[phases]]
id = "added"
resume = { from = "pause", branch = "b", via = "json", approve = ["call-3"], add = "And ring." }
script = [[{ say = "Done." }]]
"""


@pytest.fixture(scope="module", params=["public", "private"])
def made(request: pytest.FixtureRequest) -> Certificate:
    from agentrunproof.api import run_scenario

    plan = load_text(PAYING, "paying.toml")
    return run_scenario(("paying", plan), profile=request.param).certificate


def _code(made: Certificate, phase: str, kind: str, **fields: Any) -> str:
    """What the checker says when that event of a phase stands twice, the second time changed."""
    runs = []
    for run in made.observation.runs:
        events = list(run.events)
        for event in run.of(kind) if run.phase == phase else ():
            events.insert(events.index(event), event | fields)
        runs.append(PhaseRun(run.mode, run.phase, tuple(events)))
    forged = dataclasses.replace(made, observation=dataclasses.replace(
        made.observation, runs=tuple(runs)))
    return checker.check(canonical.dumps(certificate.to_json(forged))).code


def test_a_record_of_them_is_valid(made: Certificate) -> None:
    assert checker.check(canonical.dumps(certificate.to_json(made))).valid


def test_input_is_staged_once_and_as_declared(made: Certificate) -> None:
    assert _code(made, "added", "input_staged") == "RUN_START"
    assert _code(made, "added", "input_staged",
                 items=({"role": "user", "content": "Or not."},)) == "RUN_START"


def test_no_more_writes_fail_than_the_plan_lets_fail(made: Certificate) -> None:
    assert _code(made, "locked", "session_failed") == "RUN_START"
