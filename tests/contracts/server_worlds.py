"""Worlds with MCP servers, sound and broken."""

from __future__ import annotations

from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    McpServer,
    Phase,
    ResumeInput,
    Tool,
    ToolOutcome,
)
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from tests.contracts.damage import both, change, drop, given, insert, on, repeat
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised, steps

_BROKE = {"type": "ToolFailure", "message": "broke"}
_UNLISTED = {"type": "ServerFailure", "message": "closed"}


def two_servers() -> World:
    """Two agents whose servers have a tool of one name; the first hands over to the second."""
    declared = plan(
        (hi("one", {"a": 2, "b": 2}),), tools={"note": ADD, "add": ADD, "more": ADD},
        agents={"a": Agent(tools=("note",), mcp=("shop",), handoffs=("b",)),
                "b": Agent(mcp=("bank",))},
        mcp={"shop": McpServer(tools=("add", "more"), block=("more",)),
             "bank": McpServer(tools=("add",))})

    def one(play: Play) -> PhaseRun:
        play.turn(call("note", "c0"), call("add", "c1", '{"x":1}'))
        play.tool("note", "c0", "3")
        play.tool("add", "c1", "3")
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(call("add", "c2"))
        play.tool("add", "c2", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def told_as_blocks() -> World:
    """A release that tells models and hooks the whole block in which a server answers."""
    declared, seen = two_servers()
    block = '{"type":"text","text":"3","annotations":null}'
    events = [event for run in seen.runs for event in run.events]
    for event in events:
        if event["kind"] == "hook" and event["on"] == "on_tool_end":
            event["output"] = block
        for name in ("input", "history", "new_items"):
            if event["kind"] in ("model_called", "result") and name in event:
                event[name] = given("c1", block)(event[name])
    return declared, seen


def shared(tools: tuple[str, ...] = ("add",)) -> World:
    """Two agents with one server, which each of them asks for its tools."""
    declared = plan((hi("one", {"a": 1, "b": 1}),), tools={"add": ADD}, run=QUIET,
                    agents={"a": Agent(mcp=("shop",), handoffs=("b",)), "b": Agent(mcp=("shop",))},
                    mcp={"shop": McpServer(tools=tools)})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def refused() -> World:
    """A model calls a tool that the filter keeps from it, which ends the run."""
    declared = plan((hi("one", {"a": 1}, raised("ModelBehaviorError")),), run=QUIET,
                    tools={"add": ADD, "more": ADD}, agents={"a": Agent(mcp=("shop",))},
                    mcp={"shop": McpServer(tools=("add", "more"), allow=("add",))})

    def one(play: Play) -> PhaseRun:
        play.turn(call("more", "c1"))
        return play.fail("ModelBehaviorError", "Tool more not found")

    return declared, perform(declared, one=one)


def kept(fails_first: bool = False, **fields: Any) -> World:
    """A server whose list is kept over three runs, and one whose is not.

    `fails_first`: it fails to give a list in the first run.
    """
    first = raised("ServerFailure") if fails_first else None
    spec = McpServer(tools=("add",), cached=True, unlisted="closed" if fails_first else None)
    declared = plan((hi("one", {} if fails_first else {"a": 1}, first), hi("two", {"a": 1}),
                     hi("three", {"a": 1})),
                    tools={"add": ADD, "more": ADD}, agents={"a": Agent(mcp=("news", "shop"))},
                    mcp={"news": McpServer(tools=("more",)), "shop": spec}, **fields)

    def one(play: Play) -> PhaseRun:
        if fails_first:
            play.add("server_asked", server="shop", op="list", error=_UNLISTED)
            play.span("mcp_tools", "shop", play.under)
            return play.fail("ServerFailure", "closed")
        play.list_tools("shop")
        play.turn(say("done"))
        return play.complete("done")

    def two(play: Play) -> PhaseRun:
        if fails_first:
            play.list_tools("shop")
        return three(play)

    def three(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one, two=two, three=three)


def inside(cached: bool = False) -> World:
    """An agent and the agent of its tool have one server, whose list may be kept."""
    declared = plan((hi("one", {"a": 3, "b": 1}),), run=QUIET,
                    agents={"a": Agent(tools=("ask",), mcp=("shop",)), "b": Agent(mcp=("shop",))},
                    tools={"ask": Tool(agent="b"), "add": ADD},
                    mcp={"shop": McpServer(tools=("add",), cached=cached)})

    def one(play: Play) -> PhaseRun:
        if cached:
            play.list_tools("shop")
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(call("ask", "k1", '{"input":"go"}'))
        with play.ask("ask", "k1", "b"):
            play.turn(say("yes"))
        play.done("ask", "k1", "yes")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def kept_at_once() -> World:
    """Two nested runs at the same time ask a server whose list is kept, then a third run."""
    spec = McpServer(tools=("add",), cached=True)
    declared = plan((hi("one", {"outer": 2, "a": 2}), hi("two", {"a": 1}, agent="a")),
                    start="outer", run=QUIET, mcp={"shop": spec},
                    agents={"outer": Agent(tools=("ask",)), "a": Agent(mcp=("shop",))},
                    tools={"ask": Tool(agent="a"), "add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "k1", '{"input":"go"}'), call("ask", "k2", '{"input":"go"}'))
        for id in ("k1", "k2"):
            with play.ask("ask", id, "a"):
                play.list_tools("shop")
                play.turn(say("yes"))
            play.done("ask", id, "yes")
        play.turn(say("done"))
        return play.complete("done")

    def two(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one, two=two)


def restored() -> World:
    """A paused call of a server; who restores the state asks it, outside of any trace."""
    wait = ExpectedOutcome(outcome="interrupted", pending=("p1",))
    resume = ResumeInput(from_="one", via="json", decisions=(Decision(call="p1"),))
    declared = plan((hi("one", {"a": 1}, wait),
                     Phase(id="two", script={"a": steps(1)}, resume=resume)),
                    tools={"pay": PAY}, agents={"a": Agent(mcp=("shop",))},
                    mcp={"shop": McpServer(tools=("pay",))})

    def one(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def two(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.turn(say("done"))
        return play.complete("done")

    asked = make("server_asked", server="shop", op="list", tools=("pay",))
    seen = on("two", insert(asked, "state_restored"))(perform(declared, one=one, two=two))
    return declared, on("one", insert(asked, "interruption"))(seen)


def listed_once() -> World:
    """A release that asks a server when an agent begins to run, and not in each turn."""
    declared, seen = two_servers()
    return declared, on("one", drop("server_asked", 1, server="shop"))(seen)


def failing(told: str = "broke", error: str | None = None, failure: Any = "default",
            **spec: Any) -> World:
    """A server's tool fails, which the model is told, or the run raises.

    Args:
        told: what the model is told.
        error: class of what the run raises in place of an answer.
        failure: what the plan has the SDK make of it.
        spec: of the server.
    """
    tool = Tool(outcomes=(ToolOutcome(error="broke"),), failure=failure)
    declared = plan((hi("one", {"a": 1 if error else 2}, raised(error) if error else None),),
                    tools={"add": tool}, agents={"a": Agent(mcp=("shop",))}, run=QUIET,
                    mcp={"shop": McpServer(tools=("add",), **spec)})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.start("add", "c1")
        play.add("tool_failed", tool="add", call="c1", error=_BROKE)
        if error is not None:
            return play.fail(error, "the server says: broke")
        play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def unlisted(outcome: str = "ServerFailure") -> World:
    """A server that gives no list of its tools; the run may end as if it had."""
    declared = plan((hi("one", {} if outcome else {"a": 1}, raised(outcome) if outcome else None),),
                    tools={"add": ADD}, agents={"a": Agent(mcp=("shop",))}, run=QUIET,
                    mcp={"shop": McpServer(tools=("add",), unlisted="closed", cached=True)})

    def one(play: Play) -> PhaseRun:
        play.add("server_asked", server="shop", op="list", error=_UNLISTED)
        if outcome:
            return play.fail(outcome, "closed")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_WORDS = "An error occurred while running the tool."

SERVER_WORLDS = {
    "two servers": two_servers, "told as blocks": told_as_blocks, "shared server": shared,
    "refused by a filter": refused, "kept list": kept, "kept at once": kept_at_once,
    "kept after a failure": lambda: kept(fails_first=True), "restored": restored,
    "listed once": listed_once, "inside": inside, "kept inside": lambda: inside(cached=True),
    "failing server": lambda: failing(_WORDS),
    "failing in a result": lambda: failing(fails_by="result"),
    "raised by a server": lambda: failing(error="AgentsException", failure="raise"),
    "raised protocol error": lambda: failing(error="McpError", failure="raise",
                                             fails_by="protocol"),
    "unlisted": unlisted}

_HISTORY = {"handoff_history": "HANDOFF_HISTORY_LOST"}
_ASKED = make("server_asked", server="shop", op="list", tools=("add",))

SERVERS: tuple[Miniature, ...] = (
    # --- mcp_call
    Miniature("mcp_call", "ANOTHER_SERVER", two_servers,
              on("one", change("tool_started", 1, server="bank"))),
    Miniature("mcp_call", "ANOTHER_SERVER", two_servers,
              on("one", change("tool_started", 2, server="shop"))),
    Miniature("mcp_call", "UNOFFERED_CALL", refused, on("one", insert(
        make("tool_started", tool="more", call="c1", server="shop"), "usage"))),
    Miniature("mcp_call", "CONNECTION_ENDED", shared,
              on("one", insert(make("server_asked", server="shop", op="cleanup")))),
    # --- mcp_listing
    Miniature("mcp_listing", "LIST_STALE", shared, on("one", drop("server_asked"))),
    Miniature("mcp_listing", "LIST_STALE", shared, on("one", drop("server_asked", 1))),
    Miniature("mcp_listing", "LIST_STALE", shared, on("one", change("server_asked", op="connect"))),
    Miniature("mcp_listing", "LIST_STALE", two_servers,
              on("one", drop("server_asked", None, server="bank"))),
    Miniature("mcp_listing", "LIST_STALE", inside, on("one", drop("server_asked", parent="k1"))),
    Miniature("mcp_listing", "LISTED_AGAIN", lambda: inside(cached=True), on("one", insert(
        make("server_asked", server="shop", op="list", tools=("add",), parent="k1"),
        "model_called", parent="k1"))),
    Miniature("mcp_listing", "LISTED_AGAIN", lambda: kept(run=QUIET),
              on("one", repeat("server_asked"))),
    Miniature("mcp_listing", "LISTED_AGAIN", lambda: kept(run=QUIET),
              on("three", insert(_ASKED, "model_called"))),
    Miniature("mcp_listing", "LISTED_AGAIN", lambda: kept(run=QUIET),
              on("two", insert(_ASKED, "model_called"))),
    Miniature("mcp_listing", "LISTED_AGAIN", kept_at_once, on("one", repeat("server_asked"))),
    Miniature("mcp_listing", "LISTED_AGAIN", kept_at_once,
              on("two", insert(_ASKED, "model_called"))),
    *(Miniature("mcp_listing", "LISTING_UNTRACED", world, on(phase, change(
        "span_finished", match={"type": "mcp_tools"}, type="custom"))) for world, phase in (
            (two_servers, "one"), (kept, "one"), (lambda: kept(True), "one"), (restored, "two"))),
    Miniature("span_tree", "SPAN_NOT_CLOSED", two_servers, on("one", both(
        insert(make("span_started", span=2, type="mcp_tools", name="shop", parent=1),
               "span_finished", type="mcp_tools"), drop("span_finished", type="mcp_tools")))),
    # --- what servers' tools have in common with others
    Miniature("agent_request", "TOOLS_DIFFER", two_servers,
              on("one", change("model_called", tools=("add", "more")))),
    Miniature("tool_output", "OUTPUT_DIFFERS", told_as_blocks, on("one", change(
        "model_called", 1, input=given("c1", '{"type":"text","text":"4"}'))), also=_HISTORY),
    Miniature("tool_output", "OUTPUT_DIFFERS", told_as_blocks, on("one", change(
        "model_called", 1, input=given("c1", '{"type":"image","text":"3"}'))), also=_HISTORY),
    Miniature("hook_subject", "HOOK_RESULT_DIFFERS", told_as_blocks, on("one", change(
        "hook", match={"on": "on_tool_end"}, output='{"type":"text","text":"4"}'))),
    Miniature("exactly_once", "MISSING_EXECUTION", lambda: failing(fails_by="result"),
              on("one", both(drop("tool_started"), drop("tool_failed")))),
    *(Miniature("tool_failure", "FAILURE_ENDED_RUN", lambda error=error: failing(error=error))
      for error in ("AgentsException", "McpError", "MCPError", "UserError")),
    Miniature("tool_failure", "FAILURE_TEXT_DIFFERS", lambda: failing(_WORDS, fails_by="result")),
    Miniature("failure_raised", "FAILURE_SWALLOWED",
              lambda: failing(_WORDS, failure="raise")),
    Miniature("failure_raised", "FAILURE_SWALLOWED", lambda: unlisted("")),
    Miniature("failure_raised", "FAILURE_REPLACED", lambda: unlisted("KeyError")),
)
