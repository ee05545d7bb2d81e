"""Worlds of runs that raise, and of spans that tell: what is told of them all the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from agentrunproof.plan.model import Agent, Handoff, Run, Session, ToolGuardrail
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import PhaseRun
from tests.contracts import worlds
from tests.contracts.damage import change, drop, less, on
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, World, hi, plan, raised


def announced(error: str = "RuntimeError") -> World:
    """A model says something beside its call, whose tool is guarded, and then the run raises."""
    declared = plan(
        (hi("one", {"a": 2}, raised(error)),), agents={"a": Agent(tools=("add",))},
        tools={"add": dataclasses.replace(ADD, input_guardrails=("g",))},
        tool_guardrails={"g": ToolGuardrail(kind="input")})

    def one(play: Play) -> PhaseRun:
        for n in range(2):
            play.turn(say(f"let me {n}", f"m{n}"), call("add", f"c{n}"))
            play.guardrail("g", "tool_input", call=f"c{n}", behavior="allow")
            play.tool("add", f"c{n}", "3")
        return play.fail(error, "boom")

    return declared, perform(declared, one=one)


def kept_quiet() -> World:
    """A hook raises, and no span may tell with which words."""
    declared, seen = worlds.hook_failing()
    run = dataclasses.replace(declared.run, sensitive_traces=False)
    return dataclasses.replace(declared, run=run), seen


def half_done() -> World:
    """A tool ends, then the callback of a filtered handoff raises: nothing is handed over."""
    declared = plan(
        (hi("one", {"a": 1}, raised("HandoffFailure")),), tools={"add": ADD}, session=Session(),
        agents={"a": Agent(tools=("add",), handoffs=("h",)), "b": Agent()},
        handoffs={"h": Handoff(to="b", error="no", filter="remove_all_tools")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"), call("transfer_to_b", "h1"))
        play.tool("add", "c1", "3")
        play.add("handoff", from_="a", to="b")
        return play.fail("HandoffFailure", "no")

    return declared, perform(declared, one=one)


def _also_span(**fields: object) -> Callable[[list[Event]], list[Event]]:
    """One more span, in the last place."""
    def edit(events: list[Event]) -> list[Event]:
        number = sum(event["kind"].startswith("span") for event in events)
        return [*events, make("span_finished", span=number, parent=1, **fields)]

    return edit


def out_of_turns() -> World:
    """The same, where it raises because its two turns were all."""
    declared, seen = announced("MaxTurnsExceeded")
    return dataclasses.replace(declared, run=Run(max_turns=2)), seen


RAISED_WORLDS = {
    "raising after what was announced": announced,
    "out of turns after what was announced": out_of_turns,
    "failing without a word": kept_quiet, "failing half-way": half_done,
}

RAISED = (
    Miniature("span_tree", "SPAN_TELLS_TOO_MUCH", kept_quiet, on("one", change(
        "span_finished", match={"type": "agent"}, holds=("error",)))),
    Miniature("span_truth", "SPAN_UNMARKED", worlds.failing, on("one", change(
        "span_finished", match={"type": "agent"}, error=""))),
    Miniature("span_truth", "SPAN_TELLS_UNTRUE", worlds.fork, on("pause", _also_span(
        type="function", name="pay", holds=("input", "output")))),
    *(Miniature("stream_complete", "STREAM_ITEM_MISSING", announced, on("one", drop(
        "stream_event", n, name="message_output_created"), "run_streamed")) for n in range(2)),
    Miniature("guardrail_results", "GUARDRAIL_RESULT_LOST", announced, on("one", change(
        "raised", guardrails=()))),
    Miniature("guardrail_results", "GUARDRAIL_RESULT_LOST", out_of_turns, on("one", change(
        "raised", guardrails=less(1)))),
    Miniature("session_persistence", "SESSION_EFFECT_LOST", half_done, on("one", change(
        "session_read", items=less(1, 3)))),
    Miniature("response_linkage", "EFFECT_UNTOLD", half_done, on("one", change(
        "raised", new_items=less(2))), also={"session_persistence": "SESSION_ITEM_FOREIGN"}),
)
