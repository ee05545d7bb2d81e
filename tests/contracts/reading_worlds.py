"""Worlds that bind what several contracts read of a run (`contracts.reading`), and miniatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from agentrunproof.plan.model import (
    Agent,
    Cancel,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Handoff,
    Item,
    McpServer,
    ModelError,
    ModelStep,
    Phase,
    ResumeInput,
    Run,
    Session,
    Tool,
    ToolGuardrail,
)
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from tests.contracts import call_worlds, flow_worlds, option_worlds, run_worlds, worlds
from tests.contracts.damage import change, given, insert, less, on, repeat
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised, steps

_OBSERVED = {"op": "observe"}


def run_twice(run: Run | None = None) -> World:
    """A model uses a call id for two calls, one after the other, and both are executed."""
    step = ModelStep(output=(Item(call="add", id="c1"),))
    declared = plan(
        (replace(hi("one", {}), script={"a": (step, step, ModelStep())}),),
        agents={"a": Agent(tools=("add",))}, run=run or Run(),
        tools={"add": replace(ADD, input_guardrails=("in",), output_guardrails=("out",))},
        tool_guardrails={"in": ToolGuardrail(kind="input"), "out": ToolGuardrail(kind="output")})

    def one(play: Play) -> PhaseRun:
        for _ in range(2):
            play.turn(call("add", "c1"))
            play.guardrail("in", "tool_input", call="c1", behavior="allow")
            play.hook("on_tool_start", tool="add", call="c1")
            play.start("add", "c1")
            play.add("tool_finished", tool="add", call="c1", output="3")
            play.guardrail("out", "tool_output", call="c1", behavior="allow")
            play.hook("on_tool_end", tool="add", call="c1", output="3")
            play.answer("c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def refused_result(stored: bool = True) -> World:
    """Two tools end; of one the output is let through, that of the other ends the run.

    What was refused stands in no session, and the span of its call tells no output. `stored`:
    whether there is a session.
    """
    declared = plan(
        (hi("one", {"a": 1}, raised("ToolOutputGuardrailTripwireTriggered")),),
        session=Session() if stored else None, run=Run(hooks="none"),
        agents={"a": Agent(tools=("add",))}, tools={"add": replace(ADD, output_guardrails=("g",))},
        tool_guardrails={"g": ToolGuardrail(kind="output")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"), call("add", "c2"))
        for id in ("c1", "c2"):
            play.start("add", id)
            play.add("tool_finished", tool="add", call=id, output="3")
        play.guardrail("g", "tool_output", call="c1", behavior="allow")
        play.answer("c1", "3")
        play.guardrail("g", "tool_output", call="c2", behavior="raise_exception", tripped=True)
        play.spans[-1] |= {"holds": ("input",), "error": "Error running tool"}
        return play.fail("ToolOutputGuardrailTripwireTriggered")

    return declared, perform(declared, one=one)


def refused_beside(stored: bool = True) -> World:
    """A tool ends, and a guardrail beside it refuses the input: nothing need tell of the call.

    `stored`: whether there is a session, which then keeps the input alone.
    """
    error = "InputGuardrailTripwireTriggered"
    declared = plan((hi("one", {"a": 1}, raised(error)),), run=QUIET, tools={"add": ADD},
                    agents={"a": Agent(tools=("add",), input_guardrails=("g",))},
                    guardrails={"g": Guardrail(kind="input")},
                    session=Session() if stored else None)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.start("add", "c1")
        play.add("tool_finished", tool="add", call="c1", output="3")
        play.guardrail("g", "input", tripped=True)
        del play.session[1:]
        play.events = [event for event in play.events if event["kind"] != "session_written"
                       or event["items"] == tuple(play.input)]
        return play.fail(error)

    return declared, perform(declared, one=one)


def outrun() -> World:
    """A guardrail beside the first model call stops the run, in one mode before the answer."""
    error = "InputGuardrailTripwireTriggered"
    declared = plan((hi("one", {"a": 2}, raised(error)),), run=Run(tracing=False),
                    agents={"a": Agent(input_guardrails=("g",))},
                    guardrails={"g": Guardrail(kind="input")})

    def one(play: Play) -> PhaseRun:
        if play.mode == "run":
            play.turn(say("done"))
        else:
            play.call_model(play.history)
        play.guardrail("g", "input", tripped=True)
        return play.fail(error)

    return declared, perform(declared, one=one)


# --- streams that are cancelled

def cancelled_at(text: int, turns: int) -> World:
    """A stream that is cancelled at a piece of text, of which each turn tells two in one event."""
    first = hi("one", {"a": turns}, ExpectedOutcome(outcome="cancelled"), cancel=Cancel(
        when="response.output_text.delta", count=text, mode="after_turn"))
    declared = plan((first,), agents={"a": Agent(tools=("add",))}, modes=("run_streamed",),
                    tools={"add": ADD}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        for n in range(turns):
            play.turn(say("let me see", f"m{n}"), call("add", f"c{n}"))
            play.tool("add", f"c{n}", "3")
        for event in play.stream:
            if event["name"] == "response.output_text.delta":
                event["count"] = 2
        play.add("usage", requests=turns, input=10 * turns, output=5 * turns, total=15 * turns,
                 entries=turns)
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def cancelled_at_agent(goes_on: bool = False) -> World:
    """A stream that is cancelled when it tells of its second agent, which is not asked then."""
    first = hi("one", {"a": 1, "b": int(goes_on)}, ExpectedOutcome(outcome="cancelled"),
               cancel=Cancel(when="agent_updated_stream_event", count=2, mode="after_turn"))
    declared = plan((first,), agents={"a": Agent(handoffs=("b",)), "b": Agent()},
                    modes=("run_streamed",), run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        if goes_on:
            play.turn(say("done"))
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


# --- handoffs that rewrite the history

def opted(nests: bool | None, told: bool) -> World:
    """A handoff whose choice to nest the history goes before that of the run, if it has one.

    `told`: whether the next agent is given a summary.
    """
    declared = plan((hi("one", {"a": 1, "b": 1}),), agents={
        "a": Agent(handoffs=("to_c", "to_b")), "b": Agent(), "c": Agent()},
        handoffs={"to_c": Handoff(to="c", nest_history=not nests),
                  "to_b": Handoff(to="b", nest_history=nests)},
        run=replace(QUIET, nest_handoff_history=not nests))
    summary = {"role": "assistant", "content": "<CONVERSATION HISTORY>\n1. user: Hi\n"
                                               "2. assistant: over to b\n"}

    def one(play: Play) -> PhaseRun:
        play.turn(say("over to b", "m0"), call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [summary] if told else None)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


# --- what tools give

def told_in_parts() -> World:
    """A server answers with a text and an image, and the model is given both as parts."""
    parts = [{"type": "input_text", "text": "3"},
             {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]
    declared = plan((hi("one", {"a": 2}, ExpectedOutcome(outputs={"c1": "3"})),),
                    agents={"a": Agent(mcp=("shop",))}, tools={"add": ADD},
                    mcp={"shop": McpServer(tools=("add",))})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    seen = perform(declared, one=one)
    for event in (event for run in seen.runs for event in run.of("model_called", "result")):
        for name in event.keys() & {"input", "history", "new_items"}:
            event[name] = given("c1", parts)(event[name])
    return declared, seen


def covered() -> World:
    """A private record of an answer that is unfit, for which a handler supplies another one."""
    declared, seen = option_worlds.handled(say("[]"), final='{"n":0}', **option_worlds.INVALID)
    for event in (event for run in seen.runs for event in run.of("result")):
        event["final_output"] = text = "sha256:00"
        event["history"] = (*event["history"][:-1], say(text, "f"))
        event["new_items"] = (*event["new_items"][:-1],
                              event["new_items"][-1] | {"item": say(text, "f")})
    return declared, seen


# --- model calls that fail

def tried_beside() -> World:
    """Two agent tools at once: the model of one fails and is tried again when the other's began."""
    declared = plan((hi("one", {"outer": 2, "a": 2, "b": 1}),), start="outer",
                    agents={"outer": Agent(tools=("ask_a", "ask_b")), "a": Agent(), "b": Agent()},
                    tools={"ask_a": Tool(agent="a"), "ask_b": Tool(agent="b")},
                    run=Run(tracing=False, retries=1))

    def one(play: Play) -> PhaseRun:
        asked = {"o1": "a", "o2": "b"}
        play.turn(*(call(f"ask_{agent}", id, flow_worlds.ASK) for id, agent in asked.items()))
        for id, agent in asked.items():
            with play.ask(f"ask_{agent}", id, agent):
                play.turn(say("inner", id))
            play.done(f"ask_{agent}", id, "inner")
        play.turn(say("done"))
        called = {event["parent"]: n for n, event in enumerate(play.events)
                  if event["kind"] == "model_called"}
        begins = next(n for n, event in enumerate(play.events) if event.get("call") == "o2")
        first, begun = called["o1"], play.events[begins:called["o2"] + 1]
        del play.events[begins:called["o2"] + 1]
        play.events[first + 1:first + 1] = [
            make("model_failed", agent="a", parent="o1", error={"type": "ConnectionError"}),
            *begun, dict(play.events[first])]
        return play.complete("done")

    seen = perform(declared, one=one)
    for event in (event for run in seen.runs for event in run.of("usage")):
        event.update(requests=event["requests"] + 1, entries=event["entries"] + 1)
    return declared, seen


def _scripted(*script: ModelStep, times: int) -> World:
    """A model that fails, and is tried again a number of times of which one is allowed."""
    declared, seen = flow_worlds.tried(times, 1)
    phase = replace(declared.phases[0], script={"a": script} if script else {})
    return replace(declared, phases=(phase,)), seen


# --- decisions

def trusted() -> World:
    """A tool that is approved for always, and called again."""
    always = Phase(id="always", script={"a": steps(2)}, resume=ResumeInput(
        from_="pause", decisions=(Decision(call="p1", always=True),)))
    declared = plan((hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted")), always),
                    agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, run=QUIET)

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def always_act(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.turn(call("pay", "p2"))
        play.tool("pay", "p2", "paid")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, always=always_act)


def paused_twice() -> World:
    """A decision for always that holds after a further pause, on another tool."""
    paused = ExpectedOutcome(outcome="interrupted")
    again = Phase(id="again", script={"a": steps(1)}, expect=paused, resume=ResumeInput(
        from_="pause", decisions=(Decision(call="p1", always=True),)))
    rest = Phase(id="rest", script={"a": steps(2)}, resume=ResumeInput(
        from_="again", decisions=(Decision(call="s1"),)))
    declared = plan((hi("pause", {"a": 1}, paused), again, rest), run=QUIET,
                    agents={"a": Agent(tools=("pay", "send"))}, tools={"pay": PAY, "send": PAY})

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def again_act(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.turn(call("send", "s1"))
        return play.pause(("send", "s1"))

    def rest_act(play: Play) -> PhaseRun:
        play.tool("send", "s1", "paid")
        play.turn(call("pay", "p2"))
        play.tool("pay", "p2", "paid")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, again=again_act, rest=rest_act)


READING_WORLDS: dict[str, Callable[[], World]] = {
    "call id for two calls": run_twice, "refused result of a tool": refused_result,
    "cancelled at a piece of the second turn": partial(cancelled_at, 3, 2),
    "cancelled at a piece of the first turn": partial(cancelled_at, 2, 1),
    "cancelled at the second agent": cancelled_at_agent,
    "handoff that nests": partial(opted, True, True),
    "handoff that nests not": partial(opted, False, False),
    "handoff that leaves it to the run": partial(opted, None, True),
    "told in parts": told_in_parts, "covered": covered,
    "covered error": partial(call_worlds.failed, told="sha256:00"),
    "covered failure": partial(
        call_worlds.failed_raising, message="sha256:00", tool_error="sha256:01"),
    "tried again beside another agent": tried_beside, "trusted": trusted,
    "paused twice": paused_twice, "refused input beside a tool": refused_beside,
    "refused input beside a tool, no session": partial(refused_beside, False),
    "outrun by a guardrail": outrun,
}

READING_MINIATURES: tuple[Miniature, ...] = (
    Miniature("exactly_once", "DUPLICATE_EXECUTION", partial(run_twice, QUIET),
              on("one", repeat("tool_started"))),
    Miniature("exactly_once", "UNAPPROVED_EXECUTION", trusted, on("always", insert(
        make("tool_started", tool="pay", call="p3")))),
    Miniature("session_persistence", "SESSION_EFFECT_LOST", refused_result,
              on("one", change("session_read", match=_OBSERVED, items=less(-1))),
              also={"tool_linkage": "UNANSWERED_CALL"}),
    Miniature("response_linkage", "EFFECT_UNTOLD", partial(refused_result, False),
              on("one", change("raised", new_items=less(-1)))),
    Miniature("span_tree", "SPAN_TELLS_TOO_LITTLE", refused_result, on("one", change(
        "span_finished", match={"type": "function"}, holds=("input",)))),
    *(Miniature("cancellation", "TURN_AFTER_CANCEL", partial(cancelled_at, text, turns))
      for text, turns in ((2, 2), (3, 3), (4, 3))),
    Miniature("cancellation", "TURN_AFTER_CANCEL", partial(cancelled_at_agent, True)),
    Miniature("handoff_history", "HANDOFF_HISTORY_LOST", partial(opted, False, True)),
    Miniature("handoff_history", "HANDOFF_NESTING_IGNORED", partial(opted, True, False)),
    Miniature("stream_parity", "USAGES_DIFFER", worlds.blocked,
              on("one", change("usage", requests=1), "run_streamed")),
    Miniature("final_output", "NOT_WHAT_WAS_SAID", partial(
        run_worlds.spoken, say("sha256:00"), final="sha256:01")),
    Miniature("model_script_consumed", "SCRIPT_OVERRUN", partial(_scripted, times=1)),
    Miniature("model_retry", "RETRY_MISSING", partial(
        _scripted, ModelStep(error=ModelError()), times=0)),
)
