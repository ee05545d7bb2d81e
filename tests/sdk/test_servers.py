"""MCP servers in process: what reaches them is recorded, and a broken SDK is told."""

from __future__ import annotations

from typing import Any

import pytest
from tests import driven

from agentrunproof.contracts.registry import judge
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation

pytestmark = pytest.mark.sdk

SHOP = """
title = "A shop, and a bank whose list is kept"
area = "tests"
contract = "It works."
modes = ["run"]
[run]
context = { day = 3 }
[agents.a]
mcp = ["shop", "bank"]
[mcp.shop]
tools = ["look", "order"]
block = ["order"]
[mcp.bank]
tools = ["pay"]
cached = true
{bank}
[tools.look]
parameters = { of = "string", max = { type = "integer", default = 3 } }
returns = "{max} {of}"
[tools.order]
returns = "ordered"
[tools.pay]
{pay}
[[phases]]
id = "one"
input = "Hi"
script = [
  [{ call = "look", arguments = '{ "of" : "tea" }' }, { call = "pay" }],
  [{ say = "Done." }],
]
expect = { final_output = "Done." }
[[phases]]
id = "two"
input = "Again"
script = [[{ say = "Done." }]]
"""


def _plan(bank: str = "", pay: str = 'returns = "paid"') -> Plan:
    return load_text(SHOP.replace("{bank}", bank).replace("{pay}", pay), "shop.toml")


def _events(seen: Observation, phase: str, *kinds: str) -> list[Event]:
    run = seen.run("run", phase)
    assert run is not None
    return [event for event in run.events if event["kind"] in kinds]


def _told(seen: Observation) -> dict[str, Any]:
    """What the model is told of each call in the first run."""
    *_, last = _events(seen, "one", "model_called")
    return {item["call_id"]: item["output"] for item in last["input"] if "output" in item}


def _flipped(plan: Plan, seen: Observation) -> dict[str, str]:
    return {result.check: result.code for result in judge(plan, seen)
            if result.verdict != "PASS"}


def test_what_reaches_a_server_is_recorded_with_the_call_it_is_for() -> None:
    plan = _plan()
    seen = driven.observe(plan)
    assert _flipped(plan, seen) == {}
    started = _events(seen, "one", "tool_started")
    assert [(event["server"], event["tool"], event["call"], event["arguments"])
            for event in started] == [
        ("shop", "look", "call-1", '{ "of" : "tea" }'), ("bank", "pay", "call-2", "{}")]
    assert [event["output"] for event in _events(seen, "one", "tool_finished")] == [
        "3 tea", "paid"]
    asked = [(phase, event["server"], event["op"], event["tools"]) for phase in ("one", "two")
             for event in _events(seen, phase, "server_asked")]
    shop = ("shop", "list", ("look", "order"))
    assert asked == [("one", *shop), ("one", "bank", "list", ("pay",)), ("one", *shop),
                     ("two", *shop)]
    assert {event["tools"] for event in _events(seen, "one", "model_called")} == {("look", "pay")}


def test_spans_tell_which_server_was_asked_for_its_tools() -> None:
    seen = driven.observe(_plan())
    named = [event["name"] for event in _events(seen, "one", "span_finished")
             if event["type"] == "mcp_tools"]
    assert named == ["shop", "bank"] * 2


@pytest.mark.parametrize(("how", "text"), [
    ("exception", "An error occurred"), ("protocol", "An error occurred"), ("result", "no tea")])
def test_a_failure_leaves_a_server_as_declared(how: str, text: str) -> None:
    plan = _plan(f'fails_by = "{how}"', 'error = "no tea"')
    seen = driven.observe(plan)
    assert _flipped(plan, seen) == {}
    assert _events(seen, "one", "tool_failed")[0]["error"] == {
        "type": "ToolFailure", "message": "no tea"}
    told = _told(seen)["call-2"]
    assert (told if isinstance(told, str) else told[0]["text"]).startswith(text)


@pytest.mark.parametrize(("bank", "pay", "check"), [
    ('failure_at = "server"', "raise", "raised"),
    ('failure_at = "server_not_agent"', "raise", "raised"),
    ('failure_at = "server_not_agent"', 'text"\nfailure_text = "closed', "closed"),
])
def test_what_becomes_of_a_failure_is_said_at_the_server(bank: str, pay: str, check: str) -> None:
    looks = 'block = ["order"]'
    text = SHOP.replace("{bank}", bank).replace(
        "{pay}", f'error = "no tea"\nfailure = "{pay}"')
    if "agent" in bank:  # an agent says it once for all its servers
        failure = f'failure = "{pay}"'
        text = text.replace(looks, f"{looks}\n{bank}").replace(
            '[tools.look]', f"[tools.look]\n{failure}").replace(
            '[tools.order]', f"[tools.order]\n{failure}")
    plan = load_text(text, "shop.toml")
    seen = driven.observe(plan)
    if check == "raised":
        run = seen.run("run", "one")
        assert run is not None
        assert run.outcome == "raised"
        assert set(_flipped(plan, seen)) <= {"execution_outcome", "model_script_consumed"}
    else:
        assert _flipped(plan, seen) == {}
        assert _told(seen)["call-2"] == check


def test_a_server_that_stops_listing_its_tools_raises_what_the_plan_says() -> None:
    plan = _plan('unlisted = "closed"\nunlisted_from = 1')
    seen = driven.observe(plan)
    assert _events(seen, "one", "raised")[0]["error"] == {
        "type": "ServerFailure", "message": "closed"}
    assert _events(seen, "one", "server_asked")[-1]["error"] == {
        "type": "ServerFailure", "message": "closed"}
    assert set(_flipped(plan, seen)) == {"execution_outcome", "model_script_consumed"}


def test_a_call_that_goes_to_another_server_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.servers import PlanServer

    servers: dict[str, Any] = {}
    connect = PlanServer.connect

    async def noted(self: Any) -> None:
        servers[self.name] = self
        await connect(self)

    async def astray(self: Any, name: str, arguments: Any, *_: Any, **__: Any) -> Any:
        return await servers["bank"].session.call_tool(name, arguments)

    monkeypatch.setattr(PlanServer, "connect", noted)
    monkeypatch.setattr(PlanServer, "call_tool", astray)
    plan = load_text(SHOP.replace("{bank}", "").replace("{pay}", 'returns = "paid"').replace(
        'tools = ["pay"]\ncached', 'tools = ["pay", "look"]\nblock = ["look"]\ncached'), "s.toml")
    assert _flipped(plan, driven.observe(plan)) == {"mcp_call": "ANOTHER_SERVER"}


def test_a_list_that_is_kept_and_asked_for_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.servers import PlanServer

    list_tools = PlanServer.list_tools

    async def forgetful(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.invalidate_tools_cache()
        return await list_tools(self, *args, **kwargs)

    monkeypatch.setattr(PlanServer, "list_tools", forgetful)
    plan = _plan()
    assert _flipped(plan, driven.observe(plan)) == {"mcp_listing": "LISTED_AGAIN"}


def test_a_list_that_nobody_asked_to_keep_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.servers import PlanServer

    init = PlanServer.__init__

    def keeping(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        self.cache_tools_list = True

    monkeypatch.setattr(PlanServer, "__init__", keeping)
    plan = _plan()
    assert _flipped(plan, driven.observe(plan)) == {"mcp_listing": "LIST_STALE"}


def test_a_filter_that_is_not_applied_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.servers import PlanServer

    async def unfiltered(self: Any, tools: Any, *_: Any) -> Any:
        return tools

    monkeypatch.setattr(PlanServer, "_apply_tool_filter", unfiltered)
    plan = _plan()
    assert _flipped(plan, driven.observe(plan)) == {"agent_request": "TOOLS_DIFFER"}
