"""Boundaries (see `boundaries`) of the relations, sessions, spans and tripwires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from agentrunproof.plan.model import Agent, Handoff, Session
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, PhaseRun
from tests.contracts import flow_worlds as flow
from tests.contracts import worlds
from tests.contracts.damage import Damage, change, drop, less, more, on, to_front
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.variations import approved, in_variant, watched
from tests.contracts.worlds import ADD, QUIET, World, hi, plan

_WAITED = {"type": "tool_approval_item", "agent": "a", "item": call("pay", "c1")}


def but(world: Callable[[], World], *damages: Damage) -> Callable[[], World]:
    """A world in which something else may as well be."""
    def made() -> World:
        declared, seen = world()
        for damage in damages:
            seen = damage(seen)
        return declared, seen

    return made


def left_out() -> World:
    """A handoff's filter takes a call out, which neither the result nor the session has then."""
    declared = plan((hi("one", {"a": 2, "b": 1}),), session=Session(), run=QUIET,
                    agents={"a": Agent(tools=("add",), handoffs=("to_b",)), "b": Agent()},
                    handoffs={"to_b": Handoff(to="b", filter="remove_all_tools")},
                    tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b", list(play.input))
        play.turn(say("done"))
        for held in (play.made, play.session):
            held[:] = [item for item in held if item.get("call_id") != "c1"]
        return play.complete("done")

    return declared, perform(declared, one=one)


def tried_unless_streamed() -> World:
    """A failed call that had told something is tried again where it was not streamed."""
    declared, once = flow.tried(1, 1, told=True)
    streamed = flow.tried(0, 1, told=True)[1].in_mode("run_streamed")
    return declared, Observation((*once.in_mode("run"), *streamed))


def tried_before() -> World:
    """Such a run, and after it one of which the modes tell another usage."""
    declared, seen = tried_unless_streamed()
    after = hi("two", {"a": 1})

    def two(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    alone = replace(declared, phases=(after,))
    other = on("two", change("usage", cached=1), "run_streamed")(perform(alone, two=two))
    return replace(declared, phases=(*declared.phases, after)), Observation(tuple(
        run for mode in seen.modes for part in (seen, other) for run in part.in_mode(mode)))


def _first_unobserved(seen: Observation) -> Observation:
    """The variant was not run in its first phase."""
    (varied,) = seen.variants
    return replace(seen, variants=(replace(varied, runs=varied.runs[1:]),))


def _told_as_text(items: Sequence[Any], text: str = "{}") -> tuple[Any, ...]:
    """The items with each message of a model as a text, in place of a completed one of parts."""
    return tuple({"role": "assistant", "type": "message", "id": item["id"], "content": text.format(
        *(part["text"] for part in item["content"]))}
        if item.get("role") == "assistant" else item for item in items)


def _calls_without_status(items: Sequence[Any]) -> tuple[Any, ...]:
    return tuple({name: value for name, value in item.items() if name != "status" or "role" in item}
                 for item in items)


_FOR_TRACING = partial(watched, "tracing", worlds.tools)
_FOR_HISTORY = partial(watched, "history", worlds.tools)
_FOR_HOOKS = partial(watched, "hooks", worlds.tools)
_WITHOUT_USAGE = but(_FOR_HOOKS, in_variant("one", drop("usage")), in_variant(
    "two", drop("usage")))

RELATION_BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "input list without the history": but(
        _FOR_HISTORY, in_variant("one", change("result", history=less(0)))),
    "usage that no hook is shown": _WITHOUT_USAGE,
    "messages told as texts": but(
        _FOR_TRACING, in_variant("two", change("model_called", input=_told_as_text)),
        in_variant("two", change("result", history=_told_as_text))),
    "unfit answer before a trip": partial(flow.tripped, "input", "ModelBehaviorError"),
    "call taken out by a filter": left_out,
    "generation with a name": but(lambda: flow.traced(a=2, b=1), on("one", lambda events: [
        event | {"name": "model"} if event.get("type") == "generation" else event
        for event in events])),
    # They are stored in the order in which they were run, not in that of the answer.
    "approved calls in a session": partial(approved, Session()),
    "request for approval among the items": but(
        approved, on("rest", change("result", new_items=more(_WAITED, 2)))),
}

RELATION_BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    Miniature("relation_hooks", "OUTCOMES_DIFFER", _WITHOUT_USAGE,
              in_variant("two", change("run_finished", outcome="cancelled"))),
    Miniature("relation_tracing", "MODEL_CALLS_DIFFER", _FOR_TRACING, in_variant(
        "two", change("model_called", input=partial(_told_as_text, text="not {}")))),
    Miniature("relation_tracing", "RESULTS_DIFFER", _FOR_TRACING, in_variant(
        "two", change("result", history=partial(_told_as_text, text="not {}")))),
    Miniature("relation_tracing", "MODEL_CALLS_DIFFER", _FOR_TRACING, in_variant(
        "two", change("model_called", input=_calls_without_status))),
    Miniature("stream_parity", "USAGES_DIFFER", lambda: flow.tried(2),
              on("one", change("usage", cached=1), "run_streamed")),
    Miniature("tripwire_exception", "TRIPWIRE_DISGUISED",
              partial(flow.tripped, "input", "ModelBehaviorError"),
              on("one", to_front("guardrail_checked"))),
    Miniature("span_home", "SPAN_REPEATED", worlds.tools, on("two", lambda events: [
        *events, flow.span(9, "function", "add", 1)])),
    Miniature("span_home", "SPAN_REPEATED", worlds.tools, on("two", lambda events: [
        *events, make("span_started", span=9, type="function", name="add", parent=1)]),
              also={"span_tree": "SPAN_NOT_CLOSED"}),
    Miniature("model_script_consumed", "SCRIPT_NOT_CONSUMED", tried_unless_streamed),
    Miniature("model_script_consumed", "SCRIPT_NOT_CONSUMED", tried_before,
              also={"usage_sum": "USAGE_DIFFERS"}),
    Miniature("relation_approval", "SESSION_WRITES_DIFFER", partial(approved, Session()),
              in_variant("pause", change("session_written", -1, items=less(0)))),
    Miniature("relation_approval", "RESULTS_DIFFER", approved,
              in_variant("pause", change("result", new_items=less(0)))),
    Miniature("relation_approval", "MODEL_CALLS_DIFFER", approved,
              in_variant("pause", change("model_called", 1, input=less(0)))),
    Miniature("relation_hooks", "OUTCOMES_DIFFER", _FOR_HOOKS, lambda seen: _first_unobserved(
        in_variant("two", change("run_finished", outcome="cancelled"))(seen))),
)
