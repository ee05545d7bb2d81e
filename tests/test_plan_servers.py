"""MCP servers of a plan: what they offer to whom, what a plan may say of them and what it needs."""

from __future__ import annotations

import pytest

from agentrunproof.errors import PlanError
from agentrunproof.plan.capabilities import needed
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Plan
from agentrunproof.plan.writer import to_toml

BASE = """
title = "Base"
area = "mcp"
contract = "It works."

[agents.a]
mcp = ["shop", "bank"]
tools = ["own"]

[agents.b]

[mcp.shop]
tools = ["look", "order"]

[mcp.bank]
tools = ["pay"]

[tools.own]
returns = "mine"

[tools.look]
returns = "seen"

[tools.order]
returns = "ordered"

[tools.pay]
returns = "paid"

[[phases]]
id = "only"
input = "Hi"
script = [[{ call = "look" }], [{ say = "Done." }]]
"""


def loaded(*edits: tuple[str, str]) -> Plan:
    """The base plan with each first text replaced by the second."""
    text = BASE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return load_text(text, "base.toml")


def of(name: str, *lines: str) -> tuple[str, str]:
    """An edit that adds lines to a server or a tool."""
    return f"[{name}]\n", "\n".join([f"[{name}]", *lines, ""])


def test_an_agent_has_the_tools_of_its_servers_before_its_own() -> None:
    plan = loaded()
    assert plan.tools_of("a") == ("look", "order", "pay", "own")
    assert plan.tools_of("b") == plan.tools_of("nobody") == ()
    assert plan.served == {"look", "order", "pay"}
    assert [plan.server_of("a", tool) for tool in ("look", "pay", "own")] == ["shop", "bank", None]
    assert plan.server_of("b", "look") is plan.server_of("nobody", "look") is None


@pytest.mark.parametrize(("options", "offered"), [
    ((), ("look", "order")),
    (('allow = ["look"]',), ("look",)),
    (('block = ["look"]',), ("order",)),
    (('allow = ["look", "order"]', 'block = ["order"]'), ("look",)),
    (("allow = []",), ()),
])
def test_a_filter_allows_first_and_then_blocks(options: tuple[str, ...],
                                               offered: tuple[str, ...]) -> None:
    plan = loaded(of("mcp.shop", *options))
    assert plan.mcp["shop"].offered == offered
    assert plan.mcp["shop"].filters == bool(options)
    assert ("mcp-filter" in needed(plan)) == bool(options)
    assert plan.server_of("a", "order") == ("shop" if "order" in offered else None)


def test_a_plan_with_servers_is_written_and_read_again() -> None:
    plan = loaded(of("mcp.shop", 'allow = ["look"]', "cached = true", 'unlisted = "closed"',
                     "unlisted_from = 2"), of("mcp.bank", 'fails_by = "result"'))
    assert load_text(to_toml(plan), "written.toml") == plan
    assert Plan.from_json(plan.to_json()) == plan


def test_a_plan_without_servers_says_nothing_of_them() -> None:
    plan = loaded(('mcp = ["shop", "bank"]\n', ""), ('[mcp.shop]\ntools = ["look", "order"]\n', ""),
                  ('[mcp.bank]\ntools = ["pay"]\n', ""))
    assert "mcp" not in plan.to_json() | plan.to_json()["agents"]["a"]


@pytest.mark.parametrize(("edits", "place", "says"), [
    ([('tools = ["pay"]', "tools = []")], "mcp.bank.tools", "at least one"),
    ([('tools = ["pay"]', 'tools = ["play"]')], "mcp.bank.tools", "unknown tool"),
    ([('tools = ["pay"]', 'tools = ["pay", "pay"]')], "mcp.bank.tools", "2 times"),
    ([of("mcp.bank", 'allow = ["look"]')], "mcp.bank.allow", "tool of this server"),
    ([of("mcp.bank", 'block = ["look"]')], "mcp.bank.block", "tool of this server"),
    ([of("tools.pay", "timeout = 2")], "tools.pay.timeout", "no such thing"),
    ([of("tools.pay", "enabled = false")], "tools.pay.enabled", "no such thing"),
    ([('[tools.pay]\nreturns = "paid"', '[tools.pay]\nagent = "b"')], "tools.pay.agent",
     "no such thing"),
    ([('returns = "paid"', "exit = 1")], "tools.pay.outcomes[0].exit", "interpreter"),
    ([of("tools.order", 'failure = "raise"')], "tools.order.failure", "same server"),
    ([of("mcp.bank", 'fails_by = "result"'), of("tools.pay", 'failure = "raise"')],
     "mcp.bank.fails_by", "no failure"),
    ([of("mcp.bank", "unlisted_from = 2")], "mcp.bank.unlisted_from", "unlisted"),
    ([('mcp = ["shop", "bank"]', 'mcp = ["shop", "bang"]')], "agents.a.mcp", "unknown MCP server"),
    ([('tools = ["own"]', 'tools = ["pay"]')], "agents.a.tools", "tool of an MCP server"),
    ([('tools = ["pay"]', 'tools = ["pay", "look"]')], "agents.a.mcp", "'look' 2 times"),
    ([of("mcp.bank", 'failure_at = "agent"'), of("tools.pay", 'failure = "raise"')],
     "agents.a.mcp", "says once"),
    ([('tools = ["own"]', 'tools = ["own"]\nstop_at_tools = ["nothing"]')],
     "agents.a.stop_at_tools", "tool of this agent"),
])
def test_a_contradiction_is_refused_at_its_place(edits: list[tuple[str, str]], place: str,
                                                 says: str) -> None:
    with pytest.raises(PlanError) as caught:
        loaded(*edits)
    assert f" {place}: " in str(caught.value)
    assert says in str(caught.value)


def test_servers_of_one_agent_may_say_the_same_of_failures() -> None:
    raising = [of(f"tools.{name}", 'failure = "raise"') for name in ("look", "order", "pay")]
    plan = loaded(of("mcp.bank", 'failure_at = "agent"'), of("mcp.shop", 'failure_at = "agent"'),
                  *raising)
    assert plan.agents["a"].mcp == ("shop", "bank")


@pytest.mark.parametrize(("edits", "further"), [
    ([], set()),
    ([of("mcp.bank", "cached = true")], set()),
    ([('returns = "paid"', 'error = "broke"')], {"mcp-failure"}),
    ([('returns = "paid"', "cancel = true")], {"mcp-failure"}),
    ([('returns = "paid"', 'error = "broke"'), of("mcp.bank", 'fails_by = "result"')], set()),
    ([of("tools.pay", 'failure = "raise"')], {"mcp-failure"}),
    ([of("mcp.bank", 'failure_at = "server_not_agent"'),
      of("mcp.shop", 'failure_at = "server_not_agent"')], {"mcp-failure"}),
    ([('{ call = "look" }', '{ call = "look", arguments = "[1]" }')], {"mcp-failure"}),
    ([('{ call = "look" }', '{ call = "look", arguments = "" }')], set()),
    ([('{ call = "look" }', '{ call = "own", arguments = "[1]" }')], set()),
    ([('contract = "It works."', 'contract = "It works."\nrun.sensitive_traces = false')],
     {"mcp-context", "tool-context"}),
    ([of("tools.pay", 'input_guardrails = ["g"]'),
      ("[[phases]]", '[tool_guardrails.g]\nkind = "input"\n[[phases]]')],
     {"mcp-guardrails", "tool-guardrails"}),
    ([of("tools.pay", "needs_approval = true")], {"run-state"}),
])
def test_what_a_server_uses_its_plan_needs(edits: list[tuple[str, str]],
                                           further: set[str]) -> None:
    assert set(needed(loaded(*edits))) == {"mcp"} | further


def test_an_agent_tool_whose_server_asks_for_approval_needs_it_nested() -> None:
    plan = loaded(of("tools.pay", "needs_approval = true"),
                  ("[agents.b]", '[agents.b]\ntools = ["ask"]'),
                  ("[tools.own]", '[tools.ask]\nagent = "a"\n[tools.own]'))
    assert {"agent-tool-approval", "mcp", "run-state"} <= set(needed(plan))
