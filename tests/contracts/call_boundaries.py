"""Boundaries (see `boundaries`) of the contracts on tools, agent tools and streams cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Cancel,
    ExpectedOutcome,
    Item,
    LiteralInput,
    ModelStep,
    OutputType,
    Param,
    Phase,
    Sees,
    Tool,
)
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from tests.contracts import call_worlds, flow_worlds, worlds
from tests.contracts.damage import Damage, change, on
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, output, perform, say
from tests.contracts.worlds import ADD, QUIET, World, hi, plan, raised

STREAMED = "run_streamed"
_LEVEL = OutputType(fields={"n": Param(type="integer")}, order=("n",))


# --- a tool and its call

def gated(opening: int, calling: int) -> World:
    """Three turns; a tool is disabled by the turn `opening` and called, and run, in `calling`."""
    items = [Item(call="add", id="c1") if n == calling else Item(call="tell", id=f"t{n}")
             for n in range(3)]
    phase = Phase(id="one", input=LiteralInput(text="Hi"), script={"a": (*(
        ModelStep(output=(item,), opens="end" if n == opening else None)
        for n, item in enumerate(items)), ModelStep())})
    declared = plan((phase,), agents={"a": Agent(tools=("add", "tell"))}, run=QUIET,
                    tools={"add": replace(ADD, enabled_until="end"), "tell": ADD})

    def one(play: Play) -> PhaseRun:
        for n in range(3):
            name, id = ("add", "c1") if n == calling else ("tell", f"t{n}")
            play.turn(call(name, id))
            play.tool(name, id, "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def unstarted(tool: Tool, arguments: str, check: dict[str, Any] | None = None) -> World:
    """A call that is answered though its tool was never started."""
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))},
                    tools={"add": tool}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1", arguments))
        if check is not None:
            play.add("guardrail_checked", agent="a", call="c1", **check)
        play.answer("c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_FLAG = Tool(parameters={"x": Param(type="boolean")}, order=("x",), outcomes=ADD.outcomes)


# --- an agent as a tool

def asked(inner: list[Any], gave: str, arguments: str = flow_worlds.ASK, told: str = "go",
          agent: Agent | None = None, ended: bool = True) -> World:
    """An agent tool whose agent answers with these items; `told`: what its model sees.

    Args:
        inner: the answer of the nested model; with none it is never asked.
        gave: the output of the tool.
        arguments: of the call.
        told: the nested input.
        agent: the nested agent.
        ended: whether the tool ends; else the run fails before.
    """
    declared = plan((hi("one", {"outer": 1 + ended, **({"a": 1} if inner else {})},
                        None if ended else raised("RuntimeError")),),
                    start="outer", run=QUIET, types={"level": _LEVEL},
                    agents={"a": agent or Agent(), "outer": Agent(tools=("ask",))},
                    tools={"add": ADD, "ask": Tool(agent="a")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", arguments))
        with play.ask("ask", "o1", "a"):
            play.nested["o1"] = [{"role": "user", "content": told}]
            if inner:
                play.turn(*inner)
            for item in inner:
                if item["type"] == "function_call":
                    play.tool("add", item["call_id"], "3")
        if not ended:
            return play.fail("RuntimeError")
        play.done("ask", "o1", gave)
        play.turn(say("outer", "o2"))
        return play.complete("outer")

    return declared, perform(declared, one=one)


# --- a stream that is broken off

def cut(count: int, items: int = 3) -> World:
    """A stream cut at an item, the `count`th of so many."""
    first = hi("one", {"a": 2}, ExpectedOutcome(outcome="cancelled"), cancel=Cancel(
        when="response.output_item.added", count=count, mode="immediate"))
    declared = plan((first,), agents={"a": Agent()}, modes=(STREAMED,), run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(*(say(str(n), str(n)) for n in range(items)))
        places = [n for n, event in enumerate(play.stream)
                  if event["name"] == "response.output_item.added"]
        if count <= items:
            del play.stream[places[count - 1] + 1:]
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def failed_in_turn() -> World:
    """A tool fails in the turn that a cancelled stream finishes."""
    declared, _ = flow_worlds.stopped(tool=call_worlds.FAILING)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        play.add("tool_failed", tool="add", call="c1",
                 error={"type": "ToolFailure", "message": "boom"})
        play.answer("c1", call_worlds.DEFAULT)
        play.add("usage", requests=1, input=10, output=5, total=15, entries=1)
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


# --- what a plan expects

def _raising(**expect: Any) -> World:
    declared, seen = worlds.failing()
    phase = replace(declared.phases[0], expect=replace(declared.phases[0].expect, **expect))
    return replace(declared, phases=(phase,)), seen


def _untold() -> World:
    """A call's output is nowhere but in the input of the next model call."""
    declared, seen = _raising(outputs={"c1": "3"})
    return declared, on("one", change("raised", new_items=None, responses=None))(seen)


def _stopping() -> World:
    """A call's output is nowhere but in the result."""
    declared, seen = call_worlds.stopped()
    phase = replace(declared.phases[0], expect=ExpectedOutcome(outputs={"add": "3"}))
    return replace(declared, phases=(phase,)), seen


def _at_the_end(**told: Any) -> Damage:
    """One more event of the stream."""
    return on("one", lambda events: [*events, make("stream_event", **told)], STREAMED)


_MAY_NOT_RUN = {
    "of Python": replace(ADD, python="python:shop:price"),
    "with parameters": replace(ADD, parameters={"x": Param()}, order=("x",)),
    "of an agent": Tool(agent="a"), "once enabled": replace(ADD, enabled_until="end"),
    "disabled": replace(ADD, enabled=False)}

CALL_BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "gate opened later": partial(gated, 2, 1), "gate opened next": partial(gated, 1, 0),
    "agent asked with a list": partial(asked, [], "An error occurred", "[]"),
    "agent asked with a number": partial(asked, [say("inner")], "inner", '{"input":5}', "5"),
    "agent that is cut off": partial(asked, [say("inner")], "", ended=False),
    "agent that says two things": partial(
        asked, [say("well", "1"), say("inner", "2")], "inner"),
    "agent that stops at its tool": partial(
        asked, [say("let me see"), call("add", "n1")], "3",
        agent=Agent(tools=("add",), tool_use_behavior="stop_on_first_tool")),
    "agent that gives a type": partial(
        asked, [say('{"n":5}')], "n=5", agent=Agent(output_type="level")),
    "stream cut at the first item": partial(cut, 1),
    "stream cut at the second item": partial(cut, 2),
    "stream never cut": partial(cut, 4),
    "tool failed in the last turn": failed_in_turn,
    "agent expected of an exception": partial(_raising, last_agent="a"),
    "output seen by a model only": _untold, "output in the result only": _stopping,
    **{f"turn finished, a tool {name}": partial(flow_worlds.stopped, tool=tool, ended=False)
       for name, tool in _MAY_NOT_RUN.items()},
}

CALL_BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    *(Miniature("exactly_once", "DISABLED_EXECUTION", partial(gated, opening, calling))
      for opening, calling in ((2, 2), (0, 1))),
    Miniature("exactly_once", "MISSING_EXECUTION", partial(unstarted, _FLAG, '{"x":true}')),
    Miniature("agent_tool", "NESTED_ITEM_LEAKED", flow_worlds.asked, _at_the_end(
        type="item", name="tool_output", item=output("n1", "3")),
              also={"stream_complete": "STREAM_ORDER"}),
    *(Miniature("cancel_modes", "EVENT_AFTER_CANCEL", partial(cut, count),
                _at_the_end(type="item", name="tool_called", item=call("add", "c2")))
      for count in (1, 2, 3)),
    Miniature("execution_outcome", "LAST_AGENT_DIFFERS", partial(_raising, last_agent="b")),
    Miniature("execution_outcome", "MODEL_INPUT_DIFFERS", lambda: worlds.tools(
        expect={"sees": (Sees(agent="a", call=2, items=("user:Hi",)),)})),
)
