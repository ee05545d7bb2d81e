"""Worlds of what models, tools and hooks are given, and the miniatures of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from agentrunproof.plan.model import (
    Agent,
    Handoff,
    InputFilter,
    Item,
    OutputType,
    Param,
    Session,
)
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import PhaseRun
from tests.contracts.damage import Edit, both, change, drop, less, more, on, swapped
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, QUIET, World, hi, plan, raised, typed_handoff

SIEVE = InputFilter(keep=1, add="Be brief.", instructions="New.")
_USER = {"role": "user", "content": "Hm?"}


def sifted(sieve: InputFilter = SIEVE, fails: bool = False, nested: bool = False) -> World:
    """A run on a session whose model inputs are filtered; `fails`: the first call is tried again.

    `nested`: an agent tool runs within, whose model is not filtered.
    """
    asks = dataclasses.replace(ADD, outcomes=(), agent="b")
    declared = plan((hi("one", {"a": 2 + fails, **({"b": 1} if nested else {})}),),
                    agents={"a": Agent(instructions="Old.", tools=("add",)),
                            **({"b": Agent()} if nested else {})},
                    tools={"add": asks if nested else ADD}, session=Session(
                        items=(Item(user="old"), Item(say="1", id="one"))),
                    run=dataclasses.replace(QUIET, input_filter=sieve,
                                            retries=1 if fails else None))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1", '{"input":"go"}'))
        if fails:
            first = next(n for n, event in enumerate(play.events)
                         if event["kind"] == "model_called")
            play.events[first:first] = [
                play.events[first], make("model_failed", agent="a", error={"type": "E"})]
        if nested:
            with play.ask("add", "c1", "b"):
                play.turn(say("3", "n1"))
                play.events = [event for event in play.events if not (
                    event["kind"] == "input_filtered" and event["parent"])]
                inner = play.events[-2]
                inner |= {"input": tuple(play.nested["c1"][:1]), "instructions": ""}
            play.done("add", "c1", "3")
        else:
            play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    seen = perform(declared, one=one)
    for event in [event for run in seen.runs for event in run.of("usage")]:
        event.update(requests=event["requests"] + fails, entries=event["entries"] + fails)
    return declared, seen


def refused(sieve: InputFilter, error: str) -> World:
    """A run that ends in the filter, before any model is called."""
    declared = plan((hi("one", {}, raised(error)),), agents={"a": Agent()},
                    run=dataclasses.replace(QUIET, input_filter=sieve))

    def one(play: Play) -> PhaseRun:
        play.call_model(play.history)
        del play.events[-1]
        if sieve.error is not None:
            play.events[-1]["error"] = {"type": error, "message": sieve.error}
        return play.fail(error, sieve.error or "")

    return declared, perform(declared, one=one)


def accepted(sieve: InputFilter, failure: str = "") -> World:
    """A run that goes on though its filter fails."""
    declared = plan((hi("one", {"a": 1}),), agents={"a": Agent()},
                    run=dataclasses.replace(QUIET, input_filter=sieve))

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        if failure:
            play.events[1]["error"] = {"type": failure, "message": sieve.error}
        return play.complete("done")

    return declared, perform(declared, one=one)


def _unasked(which: int) -> Edit:
    """A model is called with what was ready for it, without the filter."""
    def edit(events: list[Event]) -> list[Event]:
        ready = [event for event in events if event["kind"] == "input_filtered"][which]
        return both(drop("input_filtered", which), change(
            "model_called", which, input=ready["given"],
            instructions=ready["given_instructions"]))(events)

    return edit


def informed(**told: bool) -> World:
    """A run with a context, which a tool and a hook are given; `told` of the tool's."""
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))},
                    tools={"add": ADD}, run=dataclasses.replace(QUIET, context={"user": "ann"}))

    def one(play: Play) -> PhaseRun:
        play.add("context_given", to="hook", name="on_agent_start")
        play.turn(call("add", "c1"))
        play.add("context_given", to="tool", name="add", call="c1", **told)
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def _handed_twice() -> World:
    """An agent hands over twice, with other arguments the second time."""
    declared = plan((hi("one", {"a": 2, "b": 2}),), run=QUIET,
                    agents={"a": Agent(handoffs=("to_b",)), "b": Agent(handoffs=("a",))},
                    handoffs={"to_b": Handoff(to="b", input_type="level")},
                    types={"level": OutputType(fields={"n": Param(type="integer")},
                                               order=("n",))})

    def one(play: Play) -> PhaseRun:
        for id, text in (("h1", '{"n":5}'), ("h3", '{"n":6}')):
            play.turn(call("transfer_to_b", id, text))
            play.handoff(id, "b")
            next(event for event in reversed(play.events)
                 if event["kind"] == "handoff")["payload"] = text
            if id == "h1":
                play.turn(call("transfer_to_a", "h2"))
                play.handoff("h2", "a")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_FAILS, _UNFIT = InputFilter(error="no"), InputFilter(malformed=True)

GIVEN_WORLDS: dict[str, Callable[[], World]] = {
    "sifted": sifted, "sifted again": lambda: sifted(fails=True),
    "sifted outside": lambda: sifted(nested=True),
    "informed": informed,
    "handoff with more": lambda: typed_handoff('{"n":5,"m":6}', '{"n":5.0}'),
    "handoff after others": _handed_twice,
    "failing filter": lambda: refused(_FAILS, "FilterFailure"),
    "unfit filter": lambda: refused(_UNFIT, "UserError"),
}

GIVEN: tuple[Miniature, ...] = (
    # --- input_filter
    Miniature("input_filter", "FILTER_SKIPPED", sifted, on("one", _unasked(0))),
    Miniature("input_filter", "FILTER_SKIPPED", sifted, on("one", _unasked(1)),
              also={"turn_input": "TURN_ITEM_LOST"}),
    *(Miniature("input_filter", "SENT_INPUT_DIFFERS", world,
                on("one", change("model_called", which, input=edit)))
      for world, which, edit in (
          (sifted, 0, more(_USER)), (sifted, 1, less(0)), (sifted, 0, swapped(0, 1)),
          (lambda: sifted(fails=True), 1, more(_USER)))),
    Miniature("input_filter", "SENT_INSTRUCTIONS_DIFFER", sifted,
              on("one", change("model_called", 1, instructions="Old."))),
    Miniature("input_filter", "UNFIT_RETURN_ACCEPTED", lambda: accepted(_UNFIT)),
    # --- failure_raised, by a filter
    Miniature("failure_raised", "FAILURE_SWALLOWED",
              lambda: accepted(_FAILS, "FilterFailure")),
    Miniature("failure_raised", "FAILURE_REPLACED", lambda: refused(_FAILS, "FilterFailure"),
              on("one", change("raised", error={"type": "UserError", "message": "oh"})),
              also={"execution_outcome": "ERROR_DIFFERS"}),
    # --- context_passing
    Miniature("context_passing", "CONTEXT_REPLACED", lambda: informed(replaced=True)),
    Miniature("context_passing", "CONTEXT_CHANGED", lambda: informed(changed=True)),
    Miniature("context_passing", "CONTEXT_REPLACED",
              lambda: informed(replaced=True, changed=True)),
    # --- handoff_input
    Miniature("handoff_input", "HANDOFF_INPUT_LOST", lambda: typed_handoff('{"n":5}', "")),
    *(Miniature("handoff_input", "HANDOFF_INPUT_DIFFERS",
                lambda given=given: typed_handoff('{"n":5}', given))  # type: ignore[misc]
      for given in ('{"n":6}', "{}", "5", "{")),
    # --- what a filter may not reach
    Miniature("turn_input", "TURN_ITEM_LOST", sifted, on("one", both(
        change("input_filtered", 1, given=less(0, 1))))),
    Miniature("session_input", "HISTORY_LOST", sifted,
              on("one", both(change("input_filtered", 0, given=less(0)),
                             change("input_filtered", 1, given=less(0))))),
)
