"""Boundaries (see `boundaries`) of what ends a run early, and of what a later run goes on from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from agentrunproof.plan.model import (
    Agent,
    Cancel,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Phase,
    ResumeInput,
    Session,
    Tool,
)
from agentrunproof.record.observation import PhaseRun
from tests.contracts.damage import change, drop, more, on
from tests.contracts.miniature import Miniature
from tests.contracts.option_worlds import MORE, unwritten
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised, steps

_YES = (Decision(call="p1"),)
_WAITS = ExpectedOutcome(outcome="interrupted", pending=("p1",))


def _pause(play: Play) -> PhaseRun:
    play.turn(call("pay", "p1"))
    return play.pause(("pay", "p1"))


# --- a guardrail that fails when the tool beside it has ended

_NO = {"type": "GuardrailFailure", "message": "no"}


def failing_beside(stage: str = "input", error: str = "GuardrailFailure") -> World:
    """A tool has ended, of which neither the session nor the exception tells.

    Args:
        stage: of the guardrail that has decided then.
        error: what the run raises; with another one the guardrail lets everything pass.
    """
    fails = error == "GuardrailFailure"
    spec = Guardrail(kind=stage, error="no" if fails else None)  # type: ignore[arg-type]
    agent = Agent(tools=("add",), input_guardrails=("slow",) * (stage == "input"),
                  output_guardrails=("slow",) * (stage == "output"))
    turns = 1 + (stage == "output")
    declared = plan((hi("one", {"a": turns}, raised(error)),), agents={"a": agent}, run=QUIET,
                    session=Session(), guardrails={"slow": spec}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        held = list(play.session)
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        if stage == "output":
            play.turn(say("done"))
        play.guardrail("slow", stage, error=_NO if fails else {})
        play.events = [event for event in play.events if event["kind"] != "session_written"
                       or event["items"] == tuple(held)]
        play.session[:], play.made[:] = held, []
        return play.fail(error, "no")

    return declared, perform(declared, one=one)


# --- turns that run out, of the run or of an agent tool in it

Failure = Literal["default", "raise"]
_OUT = {"type": "MaxTurnsExceeded", "message": "Max turns (1) exceeded"}


def out_inside(failure: Failure = "raise", tool: str = "ask") -> World:
    """The turns of an agent tool run out, which the run raises, though it has turns left.

    Args:
        failure: what the plan has the SDK make of it.
        tool: the one that failed.
    """
    declared = plan(
        (hi("one", {"outer": 1, "a": 1}, raised("MaxTurnsExceeded")),), start="outer",
        agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
        tools={"add": ADD, "ask": Tool(agent="a", max_turns=1, failure=failure)},
        run=replace(QUIET, max_turns=3))

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.turn(call("add", "c1"))
            play.tool("add", "c1", "3")
        play.add("tool_failed", tool=tool, call="o1", error=_OUT)
        if failure != "raise":
            play.answer("o1", "An error occurred")
        return play.fail(**_OUT)

    return declared, perform(declared, one=one)


def failed_inside(turns: int) -> World:
    """A tool fails in an agent tool, which the run survives; then it is out of its `turns`."""
    declared = plan(
        (hi("one", {"outer": 1, "a": 1}, raised("MaxTurnsExceeded")),), start="outer",
        agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
        tools={"add": replace(ADD, failure="raise"), "ask": Tool(agent="a")},
        run=replace(QUIET, max_turns=turns))

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.turn(call("add", "c1"))
            play.start("add", "c1")
            play.add("tool_failed", tool="add", call="c1", error={"type": "ToolFailure"})
        play.done("ask", "o1", "An error occurred")
        return play.fail(**_OUT)

    return declared, perform(declared, one=one)


# --- a stream that is cancelled when its agent is told

def cut_early(asked: bool = False) -> World:
    """A stream that is to finish its turn, cancelled before its model was `asked`, or after."""
    first = hi("one", {"a": int(asked)}, ExpectedOutcome(outcome="cancelled"), cancel=Cancel(
        when="agent_updated_stream_event", mode="after_turn"))
    declared = plan((first,), agents={"a": Agent()}, modes=("run_streamed",), run=QUIET)

    def one(play: Play) -> PhaseRun:
        if asked:
            play.turn(say("done"))
        play._usage()
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def cut_resumed() -> World:
    """A resumed stream that is cancelled when its tool has run, before its model is asked."""
    rest = Phase(id="rest", script={}, expect=ExpectedOutcome(outcome="cancelled"),
                 resume=ResumeInput(from_="pause", decisions=_YES), cancel=Cancel(
                     when="agent_updated_stream_event", mode="after_turn"))
    declared = plan((hi("pause", {"a": 1}, _WAITS), rest), agents={"a": Agent(tools=("pay",))},
                    tools={"pay": PAY}, modes=("run_streamed",), run=QUIET)

    def rest_act(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play._usage()
        return play.finish("cancelled")

    return declared, perform(declared, pause=_pause, rest=rest_act)


# --- a state that is run

def decided_again(**fields: Any) -> World:
    """A state that failed to write is run again under the decision that was made on it."""
    declared, seen = unwritten()
    *before, again = declared.phases
    assert again.resume is not None
    resume = replace(again.resume, **({"decisions": _YES} | fields))
    return replace(declared, phases=(*before, replace(again, resume=resume))), seen


def branches_decided() -> World:
    """Two states of one pause, on both of which the same is decided."""
    both = tuple(Phase(id=id, script={"a": steps(1)}, resume=ResumeInput(
        from_="pause", branch=id, decisions=_YES)) for id in ("left", "right"))
    declared = plan((hi("pause", {"a": 1}, _WAITS), *both), agents={"a": Agent(tools=("pay",))},
                    tools={"pay": PAY}, run=QUIET)

    def resumed(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=_pause, left=resumed, right=resumed)


def staged_on_server() -> World:
    """A server that keeps the conversation is sent what was staged, in the first call after it."""
    rest = Phase(id="rest", script={"a": steps(2)}, resume=ResumeInput(
        from_="pause", via="json", decisions=_YES, add="More."))
    declared = plan((hi("pause", {"a": 1}, _WAITS), rest), tools={"add": ADD, "pay": PAY},
                    agents={"a": Agent(tools=("add", "pay"))},
                    run=replace(QUIET, server="conversation_id"))

    def rest_act(play: Play) -> PhaseRun:
        play.add("input_staged", items=(MORE,))
        play.tool("pay", "p1", "paid")
        play.history.append(MORE)
        play.made.append({"type": "message", **MORE})
        play.turn(call("add", "c1"), seen=play.history[-2:])
        play.tool("add", "c1", "3")
        play.turn(say("done"), seen=play.history[-1:])
        return play.complete("done")

    seen = perform(declared, pause=_pause, rest=rest_act)
    for event in [event for run in seen.runs for event in run.of("model_called")]:
        event["conversation_id"] = "conversation-1"
    return declared, seen


TURN_BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "guardrail fails beside a tool": failing_beside,
    "turns run out inside": out_inside,
    "turns run out after a failure": partial(failed_inside, 1),
    "cancelled before its turn": cut_early,
    "cancelled in its turn": partial(cut_early, True),
    "cancelled when resumed": cut_resumed,
    "decided again": decided_again,
    "branches decided": branches_decided,
    "staged on a server": staged_on_server,
}

TURN_BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    *(Miniature("session_persistence", "SESSION_EFFECT_LOST", world, damage,
                also={"response_linkage": "EFFECT_UNTOLD"})
      for world, damage in (
          (partial(failing_beside, "output"), None),
          (partial(failing_beside, error="ModelBehaviorError"), None),
          (failing_beside, on("one", change("guardrail_checked", parent="o1"))))),
    *(Miniature("max_turns", "MAX_TURNS_EARLY", world) for world in (
        partial(failed_inside, 2), partial(out_inside, "default"),
        partial(out_inside, tool="other"))),
    Miniature("cancel_modes", "TURN_CUT_SHORT", partial(cut_early, True),
              on("one", drop("model_responded"))),
    Miniature("state_transition", "DECISIONS_DIFFER", partial(
        decided_again, decisions=(Decision(call="p2"),))),
    Miniature("state_transition", "DECISIONS_DIFFER", branches_decided,
              on("right", drop("decision"))),
    Miniature("server_conversation", "OLD_ITEM_SENT", staged_on_server,
              on("rest", change("model_called", 1, input=more(MORE)))),
)
