"""Worlds in which a check is just about not to tell, and damage that it just about tells.

Found by changing the contracts (scripts/mutate_contracts.py): each is what tells a contract from
one that is a little different.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from agentrunproof.plan.model import Agent, Cancel, ExpectedOutcome, Handoff, Param, Run, Tool
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import PhaseRun
from tests.contracts import worlds
from tests.contracts.damage import Edit, change, drop, insert, less, more, on
from tests.contracts.miniature import Miniature
from tests.contracts.play import Item, Play, call, perform, say
from tests.contracts.variations import in_variant, watched
from tests.contracts.worlds import ADD, QUIET, World, hi, plan, raised

_BROKEN_OFF = ExpectedOutcome(outcome="cancelled")
_FAILURE = {"type": "E", "message": ""}


# --- a stream that is cancelled

def cancelled_second(asked: int = 1, outcome: str = "cancelled") -> World:
    """A run, and one that its consumer cancels in the first turn; how often its model is asked."""
    second = hi("two", {"a": asked}, ExpectedOutcome(outcome=outcome),  # type: ignore[arg-type]
                cancel=Cancel(when="response.completed", mode="after_turn"))
    declared = plan((hi("one", {"a": 1}), second), agents={"a": Agent()},
                    modes=("run_streamed",), run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    def two(play: Play) -> PhaseRun:
        for n in range(asked):
            play.turn(say("one", str(n)))
        return play.finish(outcome)

    return declared, perform(declared, one=one, two=two)


# --- a run that is refused before its first turn

def refused(told: tuple[str, ...] | None = None, mode: str = "run_streamed") -> World:
    """Runs that are refused; in one mode the exception has no run data.

    `told`: the guardrails of that mode's stream, if there is one.
    """
    declared = plan((hi("one", {}, raised("UserError")),), agents={"a": Agent()}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        if play.mode != mode:
            return play.fail("UserError", "no")
        play.add("raised", error={"type": "UserError", "message": "no"}, guardrails=told)
        return play.finish("raised")

    return declared, perform(declared, one=one)


# --- a history that is nested or filtered at a handoff

def summed_up(*told: str, said: str = "over to b", tool: bool = False) -> World:
    """A handoff whose history is told to the next agent in these lines.

    `tool`: before it, a tool was called with what is said and answered with it.
    """
    declared = plan((hi("one", {"a": 2 if tool else 1, "b": 1}),),
                    agents={"a": Agent(tools=("add",), handoffs=("b",)), "b": Agent()},
                    tools={"add": replace(ADD, parameters={"note": Param()}, order=("note",))},
                    run=replace(QUIET, nest_handoff_history=True))

    def one(play: Play) -> PhaseRun:
        if tool:
            play.turn(call("add", "c1", f'{{"note":"{said}"}}'))
            play.tool("add", "c1", said)
        play.turn(say(said, "m0"), call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [{"role": "assistant", "content": "\n".join(told)}])
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_HEAD = ("<CONVERSATION HISTORY>", "1. user: Hi")


def filtered_before(nested: bool = True) -> World:
    """A handoff with a filter and one that nests: what the filter took away need not be told."""
    sieve = Handoff(to="b", filter="remove_all_tools")
    declared = plan((hi("one", {"a": 1, "b": 1, "c": 1}),),
                    agents={"a": Agent(handoffs=("to_b",)), "b": Agent(handoffs=("c",)),
                            "c": Agent()},
                    handoffs={"to_b": sieve}, run=replace(QUIET, nest_handoff_history=nested))
    summary: Item = {"role": "assistant", "content": "<CONVERSATION HISTORY>\n1. user: Hi\n"}

    def one(play: Play) -> PhaseRun:
        play.turn(say("over to b", "m0"), call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [*play.input, say("over to b", "m0")])
        play.turn(say("over to c", "m1"), call("transfer_to_c", "h2"))
        play.handoff("h2", "c", [summary])
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


# --- two runs of one story

def asked_at_once() -> World:
    """Two agent tools at once, in both of which the model gives its call the same id."""
    declared = plan((hi("one", {"outer": 2, "a": 4}),), start="outer", modes=("run",),
                    agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
                    tools={"add": ADD, "ask": Tool(agent="a")}, run=Run(tracing=False))

    def one(play: Play) -> PhaseRun:
        play.turn(*(call("ask", id, '{"input":"go"}') for id in ("o1", "o2")))
        for id in ("o1", "o2"):
            with play.ask("ask", id, "a"):
                play.turn(call("add", "c1"))
                play.tool("add", "c1", "3")
                play.turn(say("inner", id))
            play.done("ask", id, "inner")
        play.turn(say("outer"))
        return play.complete("outer")

    return declared, perform(declared, one=one)


def _shuffled(by: str, *kinds: str) -> Edit:
    """Another order between events that the scheduler orders, among themselves in their places."""
    def edit(events: list[Event]) -> list[Event]:
        places = [n for n, event in enumerate(events) if event["kind"] in kinds]
        moved = sorted((events[n] for n in places), key=lambda event: str(event[by]), reverse=True)
        for n, event in zip(places, moved, strict=True):
            events[n] = event
        return events

    return edit


def _in_pieces(events: list[Event]) -> list[Event]:
    """Items that were added to the session at once are added one by one."""
    return [part for event in events for part in (
        [event | {"items": (item,)} for item in event["items"]]
        if event["kind"] == "session_written" else [event])]


def _alike(world: Callable[[], World], phase: str, edit: Edit) -> Callable[[], World]:
    """A world that was run alike with `run_sync`, in another way of the same."""
    def made() -> World:
        declared, seen = watched("sync", world)
        return declared, in_variant(phase, edit)(seen)

    return made


def _unlike(code: str, edit: Edit, world: Callable[[], World] = worlds.tools) -> Miniature:
    return Miniature("relation_sync", code, partial(watched, "sync", world),
                     in_variant("one", edit))


BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "refused before the stream": refused,
    "cancelled second": cancelled_second,
    "cancelled and out of time": partial(cancelled_second, 2, "timeout"),
    "summed up with a tool": partial(
        summed_up, *_HEAD, "2. function_call: over to b", "3. function_call_output: over to b",
        "4. assistant: over to b", tool=True),
    "summed up in other letters": partial(
        summed_up, *_HEAD, "2. assistant: über zu b", said="über zu b"),
    "summed up out of sight": partial(summed_up, "sha256:00"),
    "filtered before": filtered_before,
    "asked at once": asked_at_once,
    "tools in another order": _alike(asked_at_once, "one", _shuffled(
        "parent", "tool_started", "tool_finished")),
    "hooks in another order": _alike(asked_at_once, "one", _shuffled("parent", "hook")),
    "hooks of the agent first": _alike(worlds.tools, "one", _shuffled("scope", "hook")),
    "hooks of the second call first": _alike(worlds.tools, "one", _shuffled("call", "hook")),
    "stored in pieces": _alike(worlds.tools, "one", _in_pieces),
}

BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    Miniature("cancellation", "TURN_AFTER_CANCEL", partial(cancelled_second, 2)),
    *(Miniature("stream_parity", "ERROR_DATA_DIFFERS", partial(refused, **told))
      for told in ({"told": ()}, {"mode": "run"})),
    *(Miniature("handoff_history", "HANDOFF_HISTORY_LOST", partial(
        summed_up, *_HEAD, f"2. assistant: {told}")) for told in ("ver to b", "over to ")),
    *(Miniature("handoff_history", "HANDOFF_HISTORY_LOST",
                partial(worlds.handoff, run=QUIET, filtered=True),
                on("one", change("model_called", -1, input=less(position))))
      for position in (0, 1)),
    *(_unlike("ERROR_DATA_DIFFERS", change("raised", **field), worlds.failing)
      for field in ({"new_items": less(-1)}, {"last_agent": "b"})),
    _unlike("MODEL_CALLS_DIFFER", change("model_responded", response_id="other")),
    _unlike("MODEL_CALLS_DIFFER", insert(make("model_failed", agent="a", error=_FAILURE))),
    _unlike("TOOL_EXECUTIONS_DIFFER", change("tool_started", arguments="[]")),
    _unlike("TOOL_EXECUTIONS_DIFFER", drop("tool_finished")),
    _unlike("TOOL_EXECUTIONS_DIFFER", insert(
        make("tool_failed", tool="add", call="c1", error=_FAILURE))),
    *(_unlike("RESULTS_DIFFER", change("result", **field))
      for field in ({"last_agent": "b"}, {"final_output": "other"}, {"new_items": less(0)},
                    {"history": less(0)}, {"responses": less(0)})),
    _unlike("SESSION_WRITES_DIFFER", change("session_written", items=more(say("other")))),
)
