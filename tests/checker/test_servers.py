"""Records with MCP servers: sound ones are valid in both profiles, forged ones are refused."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof import checker
from agentrunproof.contracts import registry
from agentrunproof.plan.loader import load_text
from agentrunproof.record import certificate, private
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.observation import PhaseRun

pytestmark = pytest.mark.sdk

SHOP = """
title = "A shop that fails in its results, a bank that fails, a desk that lists nothing in the end"
area = "tests"
contract = "It works."
modes = ["run"]
[agents.a]
mcp = ["shop", "bank", "desk"]
tool_use_behavior = "stop_at_tools"
stop_at_tools = ["order"]
[mcp.shop]
tools = ["look", "order"]
fails_by = "result"
[mcp.bank]
tools = ["pay"]
[mcp.desk]
tools = ["ring"]
unlisted = "closed"
unlisted_from = 3
[tools.look]
parameters = { of = "string" }
outcomes = [{ error = "no tea today" }, { returns = "3 {of}" }]
[tools.order]
returns = "ordered"
needs_approval = true
[tools.pay]
outcomes = [{ error = "no money" }, { cancel = true }]
[tools.ring]
returns = "rung"
[[phases]]
id = "one"
input = "Hi"
script = [
  [{ call = "look", args = { of = "tea" } }, { call = "pay" }],
  [{ call = "look", args = { of = "tea" } }, { call = "pay" }, { call = "order" }],
]
expect = { outcome = "interrupted", pending = ["call-5"] }
[[phases]]
id = "two"
resume = { from = "one", approve = ["call-5"] }
script = []
"""


@pytest.fixture(scope="module")
def made() -> Certificate:
    from agentrunproof.api import run_scenario

    plan = load_text(SHOP, "shop.toml")
    return run_scenario(("shop", plan)).certificate


def _rejudged(made: Certificate, edit: Callable[[dict[str, Any]], None], kind: str,
              **match: Any) -> str:
    """The checker's word on a record whose first such event is edited."""
    runs = []
    for run in made.observation.runs:
        events = copy.deepcopy(list(run.events))
        found = [event for event in events if event["kind"] == kind
                 and all(event[key] == value for key, value in match.items())]
        if found and run.phase == "one":
            edit(found[0])
        runs.append(PhaseRun(run.mode, run.phase, tuple(events)))
    seen = dataclasses.replace(made.observation, runs=tuple(runs))
    plan, seen = certificate.as_recorded(made.plan, seen)
    checks = registry.judge(plan, seen)
    forged = dataclasses.replace(made, observation=seen, checks=checks,
                                 verdict=registry.verdict(checks))  # type: ignore[arg-type]
    return checker.check(certificate.to_bytes(forged)).code


def test_an_authentic_record_is_valid_in_both_profiles(made: Certificate) -> None:
    assert checker.check(certificate.to_bytes(made)).code == "OK"
    plan, seen = private.cover(made.plan, made.observation, b"salt" * 8)
    text = str((plan, seen))
    assert not any(word in text for word in ("tea", "money", "closed", "ordered"))
    checks = registry.judge(plan, seen)
    covered = dataclasses.replace(made, plan=plan, observation=seen, checks=checks,
                                  verdict=registry.verdict(checks),  # type: ignore[arg-type]
                                  profile="private")
    assert checker.check(certificate.to_bytes(covered)).code == "OK"


@pytest.mark.parametrize(("kind", "match", "change", "code"), [
    ("server_asked", {"server": "shop"}, {"tools": ("look",)}, "SERVER_DIFFERS"),
    ("server_asked", {"server": "shop"}, {"server": "mall"}, "SERVER_DIFFERS"),
    ("server_asked", {"server": "shop"}, {"op": "cleanup"}, "SERVER_DIFFERS"),
    ("server_asked", {"server": "bank"},
     {"tools": (), "error": {"type": "ServerFailure", "message": "closed"}}, "SERVER_DIFFERS"),
    ("server_asked", {"server": "desk"}, {"tools": ("ring",), "error": {
        "type": "ServerFailure", "message": "closed"}}, "SERVER_DIFFERS"),
    ("tool_started", {"tool": "pay"}, {"server": "mall"}, "TOOL_UNKNOWN"),
    ("tool_started", {"tool": "pay"}, {"server": "shop"}, "TOOL_UNKNOWN"),
    ("tool_started", {"tool": "pay"}, {"server": ""}, "TOOL_UNKNOWN"),
])
def test_what_no_server_of_the_plan_gives_is_refused(
        made: Certificate, kind: str, match: dict[str, Any], change: dict[str, Any],
        code: str) -> None:
    assert _rejudged(made, lambda event: event.update(change), kind, **match) == code


def test_a_text_that_no_server_gave_is_refused(made: Certificate) -> None:
    def other(event: dict[str, Any]) -> None:
        event["input"] = tuple(
            item | {"output": [{"type": "input_text", "text": "9 tea"}]}
            if item.get("call_id") == "call-1" and "output" in item else item
            for item in event["input"])

    edited = made.observation.runs[0].of("model_called")[1]["input"]
    assert any(item.get("output") for item in edited)
    assert _rejudged(made, other, "model_called", tools=("look", "order", "pay", "ring"),
                     input=edited) == "ITEM_UNEXPLAINED"
