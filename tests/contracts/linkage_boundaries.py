"""Boundaries (see `boundaries`) of streams, and of calls that wait, are answered twice or cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    Handoff,
    Phase,
    ResumeInput,
    Run,
    Session,
    SessionInput,
)
from agentrunproof.record.observation import PhaseRun
from tests.contracts import run_worlds, turn_boundaries, worlds
from tests.contracts.damage import change, drop, less, more, on, repeat
from tests.contracts.linkage_worlds import left_open
from tests.contracts.miniature import Miniature
from tests.contracts.option_worlds import unwritten
from tests.contracts.play import Play, call, output, perform, say
from tests.contracts.relation_boundaries import but
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised, steps

STREAMED = "run_streamed"
_WAITS = ExpectedOutcome(outcome="interrupted")
_OBSERVED = {"op": "observe"}


def _resumes(id: str, pause: str, call: str, expect: ExpectedOutcome | None = None,
             branch: str = "main") -> Phase:
    return Phase(id=id, script={} if expect else {"a": steps(1)},
                 expect=expect or ExpectedOutcome(), resume=ResumeInput(
                     from_=pause, branch=branch, decisions=(Decision(call=call),)))


# --- calls that wait in a session

def waiting_beside() -> World:
    """Two runs wait in a session in which a third one completes; then each is resumed."""
    declared = plan(
        (hi("one", {"a": 1}, _WAITS), hi("two", {"a": 1}, _WAITS), hi("beside", {"a": 1}),
         _resumes("one-on", "one", "p1"), _resumes("two-on", "two", "p2")),
        agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, session=Session(), run=QUIET)

    def paired(play: Play) -> list[dict[str, object]]:
        answered = {item["call_id"] for item in play.history if "output" in item}
        return [item for item in play.history
                if "call_id" not in item or item["call_id"] in answered]

    def pause(id: str, play: Play) -> PhaseRun:
        play.turn(call("pay", id), seen=paired(play))
        return play.pause(("pay", id))

    def beside(play: Play) -> PhaseRun:
        play.turn(say("done"), seen=paired(play))
        return play.complete("done")

    def resumed(id: str, play: Play) -> PhaseRun:
        play.tool("pay", id, "paid")
        return beside(play)

    return declared, perform(declared, beside=beside, **{
        "one": partial(pause, "p1"), "two": partial(pause, "p2"),
        "one-on": partial(resumed, "p1"), "two-on": partial(resumed, "p2")})


def answered_in_each() -> World:
    """Two states go on from a pause that itself goes on from one; then a run in their session."""
    declared = plan(
        (hi("pause", {"a": 1}, _WAITS), _resumes("half", "pause", "p1", _WAITS),
         _resumes("left", "half", "p2", branch="left"),
         _resumes("right", "half", "p2", branch="right"), hi("after", {"a": 2})),
        agents={"a": Agent(tools=("add", "pay"))}, tools={"add": ADD, "pay": PAY},
        session=Session(), run=QUIET)

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"), call("pay", "p2"))
        return play.pause(("pay", "p1"), ("pay", "p2"))

    def half(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        return play.pause(("pay", "p2"))

    def resumed(play: Play) -> PhaseRun:
        play.tool("pay", "p2", "paid")
        play.turn(say("done"))
        return play.complete("done")

    def after(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, half=half, left=resumed, right=resumed,
                             after=after)


def cut(keep: int, called: bool = True) -> World:
    """A callback leaves the last `keep` items of a session: an input, a call, its output, a text.

    `called`: whether the model is given the first of these; if not, the run has lost it.
    """
    declared = plan((hi("one", {"a": 2}), hi("two", {"a": 1})), session=Session(),
                    agents={"a": Agent(tools=("add",))}, tools={"add": ADD},
                    run=replace(QUIET, session_input=SessionInput(keep=keep)))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    def two(play: Play) -> PhaseRun:
        play.add("session_read", op="get", items=tuple(play.session[:-1]))
        play.turn(say("done"), seen=play.history[-1 - keep:][0 if called else 1:])
        return play.complete("done")

    return declared, perform(declared, one=one, two=two)


def _uncut() -> World:
    """The same without a callback: what the run leaves out is its own doing."""
    declared, seen = cut(2)
    return replace(declared, run=QUIET), seen


# --- items of a stream

def thinking_twice() -> World:
    """A model thinks the same in two turns, of which the second one fails: it is no new item."""
    declared = plan((hi("one", {"a": 2}, raised("ModelBehaviorError")),), run=QUIET,
                    agents={"a": Agent(tools=("add",))}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(run_worlds.THOUGHT, call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(run_worlds.THOUGHT | {"id": "rs-2"}, say("no JSON"))
        del play.made[-2:]
        return play.fail("ModelBehaviorError")

    return declared, perform(declared, one=one)


def called_again() -> World:
    """The model uses a call id again, in a turn that fails; its call is announced once."""
    declared = plan((hi("one", {"a": 2}, raised("ModelBehaviorError")),), run=QUIET,
                    agents={"a": Agent(tools=("add",))}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(call("add", "c1"))
        play.made.pop()
        play.stream[:] = drop("stream_event", 1, name="tool_called")(play.stream)
        return play.fail("ModelBehaviorError")

    return declared, perform(declared, one=one)


def over_twice() -> World:
    """Turns run out when a second handoff has been made, and a handler words the end."""
    declared = plan(
        (hi("one", {"a": 1, "b": 1}),), handoffs={"to_b": Handoff(to="b"), "to_c": Handoff(to="c")},
        agents={"a": Agent(handoffs=("to_b",)), "b": Agent(handoffs=("to_c",)), "c": Agent()},
        run=replace(QUIET, max_turns=2, on_max_turns="gave up"))

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(call("transfer_to_c", "h2"))
        play.handoff("h2", "c")
        play.made.append(say("gave up"))
        return play.complete("gave up")

    return declared, perform(declared, one=one)


_CALLED_ONCE = on("one", drop("stream_event", 1, name="tool_called"), STREAMED)
_NO_STREAM = on("one", drop("stream_event", None), STREAMED)

LINKAGE_BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "waiting beside another run": waiting_beside,
    "answered in each of two states": answered_in_each,
    "call cut from its output": partial(cut, 2),
    "call cut with its output": partial(cut, 1),
    "call left with its output": partial(cut, 3),
    "thinking twice": thinking_twice,
    "called again in a turn that fails": called_again,
    "call used again, announced once": but(worlds.used_again, _CALLED_ONCE),
    "out of turns after two handoffs": over_twice,
    "turns run out inside, nothing streamed": but(turn_boundaries.out_inside, _NO_STREAM),
}

LINKAGE_BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    Miniature("tool_linkage", "UNANSWERED_CALL", waiting_beside,
              on("one-on", change("session_read", match=_OBSERVED, items=less(-2))),
              also={"session_persistence": "SESSION_ITEM_LOST"}),
    *(Miniature("tool_linkage", "DUPLICATE_OUTPUT", world,
                on(phase, change("session_read", match=_OBSERVED, items=more(output(id, told)))),
                also={"session_persistence": "SESSION_ITEM_DUPLICATED"})
      for world, phase, id, told in (
          (waiting_beside, "one-on", "p1", "paid"), (answered_in_each, "after", "c1", "3"),
          (unwritten, "again", "p1", "paid"))),
    *(Miniature("tool_linkage", "ORPHAN_OUTPUT", world, also={"session_input": "HISTORY_LOST"})
      for world in (partial(cut, 3, called=False), _uncut)),
    Miniature("stream_complete", "STREAM_ITEM_REPEATED", thinking_twice,
              on("one", repeat("stream_event", name="reasoning_item_created"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_REPEATED", called_again,
              on("one", repeat("stream_event", name="tool_called"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_MISSING",
              lambda: worlds.failing(Run(max_turns=2), "MaxTurnsExceeded"),
              on("one", drop("stream_event", name="tool_output"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_MISSING", partial(left_open, "cancel"),
              on("three", drop("stream_event", name="message_output_created"), STREAMED)),
    Miniature("stream_complete", "STREAM_ITEM_MISSING", but(worlds.tools, _NO_STREAM),
              on("two", drop("stream_event", name="message_output_created"), STREAMED)),
)
