"""Worlds of calls: tools that fail, take their time or stop a run, and decisions on calls."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Item,
    LiteralInput,
    ModelStep,
    Param,
    Phase,
    ResumeInput,
    Run,
    Tool,
    ToolGuardrail,
    ToolOutcome,
)
from agentrunproof.record.observation import PhaseRun
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised, steps

FAILING = Tool(outcomes=(ToolOutcome(error="boom"),))
Failure = Literal["default", "raise", "text"]
DEFAULT = "An error occurred while running the tool."


def _one(tool: Tool, act: Any, expect: ExpectedOutcome | None = None, answers: int = 2,
         agent: Agent | None = None, run: Run = QUIET, **fields: Any) -> World:
    """One phase of one agent with the tool `add`."""
    declared = plan((hi("one", {"a": answers}, expect),), run=run, tools={"add": tool},
                    agents={"a": agent or Agent(tools=("add",))}, **fields)
    return declared, perform(declared, one=act)


def _fails(play: Play, error: str = "ToolFailure", message: str = "boom") -> None:
    """The tool is started for call c1 and fails."""
    play.add("tool_started", tool="add", call="c1")
    play.add("tool_failed", tool="add", call="c1", error={"type": error, "message": message})


def failed(tool: Tool = FAILING, told: str | None = DEFAULT, error: str = "ToolFailure") -> World:
    """A tool fails and the model is told; not at all, if `told` is None."""
    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        _fails(play, error)
        if told is not None:
            play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    return _one(tool, act)


def failed_in_words(told: str = "sorry") -> World:
    return failed(dataclasses.replace(FAILING, failure="text", failure_text="sorry"), told)


def failed_raising(failure: Failure = "raise", error: str = "UserError",
                   message: str = "Error running tool add: boom", tool_error: str = "boom"
                   ) -> World:
    """A tool fails and the run with it."""
    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        _fails(play, message=tool_error)
        return play.fail(error, message)

    tool = dataclasses.replace(FAILING, failure=failure,
                               failure_text="sorry" if failure == "text" else None)
    return _one(tool, act, raised(error), 1)


def failed_inside(failure: Failure = "default", told: str | None = DEFAULT) -> World:
    """A tool fails in a nested run, which is told of it and answers, or not."""
    declared = plan((hi("one", {"outer": 2, "a": 2}),), start="outer", run=QUIET,
                    agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
                    tools={"add": dataclasses.replace(FAILING, failure=failure),
                           "ask": Tool(agent="a")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.turn(call("add", "c1"))
            _fails(play)
            if told is not None:
                play.answer("c1", told)
            play.turn(say("inner"))
        play.done("ask", "o1", "inner")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def timed(tool: Tool | None = None, told: str | None = "Tool 'add' timed out after 2 seconds.",
          ended: str = "cancelled", outcome: str = "completed", **changes: Any) -> World:
    """A tool with a timeout of two seconds, in what way it ended and what the model is told."""
    spec = dataclasses.replace(tool or Tool(outcomes=(ToolOutcome(hang=True),), timeout="2"),
                               **changes)

    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        if ended == "cancelled":
            play.add("tool_cancelled", tool="add", call="c1")
        else:
            play.add("tool_finished", tool="add", call="c1", output=ended)
        if outcome == "timeout":
            return play.finish(outcome)
        if outcome != "completed":
            return play.fail(outcome, "Tool 'add' timed out after 2 seconds.")
        if told is not None:
            play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    expect = {"completed": ExpectedOutcome(), "timeout": ExpectedOutcome(outcome="timeout")}.get(
        outcome) or raised(outcome)
    return _one(spec, act, expect, 2 if outcome in ("completed", "timeout") else 1)


def quick(delay: str | None = "1", **changes: Any) -> World:
    """A tool that is done before its timeout."""
    return timed(Tool(outcomes=(ToolOutcome(returns="3"),), timeout="2", delay=delay), "3",
                 ended="3", **changes)


def early(delay: str | None = "1", **changes: Any) -> World:
    """A tool that would be done before its timeout and is stopped."""
    return timed(Tool(outcomes=(ToolOutcome(returns="3"),), timeout="2", delay=delay), **changes)


def stopped(behavior: str = "stop_on_first_tool", final: str = "3", again: bool = False,
            named: tuple[str, ...] = ("pay",), order: tuple[str, ...] = ("add", "pay"),
            run: Run = QUIET) -> World:
    """Two tools in one answer, and the run ends with the output of one, or asks `again`."""
    pay = dataclasses.replace(PAY, needs_approval=False)
    agent = Agent(tools=("add", "pay"), tool_use_behavior=behavior,  # type: ignore[arg-type]
                  stop_at_tools=named if behavior == "stop_at_tools" else ())
    declared = plan((hi("one", {"a": 2 if again else 1}),), run=run, agents={"a": agent},
                    tools={"add": ADD, "pay": pay})

    def one(play: Play) -> PhaseRun:
        play.turn(*(call(tool, tool) for tool in order))
        for tool in order:
            output = "3" if tool == "add" else "paid"
            play.tool(tool, tool, output)
        if run.on_max_turns is not None:
            play.made.append(say(run.on_max_turns))
        if again:
            play.turn(say("done"))
        return play.complete("done" if again else final)

    return declared, perform(declared, one=one)


def reused() -> World:
    """A call id that the model uses again, with another output."""
    item = Item(call="add", id="c1")
    phase = Phase(id="one", input=LiteralInput(text="Hi"), script={"a": (
        ModelStep(output=(item,)), ModelStep(output=(item,)), ModelStep())})
    declared = plan((phase,), agents={"a": Agent(tools=("add",))}, tools={"add": ADD}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(call("add", "c1"))
        play.answer("c1", "again")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def rejected_twice() -> World:
    """Two guardrails of a tool reject its output, the second one what the first one said."""
    tool = dataclasses.replace(ADD, output_guardrails=("first", "second"))

    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        play.add("tool_finished", tool="add", call="c1", output="3")
        for name in ("first", "second"):
            play.guardrail(name, "tool_output", call="c1", tripped=True, behavior="reject_content")
        play.answer("c1", "no, too")
        play.turn(say("done"))
        return play.complete("done")

    return _one(tool, act, tool_guardrails={
        "first": ToolGuardrail(kind="output", message="no"),
        "second": ToolGuardrail(kind="output", message="no, too")})


def passed_on(text: str = "no") -> World:
    """A guardrail replaces what a tool gave."""
    tool = dataclasses.replace(ADD, output_guardrails=("first", "second"))

    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        play.add("tool_finished", tool="add", call="c1", output="3")
        play.guardrail("first", "tool_output", call="c1", tripped=True, behavior="reject_content")
        play.guardrail("second", "tool_output", call="c1", behavior="allow")
        play.answer("c1", text)
        play.turn(say("done"))
        return play.complete("done")

    return _one(tool, act, tool_guardrails={
        "first": ToolGuardrail(kind="output", message="no"),
        "second": ToolGuardrail(kind="output", message="never")})


def unknown(completed: bool = False) -> World:
    """The model calls a tool that there is not, which ends the run."""
    def act(play: Play) -> PhaseRun:
        play.turn(call("nope", "c1"))
        if completed:
            play.answer("c1", "An error occurred")
            play.turn(say("done"))
            return play.complete("done")
        return play.fail("ModelBehaviorError", "Tool nope not found")

    return _one(ADD, act, None if completed else raised("ModelBehaviorError"),
                2 if completed else 1)


def malformed(arguments: str = "[]", told: str | None = DEFAULT, error: str = "",
              **changes: Any) -> World:
    """A call whose arguments are no object; the run raises if an `error` is given."""
    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1", arguments))
        if error:
            return play.fail(error, "Invalid JSON input for tool add")
        if told is not None:
            play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    tool = dataclasses.replace(ADD, parameters={"x": Param(default="1")}, order=("x",), **changes)
    return _one(tool, act, raised(error) if error else None, 1 if error else 2)


def decided(message: str | None = None, told: str | None = "Tool execution was not approved.",
            approve: bool = False, always: bool = False, later: bool = False,
            waits: bool = False) -> World:
    """A pause on one call that is decided upon.

    `later`: the same tool is called again, which `waits` for a decision of its own or is
    settled as the first call was.
    """
    decision = Decision(call="p1", approve=approve, always=always, message=message)
    expect = ExpectedOutcome(outcome="interrupted") if waits else ExpectedOutcome()
    rest = Phase(id="rest", resume=ResumeInput(from_="pause", decisions=(decision,)),
                 script={"a": steps(1 + later - (waits and later))}, expect=expect)
    declared = plan((hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted")), rest),
                    agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, run=QUIET)

    def settle(play: Play, id: str) -> None:
        if approve:
            play.tool("pay", id, "paid")
        elif told is not None:
            play.answer(id, told)

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def rest_act(play: Play) -> PhaseRun:
        settle(play, "p1")
        if later:
            play.turn(call("pay", "p2"))
            if waits:
                return play.pause(("pay", "p2"))
            settle(play, "p2")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, rest=rest_act)


def mixed(told: tuple[str, ...] = ("p1",)) -> World:
    """An answer with a call that needs approval, one that does not, and a tool that is unknown."""
    declared = plan((hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted")),),
                    agents={"a": Agent(tools=("pay", "add"))}, tools={"pay": PAY, "add": ADD},
                    run=QUIET)

    def pause(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"), call("pay", "p1", '{"x":1}'))
        play.tool("add", "c1", "3")
        return play.pause(*(("pay", id) for id in told))

    return declared, perform(declared, pause=pause)


def guarded_output() -> World:
    """A run that a guardrail of its output lets through, beside a tool."""
    def act(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        play.guardrail("out", "output")
        return play.complete("done")

    return _one(ADD, act, agent=Agent(tools=("add",), output_guardrails=("out",)),
                guardrails={"out": Guardrail(kind="output")})


#: Worlds in which a faithful Runner is at work.
CALL_WORLDS = {
    "failure told": failed, "failure told in words": failed_in_words,
    "failure raised": failed_raising, "failure inside": failed_inside,
    "failure raised inside": lambda: failed_inside("raise"),
    "exit of a tool": lambda: failed(told="as you like", error="SystemExit"),
    "another error after a told failure": lambda: failed_raising("default", "ValueError", "other"),
    "a user error after a told failure": lambda: failed_raising("default", message="other"),
    "failure without a message": lambda: failed_raising("default", tool_error=""),
    "timeout": timed, "slow tool": lambda: early("3"),
    "timeout raised": lambda: timed(timeout_behavior="raise_exception",
                                    outcome="ToolTimeoutError"),
    "quick tool": quick, "quick tool without delay": lambda: quick(None),
    "tool at its timeout": lambda: quick("2"), "tool stopped at its timeout": lambda: early("2"),
    "tool behind a gate": lambda: early(after="gate"),
    "tool that may hang": lambda: early(
        outcomes=(ToolOutcome(returns="3"), ToolOutcome(hang=True))),
    "no timeout": lambda: timed(timeout=None),
    "stopped": stopped, "stopped at pay": lambda: stopped("stop_at_tools", "paid"),
    "not stopped": lambda: stopped("run_llm_again", again=True),
    "not stopped at others": lambda: stopped("stop_at_tools", again=True, named=("other",)),
    "stopped at the later one": lambda: stopped("stop_at_tools", "3", named=("add",),
                                                order=("pay", "add")),
    "out of turns": lambda: stopped("run_llm_again", "gave up", run=dataclasses.replace(
        QUIET, on_max_turns="gave up", max_turns=1)),
    "call id with two outputs": reused, "rejected twice": rejected_twice,
    "output replaced": passed_on, "unknown tool": unknown, "malformed call": malformed,
    "malformed call raised": lambda: malformed(error="ModelBehaviorError", failure="raise"),
    "malformed call told in words": lambda: malformed(
        told="sorry", failure="text", failure_text="sorry"),
    "no arguments": lambda: malformed("", "3"),
    "malformed call, another error": lambda: malformed(error="ValueError"),
    "malformed call behind a guardrail": lambda: malformed(
        told="no", input_guardrails=("guard",)),
    "rejected": decided, "rejected with a message": lambda: decided("no", "no"),
    "approved": lambda: decided(approve=True),
    "approved for always": lambda: decided(approve=True, always=True, later=True),
    "rejected for always": lambda: decided(always=True, later=True),
    "approved, the next one waits": lambda: decided(approve=True, later=True, waits=True),
    "mixed": mixed, "guarded output": guarded_output,
}
