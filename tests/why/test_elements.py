"""Elements of plans, and plans without some of them."""

from __future__ import annotations

import random

import pytest

from agentrunproof.plan import catalog, rules
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Plan
from agentrunproof.why.elements import Whole

TWO_TOOLS = """
title = "Two tools"
area = "demo"
contract = "Both are called."

[agents.clerk]
instructions = "Do both."
tools = ["one", "two"]

[tools.one]
parameters = { n = "integer" }
returns = "first {n}"

[tools.two]
returns = "second"

[[phases]]
id = "only"
input = "Go."
script = [[{ call = "one", args = { n = 1 } }, { call = "two" }], [{ say = "Done." }]]
[phases.expect]
tool_calls = { one = 1, two = 1 }
outputs = { call-1 = "first 1", call-2 = "second" }
"""


def plan() -> Plan:
    return load_text(TWO_TOOLS, "two-tools.toml")


def test_a_tool_takes_its_calls_and_what_is_expected_of_them_along() -> None:
    reduced = Whole(plan()).without({"tools.two"})
    assert reduced is not None
    small = reduced.plan
    assert small.agents["clerk"].tools == ("one",)
    assert [item.call for item in small.phases[0].script["clerk"][0].output] == ["one"]
    assert small.phases[0].expect.tool_calls == {"one": 1}
    assert small.phases[0].expect.outputs == {"call-1": "first 1"}
    assert "phases.only.script.clerk[0].output[1]" not in reduced.left
    assert "tools.one" in reduced.left


def test_a_turn_that_has_nothing_left_to_say_goes() -> None:
    reduced = Whole(plan()).without({"tools.one", "tools.two"})
    assert reduced is not None
    (turn,) = reduced.plan.phases[0].script["clerk"]
    assert [item.say for item in turn.output] == ["Done."]


def test_what_leaves_no_plan_is_not_offered() -> None:
    assert Whole(plan()).without({"agents.clerk"}) is None
    assert Whole(plan()).without({"phases.only"}) is None
    assert Whole(plan()).without({"modes[0]", "modes[1]"}) is None


def test_a_phase_takes_along_the_phases_that_resume_it() -> None:
    whole = Whole(catalog.load("runstate-sibling-approval-isolation"))
    reduced = whole.without({"phases.approved"})
    assert reduced is not None
    assert [phase.id for phase in reduced.plan.phases] == ["pause", "untouched"]
    assert whole.without({"phases.pause"}) is None


@pytest.mark.parametrize("id", catalog.ids())
def test_any_removal_leaves_a_plan_or_nothing(id: str) -> None:
    whole = Whole(catalog.load(id))
    ids = [one.id for one in whole.elements]
    assert len(set(ids)) == len(ids)
    nothing_gone = whole.without(())
    assert nothing_gone is not None
    assert nothing_gone.plan == whole.plan
    assert nothing_gone.left == frozenset(ids)
    random_choice = random.Random(id)
    for size in (1, 2, 5):
        removed = set(random_choice.sample(ids, min(size, len(ids))))
        reduced = whole.without(removed)
        if reduced is not None:
            rules.check(reduced.plan)
            assert not removed & reduced.left
            again = whole.without(set(ids) - reduced.left)  # what is left says which plan it is
            assert again == reduced


SERVERS = """
title = "Two servers"
area = "t"
contract = "c"
[agents.clerk]
mcp = ["shop", "bank"]
stop_at_tools = ["pay"]
[mcp.shop]
tools = ["look", "order"]
allow = ["look", "order"]
block = ["order"]
[mcp.bank]
tools = ["pay"]
cached = true
[tools.look]
returns = "seen"
[tools.order]
returns = "ordered"
[tools.pay]
returns = "paid"
[[phases]]
id = "one"
input = "Hi"
script = [[{ call = "look" }], [{ call = "pay" }]]
expect = { tool_calls = { look = 1, pay = 1 }, outputs = { call-1 = "seen" } }
"""


def test_a_tool_of_a_server_takes_the_server_and_its_calls_along() -> None:
    whole = Whole(load_text(SERVERS, "servers.toml"))
    assert ("mcp.bank", "MCP server") in {(one.id, one.kind) for one in whole.elements}
    small = whole.without({"tools.pay"})
    assert small is not None
    assert [*small.plan.mcp] == ["shop"]
    assert small.plan.agents["clerk"].mcp == ("shop",)
    assert small.plan.agents["clerk"].stop_at_tools == ()
    assert [item.call for step in small.plan.phases[0].script["clerk"] for item in step.output] == [
        "look"]
    assert small.plan.phases[0].expect.tool_calls == {"look": 1}


def test_a_server_takes_its_calls_along_and_leaves_its_tools() -> None:
    small = Whole(load_text(SERVERS, "servers.toml")).without({"mcp.shop"})
    assert small is not None
    assert small.plan.served == {"pay"}
    assert [item.call for step in small.plan.phases[0].script["clerk"] for item in step.output] == [
        "pay"]


def test_a_plan_with_servers_can_do_without_all_but_its_only_agent_and_phase() -> None:
    whole = Whole(load_text(SERVERS, "servers.toml"))
    needed = [one.id for one in whole.elements if whole.without({one.id}) is None]
    assert needed == ["agents.clerk", "phases.one"]
