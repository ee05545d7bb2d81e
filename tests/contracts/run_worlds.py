"""Worlds of runs: what they begin with, what settings they ask with, what they end with."""

from __future__ import annotations

import dataclasses
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    Handoff,
    Item,
    ModelSettings,
    OutputType,
    Param,
    Phase,
    ResumeInput,
    Run,
    Session,
    Tool,
)
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from tests.contracts.flow_worlds import ASK
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import (
    ADD,
    PAY,
    QUIET,
    World,
    handoff,
    hi,
    plan,
    raised,
    steps,
)

REFUSAL = {"id": "msg-r", "type": "message", "role": "assistant", "status": "completed",
           "content": [{"type": "refusal", "refusal": "no"}]}
THOUGHT = {"id": "rs-1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}


def structured(text: str = '{"n":5}', final: str | None = '{"n":5}', error: str = "",
               strict: bool = True) -> World:
    """An agent whose final output is a number says `text`; with an `error` the run raises."""
    declared = plan((hi("one", {"a": 1}, raised(error) if error else None),), run=QUIET,
                    agents={"a": Agent(output_type="level")},
                    types={"level": OutputType(fields={"n": Param(type="integer")},
                                               order=("n",), strict=strict)})

    def one(play: Play) -> PhaseRun:
        play.turn(say(text))
        return play.fail(error) if error else play.complete(final or "")

    return declared, perform(declared, one=one)


SEARCH = {"id": "ws-1", "type": "web_search_call", "status": "completed",
          "action": {"type": "search", "query": "inns"}}


def in_parts(*texts: str) -> Any:
    """One message of several parts."""
    message = say("")
    return message | {"content": [{"type": "output_text", "text": text} for text in texts]}


def spoken(*items: Any, final: str = "done", error: str = "") -> World:
    """The one answer of a run, and what the run ends with."""
    declared = plan((hi("one", {"a": 1}, raised(error) if error else None),), run=QUIET,
                    agents={"a": Agent()})

    def one(play: Play) -> PhaseRun:
        play.turn(*items)
        return play.fail(error) if error else play.complete(final)

    return declared, perform(declared, one=one)


def remembered(items: tuple[Item, ...], limit: int | None = None,
               given: tuple[int, ...] | None = None, told: tuple[Any, ...] = ()) -> World:
    """A run on a session that holds these items; the model is given those at `given` before."""
    declared = plan((hi("one", {"a": 1}),), agents={"a": Agent()}, run=QUIET,
                    session=Session(items=items, limit=limit))

    def one(play: Play) -> PhaseRun:
        held = play.history[:-1]
        chosen = held if given is None else [held[n] for n in given]
        play.turn(say("done"), seen=[*chosen, *told, play.history[-1]])
        return play.complete("done")

    return declared, perform(declared, one=one)


OLD = (Item(user="One"), Item(say="1", id="one"), Item(user="Two"), Item(say="2", id="two"))
CALLED = (Item(user="One"), Item(reasoning="hm", id="r1"), Item(call="add", id="c9"),
          Item(output="3", of="c9"), Item(say="1", id="one"))


def thoughtful() -> World:
    """The model thinks, calls a tool, and answers after a handoff back and forth."""
    declared = plan((hi("one", {"a": 2, "b": 1}),), run=QUIET, tools={"add": ADD},
                    agents={"a": Agent(tools=("add",), handoffs=("b",)),
                            "b": Agent(handoffs=("to_a",))},
                    handoffs={"to_a": Handoff(to="a", tool_name="back")})

    def one(play: Play) -> PhaseRun:
        play.turn(THOUGHT, call("add", "c1"), call("transfer_to_b", "h1"))
        play.tool("add", "c1", "3")
        play.handoff("h1", "b")
        play.turn(call("back", "h2"))
        play.handoff("h2", "a")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def continued(server: str = "conversation_id", fails: bool = False) -> World:
    """A run whose conversation the server keeps, with a tool, a pause and a handoff."""
    pause = hi("one", {"a": 2 + fails}, ExpectedOutcome(outcome="interrupted"))
    rest = Phase(id="rest", script={"a": steps(1), "b": steps(1)}, resume=ResumeInput(
        from_="one", via="json", decisions=(Decision(call="p1"),)))
    declared = plan((pause, rest), tools={"add": ADD, "pay": PAY},
                    agents={"a": Agent(tools=("add", "pay"), handoffs=("b",)), "b": Agent()},
                    run=dataclasses.replace(
                        QUIET, server=server,  # type: ignore[arg-type]
                        retries=1 if fails else None))

    def turn(play: Play, sent: list[Any], *items: Any) -> None:
        former = [event for event in play.events if event["kind"] == "model_responded"]
        play.turn(*items, seen=sent)
        called = [event for event in play.events if event["kind"] == "model_called"][-1]
        if server == "conversation_id":
            called["conversation_id"] = "conversation-1"
            return
        first = "resp-before" if server == "previous_response_id" else ""
        last = f"r{play.count - 2}" if play.count > 1 else first
        called["previous_response_id"] = former[-1]["response_id"] if former else last

    def one(play: Play) -> PhaseRun:
        turn(play, play.history[:], call("add", "c1"))
        if fails:
            again = dict(play.events[-2])
            play.events[-1:-1] = [make("model_failed", agent="a", error={"type": "E"}), again]
        play.tool("add", "c1", "3")
        turn(play, play.history[-1:], call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def rest_act(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        turn(play, play.history[-1:], call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        turn(play, play.history[-1:], say("done"))
        return play.complete("done")

    seen = perform(declared, one=one, rest=rest_act)
    for event in [event for run in seen.runs for event in run.of("usage")]:
        event.update(requests=event["requests"] + fails, entries=event["entries"] + fails)
    return declared, seen


def one_name() -> World:
    """A tool has the name of a handoff, which takes its calls and stands in its place."""
    declared = plan((hi("one", {"a": 1, "b": 1}),), run=QUIET, tools={"transfer_to_b": ADD},
                    agents={"a": Agent(tools=("transfer_to_b",), handoffs=("b",)), "b": Agent()})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(say("done"))
        return play.complete("done")

    world = perform(declared, one=one)
    for run in world.runs:
        for event in run.of("model_called"):
            event["tools"] = ()
    return declared, world


def ended_at_a_tool(gave: str = "3", stops: bool = True, calls: int = 1) -> World:
    """An agent asks another one as a tool, for which its own tool has the last word."""
    behavior = "stop_on_first_tool" if stops else "stop_at_tools"
    declared = plan((hi("one", {"outer": 2, "a": 1}),), start="outer", run=QUIET,
                    agents={"a": Agent(
                        tools=("add",), tool_use_behavior=behavior,  # type: ignore[arg-type]
                        stop_at_tools=() if stops else ("add",)),
                            "outer": Agent(tools=("ask",))},
                    tools={"add": ADD, "ask": Tool(agent="a")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", ASK))
        with play.ask("ask", "o1", "a"):
            play.turn(*(call("add", f"n{n}") for n in range(calls)))
            for n in range(calls):
                play.tool("add", f"n{n}", "3")
        play.done("ask", "o1", gave)
        play.turn(say("outer", "o2"))
        return play.complete("outer")

    return declared, perform(declared, one=one)


def two_transfers() -> World:
    """The model hands over to two agents at once, and the first one goes on."""
    declared = plan((hi("one", {"a": 1, "b": 1}),), run=QUIET,
                    agents={"a": Agent(handoffs=("b", "c")), "b": Agent(), "c": Agent()})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"), call("transfer_to_c", "h2"))
        play.answer("h2", "Multiple handoffs detected, ignoring this one.")
        play.handoff("h1", "b")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def removed() -> World:
    """The filter of a handoff takes the tools out of what the run made, too."""
    declared, seen = handoff(run=QUIET, filtered=True)
    runs = []
    for run in seen.runs:
        kept = [event | {"new_items": tuple(entry for entry in event["new_items"]
                                            if "call_id" not in entry["item"])}
                if event["kind"] == "result" else event for event in run.events]
        runs.append(PhaseRun(run.mode, run.phase, tuple(kept)))
    return declared, dataclasses.replace(seen, runs=tuple(runs))


def asked(agent: ModelSettings | None = None, run: ModelSettings | None = None,
          given: dict[str, Any] | None = None, nested: bool = False) -> World:
    """A run with settings of its agent and its own; the model is `given` those."""
    inner = Agent(model_settings=agent or ModelSettings())
    agents = {"a": inner, "outer": Agent(tools=("ask",))} if nested else {"a": inner}
    tools = {"ask": Tool(agent="a")} if nested else {}
    declared = plan((hi("one", {"outer": 2, "a": 1} if nested else {"a": 1}),), agents=agents,
                    tools=tools, start="outer" if nested else "a",
                    run=dataclasses.replace(QUIET, model_settings=run or ModelSettings()))

    def one(play: Play) -> PhaseRun:
        if nested:
            play.turn(call("ask", "o1", '{"input":"go"}'))
            with play.ask("ask", "o1", "a"):
                play.turn(say("inner"))
            play.done("ask", "o1", "inner")
        play.turn(say("done"))
        for event in play.events:
            if event["kind"] == "model_called" and event["agent"] == "a":
                event["settings"] = given or {}
        return play.complete("done")

    return declared, perform(declared, one=one)


def chosen(*given: str | None, reset: bool = True, run: bool = False, acts: bool = True,
           searches: bool = False) -> World:
    """A tool choice of agent or run, and the one that each model call is `given`.

    `acts`: the first answer calls a tool, or `searches`; otherwise it hands over to an agent that
    hands back.
    """
    own = ModelSettings(tool_choice="required")
    agent = Agent(tools=("add",), handoffs=("b",), reset_tool_choice=reset,
                  model_settings=ModelSettings() if run else own)
    declared = plan((hi("one", {"a": 2} if acts else {"a": 2, "b": 1}),), tools={"add": ADD},
                    agents={"a": agent, "b": Agent(handoffs=("a",))},
                    run=dataclasses.replace(QUIET, model_settings=own if run else ModelSettings()))

    def one(play: Play) -> PhaseRun:
        if searches:
            play.turn(SEARCH)
        elif acts:
            play.turn(call("add", "c1"))
            play.tool("add", "c1", "3")
        else:
            play.turn(call("transfer_to_b", "h1"))
            play.handoff("h1", "b")
            play.turn(call("transfer_to_a", "h2"))
            play.handoff("h2", "a")
        play.turn(say("done"))
        called = [event for event in play.events if event["kind"] == "model_called"
                  and event["agent"] == "a"]
        for event, choice in zip(called, given, strict=True):
            event["settings"] = {} if choice is None else {"tool_choice": choice}
        return play.complete("done")

    return declared, perform(declared, one=one)


def fallen_back(final: str = "gave up", limit: int | None = 2, kept: bool = True,
                said: str = "", phase_limit: int | None = None, turns: int = 2) -> World:
    """A run under a handler for its turns; its last answer is a call, or a text that is `said`."""
    declared = plan((hi("one", {"a": turns}, max_turns=phase_limit),), tools={"add": ADD},
                    agents={"a": Agent(tools=("add",))},
                    run=Run(hooks="none", tracing=False, on_max_turns="gave up",
                            max_turns=limit))

    def one(play: Play) -> PhaseRun:
        for n in range(turns - bool(said)):
            play.turn(call("add", f"c{n}"))
            play.tool("add", f"c{n}", "3")
        if said:
            play.turn(say(said))
        elif kept:
            play.made.append(say("gave up", "f"))
        return play.complete(final)

    return declared, perform(declared, one=one)


#: Worlds in which a faithful Runner is at work.
RUN_WORLDS = {
    "structured": structured, "structured and more": lambda: structured('{"n":5,"m":1}'),
    "structured and turned": lambda: structured('{"n":"5"}', strict=False),
    "unfit under a strict schema": lambda: structured('{"n":"5"}', error="ModelBehaviorError"),
    "unfit": lambda: structured("[]", error="ModelBehaviorError"),
    "unfit field": lambda: structured('{"n":"five"}', error="ModelBehaviorError"),
    "fit, another error": lambda: structured(error="RuntimeError"),
    "a search": lambda: spoken(SEARCH, say("done")),
    "two parts": lambda: spoken(in_parts("do", "ne")),
    "two parts, covered": lambda: spoken(in_parts("sha256:1", "sha256:2"), final="sha256:3"),
    "two messages": lambda: spoken(say("wait", "1"), say("done", "2")),
    "refusal": lambda: spoken(REFUSAL, final="whatever"),
    "nothing said": lambda: spoken(final=""),
    "said and raised": lambda: spoken(say("x"), error="RuntimeError"),
    "limited": lambda: remembered(OLD, 2, (2, 3)), "limit beyond": lambda: remembered(OLD, 9),
    "limit of none": lambda: remembered(OLD, 0, ()),
    "limit that cuts a pair": lambda: remembered(CALLED, 2, (4,)),
    "limit that cuts reasoning": lambda: remembered(CALLED, 4, (2, 3, 4)),
    "open call in a session": lambda: remembered((*OLD, Item(call="add", id="c9")), None,
                                                 (0, 1, 2, 3)),
    "id twice in a session": lambda: remembered((*OLD, Item(say="3", id="two")), None,
                                                (0, 1, 2, 4)),
    "continued": continued, "chained": lambda: continued("previous_response_id"),
    "chained from the first": lambda: continued("auto_previous_response_id"),
    "continued after a failure": lambda: continued("auto_previous_response_id", fails=True),
    "ended at a tool": ended_at_a_tool,
    "ended at a named tool": lambda: ended_at_a_tool(stops=False),
    "ended at one of two tools": lambda: ended_at_a_tool("other", calls=2),
    "reasoning last in a session": lambda: remembered(
        (*OLD, Item(reasoning="hm", id="rs-9")), None, (0, 1, 2, 3, 4)),
    "thoughtful": thoughtful, "one name": one_name,
    "removed": removed, "two transfers": two_transfers,
    "asked": lambda: asked(ModelSettings(temperature="0.50", store=True),
                           given={"temperature": "0.5", "store": True}),
    "asked over": lambda: asked(ModelSettings(top_p="0.5"), ModelSettings(top_p="1"),
                                {"top_p": "1"}),
    "asked inside": lambda: asked(ModelSettings(store=True), nested=True),
    "asked with a choice": lambda: asked(ModelSettings(store=True, tool_choice="auto"),
                                         given={"store": True, "tool_choice": "auto"}),
    "chosen": lambda: chosen("required", None), "chosen auto": lambda: chosen("required", "auto"),
    "chosen, searched": lambda: chosen("required", None, searches=True),
    "chosen for good": lambda: chosen("required", "required", reset=False),
    "chosen by the run": lambda: chosen("required", None, run=True),
    "chosen, handed over": lambda: chosen("required", "required", acts=False),
    "chosen, handed over as a tool": lambda: chosen("required", None, acts=False),
    "fallen back": fallen_back, "phase fallen back": lambda: fallen_back(
        limit=None, phase_limit=2),
    "answered in the last turn": lambda: fallen_back("done", said="done"),
    "answered like the handler": lambda: fallen_back("gave up", said="gave up"),
    "answered early": lambda: fallen_back("done", 3, said="done"),
}

