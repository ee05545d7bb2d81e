"""Worlds in which a faithful Runner does two things at once, and no contract may take one amiss."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Cancel,
    ExpectedOutcome,
    Guardrail,
    Handoff,
    HookError,
    InputFilter,
    Param,
    Plan,
    Run,
    Tool,
    ToolGuardrail,
    ToolOutcome,
)
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun
from tests.contracts.flow_worlds import ASK, tripped
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, QUIET, World, hi, plan, raised

_BROKEN = {"type": "ToolFailure", "message": "broke"}
_DEFAULT = "An error occurred while running the tool."


def _again(seen: Observation) -> Observation:
    """One more request, for the call that failed first."""
    for event in [event for run in seen.runs for event in run.of("usage")]:
        event.update(requests=event["requests"] + 1, entries=event["entries"] + 1)
    return seen


def tried_again_then_raised() -> World:
    """A model call goes well at the second try, and then its tool ends the run."""
    declared = plan((hi("one", {"a": 2}, raised("UserError")),),
                    agents={"a": Agent(tools=("add",))},
                    tools={"add": Tool(outcomes=(ToolOutcome(error="broke"),), failure="raise")},
                    run=dataclasses.replace(QUIET, retries=1))

    def one(play: Play) -> PhaseRun:
        play.call_model(play.history)
        play.add("model_failed", agent="a", error={"type": "ConnectionError", "message": ""})
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        play.add("tool_failed", tool="add", call="c1", error=_BROKEN)
        play.responses.clear()
        return play.fail("UserError", "broke")

    return declared, _again(perform(declared, one=one))


def out_of_turns_at_a_handoff() -> World:
    """Turns run out as another agent takes over, and a handler supplies the output."""
    declared = plan((hi("one", {"a": 1}),), agents={"a": Agent(handoffs=("b",)), "b": Agent()},
                    run=dataclasses.replace(QUIET, max_turns=1, on_max_turns="Enough."))

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.made.append(say("Enough."))
        return play.complete("Enough.")

    return declared, perform(declared, one=one)


def refused_inside(**check: Any) -> World:
    """A guardrail refuses what the agent of a tool has said, of which the outer one is told."""
    declared = plan((hi("one", {"outer": 2, "a": 1}),), start="outer",
                    agents={"a": Agent(output_guardrails=("g",)), "outer": Agent(tools=("ask",))},
                    guardrails={"g": Guardrail(kind="output")}, tools={"ask": Tool(agent="a")},
                    run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", ASK))
        with play.ask("ask", "o1", "a"):
            play.turn(say("a secret", "n1"))
            play.guardrail("g", "output", **check)
        play.done("ask", "o1", _DEFAULT)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def rejected(how: str, behavior: str = "reject_content") -> World:
    """A guardrail checks what the model is to be told of a call that came to nothing."""
    tool = {"failed": Tool(outcomes=(ToolOutcome(error="broke"),)),
            "late": Tool(outcomes=(ToolOutcome(hang=True),), timeout="1")}.get(
        how, dataclasses.replace(ADD, parameters={"x": Param(default="1")}, order=("x",)))
    told = {"late": "Tool 'add' timed out after 1 seconds."}.get(how, _DEFAULT)
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))}, run=QUIET,
                    tools={"add": dataclasses.replace(tool, output_guardrails=("g",))},
                    tool_guardrails={"g": ToolGuardrail(kind="output", message="no")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1", "[]" if how == "malformed" else "{}"))
        if how != "malformed":
            play.add("tool_started", tool="add", call="c1")
            _ends(play, how)
        play.guardrail("g", "tool_output", call="c1", behavior=behavior,
                       tripped=behavior != "allow")
        play.answer("c1", told if behavior == "allow" else "no")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def _ends(play: Play, how: str) -> None:
    if how == "failed":
        play.add("tool_failed", tool="add", call="c1", error=_BROKEN)
    else:
        play.add("tool_cancelled", tool="add", call="c1")


def taken_away(how: str) -> World:
    """A call that came to nothing, of which a handoff's filter leaves no trace."""
    tool = {"failed": Tool(outcomes=(ToolOutcome(error="broke"),)),
            "late": Tool(outcomes=(ToolOutcome(hang=True),), timeout="1")}.get(
        how, dataclasses.replace(ADD, parameters={"x": Param(default="1")}, order=("x",)))
    declared = plan((hi("one", {"a": 1, "b": 1}),), tools={"add": tool}, run=QUIET,
                    agents={"a": Agent(tools=("add",), handoffs=("up",)), "b": Agent()},
                    handoffs={"up": Handoff(to="b", filter="remove_all_tools")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1", "[]" if how == "malformed" else "{}"),
                  call("transfer_to_b", "h1"))
        if how != "malformed":
            play.add("tool_started", tool="add", call="c1")
            _ends(play, how)
        play.handoff("h1", "b", seen=play.input)
        play.made.clear()
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def malformed_beside_unknown() -> World:
    """A call that the model is to be told of stands beside one that ends the run."""
    tool = dataclasses.replace(ADD, parameters={"x": Param(default="1")}, order=("x",))
    declared = plan((hi("one", {"a": 1}, raised("ModelBehaviorError")),), run=QUIET,
                    agents={"a": Agent(tools=("add",))}, tools={"add": tool})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1", "[]"), call("nope", "c2"))
        return play.fail("ModelBehaviorError", "Tool nope not found in agent a")

    return declared, perform(declared, one=one)


def filter_beside_a_trip(sieve: InputFilter, error: str) -> World:
    """A guardrail trips beside the first turn, whose input filter ends the run."""
    declared = plan((hi("one", {}, raised(error)),),
                    agents={"a": Agent(input_guardrails=("g",))},
                    guardrails={"g": Guardrail(kind="input", trips=True)},
                    run=dataclasses.replace(QUIET, input_filter=sieve))

    def one(play: Play) -> PhaseRun:
        play.call_model(play.history)
        del play.events[-1]
        if sieve.error is not None:
            play.events[-1]["error"] = {"type": error, "message": sieve.error}
        play.guardrail("g", "input", tripped=True)
        return play.fail(error, sieve.error or "")

    return declared, perform(declared, one=one)


def stopped_with_failures() -> World:
    """A turn is finished in which one tool is cancelled from within and one call is malformed."""
    first = hi("one", {"a": 2}, ExpectedOutcome(outcome="cancelled"), cancel=Cancel(
        when="tool_called", mode="after_turn"))
    declared = plan((first,), agents={"a": Agent(tools=("add",))}, modes=("run_streamed",),
                    tools={"add": Tool(outcomes=(ToolOutcome(cancel=True),))}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"), call("add", "c2", "3"))
        play.add("tool_started", tool="add", call="c1")
        play.add("tool_cancelled", tool="add", call="c1")
        for id in ("c1", "c2"):
            play.answer(id, _DEFAULT)
        play.add("usage", requests=1, input=10, output=5, total=15, entries=1)
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def hook_after_a_tool() -> World:
    """A hook fails when a tool has ended: the span of the call tells no output."""
    declared = plan((hi("one", {"a": 1}, raised("HookFailure")),), tools={"add": ADD},
                    agents={"a": Agent(tools=("add",))},
                    run=Run(hooks="none", hook_error=HookError(on="on_tool_end")))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.spans[-1]["holds"] = ("input",)
        return play.fail("HookFailure")

    return declared, perform(declared, one=one)


def nested_on_a_server() -> World:
    """History is to be nested, and the server has it: the next agent is given what is new."""
    declared = plan((hi("one", {"a": 1, "b": 1}),), agents={
        "a": Agent(handoffs=("b",)), "b": Agent()}, run=dataclasses.replace(
            QUIET, nest_handoff_history=True, server="conversation_id"))

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(say("done"), seen=play.history[-1:])
        return play.complete("done")

    seen = perform(declared, one=one)
    for event in [event for run in seen.runs for event in run.of("model_called")]:
        event["conversation_id"] = "conversation-1"
    return declared, seen


def both_refuse(first: dict[str, Any], error: str) -> World:
    """Two guardrails would end the run at the same moment; one of them does, and only it is told.

    Which one is not the same in both modes.
    """
    other = "OutputGuardrailTripwireTriggered"
    declared: Plan = plan(
        (hi("one", {"a": 1}, ExpectedOutcome(outcome="raised")),), run=QUIET,
        agents={"a": Agent(output_guardrails=("g", "h"))},
        guardrails={name: Guardrail(kind="output") for name in ("g", "h")})

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        checks: list[tuple[str, dict[str, Any]]] = [("g", first), ("h", {"tripped": True})]
        ended = error if play.mode == "run" else other
        for name, check in checks if play.mode == "run" else checks[::-1]:
            play.guardrail(name, "output", **check)
        play.decided[:] = [name for name, check in checks if not check.get("error")][:1] if (
            play.mode == "run" and error == other) else [] if play.mode == "run" else ["h"]
        return play.fail(ended)

    return declared, perform(declared, one=one)


_ERROR: Event = {"type": "GuardrailFailure", "message": "no"}

BESIDE_WORLDS: dict[str, Callable[[], World]] = {
    "tried again, then raised": tried_again_then_raised,
    "out of turns at a handoff": out_of_turns_at_a_handoff,
    "refused inside": lambda: refused_inside(tripped=True),
    "guardrail failing inside": lambda: refused_inside(error=_ERROR),
    **{f"{how} call, {behavior}": partial(rejected, how, behavior)
       for how in ("failed", "late", "malformed") for behavior in ("reject_content", "allow")},
    **{f"{how} call, taken away": partial(taken_away, how)
       for how in ("failed", "late", "malformed")},
    "malformed call beside an unknown tool": malformed_beside_unknown,
    "failing filter beside a trip": lambda: filter_beside_a_trip(
        InputFilter(error="no"), "FilterFailure"),
    "unfit filter beside a trip": lambda: filter_beside_a_trip(
        InputFilter(malformed=True), "UserError"),
    "unfit answer beside a trip": lambda: tripped("input", "ModelBehaviorError"),
    "turn finished with failures": stopped_with_failures,
    "hook after a tool": hook_after_a_tool, "nested on a server": nested_on_a_server,
    "two trips at once": lambda: both_refuse(
        {"tripped": True}, "OutputGuardrailTripwireTriggered"),
    "trip beside a failing guardrail": lambda: both_refuse(
        {"error": _ERROR}, "GuardrailFailure"),
}
