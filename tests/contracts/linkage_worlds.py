"""Worlds on calls: left open in a session, still waiting, or checked inside an agent tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Cancel,
    Decision,
    ExpectedOutcome,
    FailingWrite,
    Guardrail,
    HookError,
    Phase,
    ResumeInput,
    Run,
    Session,
    Tool,
    ToolGuardrail,
)
from agentrunproof.record.observation import PhaseRun
from tests.contracts import call_boundaries, flow_worlds, run_worlds, worlds
from tests.contracts.damage import change, less, more, on
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised

_OBSERVED = {"op": "observe"}
_FAILURES = {"tool": {"type": "ToolFailure", "message": "no"},
             "write": {"type": "SessionFailure", "message": "no"}}


def left_open(by: str) -> World:
    """Two runs leave a call without an output in the session, and a third one completes.

    `by`: a failing `tool`, beside one whose output is kept; a failing `write`; or a `cancel`.
    """
    failure = _FAILURES.get(by)
    ending = raised(failure["type"]) if failure else ExpectedOutcome(outcome="cancelled")
    broken = [hi(id, {"a": 1}, ending, cancel=None if failure else Cancel(when="tool_called"),
                 failing_write=FailingWrite() if by == "write" else None)
              for id in ("one", "two")]
    declared = plan((*broken, hi("three", {"a": 1})), session=Session(), run=QUIET,
                    agents={"a": Agent(tools=("add", "tell"))},
                    tools={"add": ADD, "tell": replace(ADD, failure="raise")},
                    modes=("run", "run_streamed") if failure else ("run_streamed",))

    def asked(play: Play, *items: Any) -> None:
        play.turn(*items, seen=[item for item in play.history
                                if not item.get("call_id", "").endswith("-open")])

    def broken_off(play: Play) -> PhaseRun:
        kept, open_ = f"{play.phase.id}-kept", f"{play.phase.id}-open"
        asked(play, *([call("add", kept)] if by == "tool" else []), call("tell", open_))
        if by == "tool":
            play.tool("add", kept, "3")
        if failure is None:
            place = [event["name"] for event in play.stream].index("tool_called")
            del play.stream[place + 1:]
            return play.finish("cancelled")
        play.start("tell", open_)
        if by == "tool":
            play.add("tool_failed", tool="tell", call=open_, error=failure)
        else:
            play.done("tell", open_, "3")
            play.session.pop()
            play.events.pop()
            play.add("session_failed", error=failure, items=play.made[-1:])
        return play.fail(failure["type"], failure["message"])

    def three(play: Play) -> PhaseRun:
        asked(play, say("done"))
        return play.complete("done")

    return declared, perform(declared, one=broken_off, two=broken_off, three=three)


def thinking_aloud() -> World:
    """The model thinks before it says something and calls a tool, and at the very end."""
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))},
                    tools={"add": ADD}, session=Session(), run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(run_worlds.THOUGHT, say("let me see", "m0"), call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done"), run_worlds.THOUGHT | {"id": "rs-2"})
        return play.complete("done")

    return declared, perform(declared, one=one)


def checked_inside(gave: str, behavior: str = "") -> World:
    """An agent tool whose agent stops at its tool, `gave` what is given.

    `behavior`: of the guardrail that checks the output of the inner tool; with none, a guardrail
    checks the nested input and lets it pass.
    """
    declared = plan((hi("one", {"outer": 2, "a": 1}),), start="outer", run=QUIET,
                    agents={"outer": Agent(tools=("ask",)), "a": Agent(
                        tools=("add",), tool_use_behavior="stop_on_first_tool",
                        input_guardrails=() if behavior else ("g",))},
                    tools={"ask": Tool(agent="a"), "add": Tool(
                        outcomes=ADD.outcomes, output_guardrails=("t",) if behavior else ())},
                    guardrails={} if behavior else {"g": Guardrail(kind="input")},
                    tool_guardrails={"t": ToolGuardrail(kind="output")} if behavior else {})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", flow_worlds.ASK))
        with play.ask("ask", "o1", "a"):
            if not behavior:
                play.guardrail("g", "input")
            play.turn(call("add", "n1"))
            play.start("add", "n1")
            play.add("tool_finished", tool="add", call="n1", output="3")
            if behavior:
                play.guardrail("t", "tool_output", call="n1", behavior=behavior)
        play.done("ask", "o1", gave)
        play.turn(say("outer", "o2"))
        return play.complete("outer")

    return declared, perform(declared, one=one)


def still_waiting() -> World:
    """Two calls wait and were checked before; one is decided, and the other waits unchecked on."""
    paused = ExpectedOutcome(outcome="interrupted")
    rest = Phase(id="rest", expect=paused, resume=ResumeInput(
        from_="one", decisions=(Decision(call="p1"),)))
    declared = plan((hi("one", {"a": 1}, paused), rest), agents={"a": Agent(tools=("pay",))},
                    tools={"pay": replace(PAY, input_guardrails=("g",))},
                    tool_guardrails={"g": ToolGuardrail(kind="input")},
                    run=replace(QUIET, pre_approval_guardrails=True))

    def one(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"), call("pay", "p2"))
        for id in ("p1", "p2"):
            play.guardrail("g", "tool_input", call=id, behavior="allow")
        return play.pause(("pay", "p1"), ("pay", "p2"))

    def rest_act(play: Play) -> PhaseRun:
        play.guardrail("g", "tool_input", call="p1", behavior="allow")
        play.tool("pay", "p1", "paid")
        return play.pause(("pay", "p2"))

    return declared, perform(declared, one=one, rest=rest_act)


def broken_after() -> World:
    """A hook of the run fails when a tool has ended, which was started as it should be."""
    declared = plan(
        (hi("one", {"a": 1}, raised("HookFailure")),), agents={"a": Agent(tools=("add",))},
        tools={"add": ADD}, run=Run(tracing=False, hook_error=HookError(on="on_tool_end")))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        return play.fail("HookFailure", "hook failed")

    return declared, perform(declared, one=one)


LINKAGE_WORLDS: dict[str, Callable[[], World]] = {
    **{f"left open by a {by}": partial(left_open, by) for by in ("tool", "write", "cancel")},
    "thinking aloud": thinking_aloud,
    "rejected inside": partial(checked_inside, "no", "reject_content"),
    "allowed inside": partial(checked_inside, "3", "allow"),
    "let in": partial(checked_inside, "3"),
    "still waiting": still_waiting, "broken after a tool": broken_after,
    "thinking inside": partial(call_boundaries.asked, [run_worlds.THOUGHT], ""),
}

LINKAGE_MINIATURES: tuple[Miniature, ...] = (
    Miniature("tool_linkage", "UNANSWERED_CALL", partial(left_open, "tool"),
              on("three", change("session_read", match=_OBSERVED, items=less(3))),
              also={"session_persistence": "SESSION_HISTORY_CHANGED"}),
    Miniature("tool_linkage", "UNANSWERED_CALL", thinking_aloud,
              on("one", change("session_read", match=_OBSERVED, items=less(4))),
              also={"session_persistence": "SESSION_ITEM_LOST"}),
    Miniature("tool_linkage", "DANGLING_REASONING", worlds.tools,
              on("one", change("model_called", 1, input=more(run_worlds.THOUGHT, 5))),
              also={"turn_input": "TURN_ITEM_ADDED"}),
    *(Miniature("agent_tool", "AGENT_TOOL_OUTPUT_DIFFERS", partial(checked_inside, "4", behavior))
      for behavior in ("", "allow")),
)
