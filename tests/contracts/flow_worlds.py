"""Worlds for what happens around a run: guardrails, failures, streams, spans, agents as tools."""

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
    Item,
    ModelError,
    ModelStep,
    Run,
    Session,
    Tool,
    ToolGuardrail,
)
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import PhaseRun
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import ADD, QUIET, World, hi, plan, raised

ASK = '{"input":"go"}'


def passed_on() -> World:
    """A handoff between two agents that both have guardrails, beside those of the run."""
    both_ways = {name: Guardrail(kind="input") for name in ("a_in", "b_in", "run_in")} | {
        name: Guardrail(kind="output") for name in ("a_out", "b_out", "run_out")}
    declared = plan(
        (hi("one", {"a": 1, "b": 1}),), guardrails=both_ways,
        agents={"a": Agent(handoffs=("b",), input_guardrails=("a_in",),
                           output_guardrails=("a_out",)),
                "b": Agent(input_guardrails=("b_in",), output_guardrails=("b_out",))},
        run=dataclasses.replace(QUIET, input_guardrails=("run_in",),
                                output_guardrails=("run_out",)))

    def one(play: Play) -> PhaseRun:
        play.guardrail("a_in", "input")
        play.guardrail("run_in", "input")
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(say("done"))
        play.guardrail("b_out", "output")
        play.guardrail("run_out", "output")
        return play.complete("done")

    return declared, perform(declared, one=one)


def checked(first: str = "allow", run: Run = QUIET) -> World:
    """A tool call that two guardrails check before and two after, unless the `first` stops it."""
    names = ("in1", "in2", "out1", "out2")
    declared = plan(
        (hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))}, run=run,
        tools={"add": dataclasses.replace(ADD, input_guardrails=names[:2],
                                          output_guardrails=names[2:])},
        tool_guardrails={name: ToolGuardrail(kind="input" if name < "o" else "output")
                         for name in names})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        for name in names[:2]:
            play.guardrail(name, "tool_input", call="c1", behavior="allow")
        play.hook("on_tool_start", tool="add", call="c1")
        play.add("tool_started", tool="add", call="c1")
        play.add("tool_finished", tool="add", call="c1", output="3")
        play.guardrail("out1", "tool_output", call="c1", behavior=first,
                       tripped=first != "allow")
        if first == "allow":
            play.guardrail("out2", "tool_output", call="c1", behavior="allow")
        told = "3" if first == "allow" else "rejected by guardrail"
        play.hook("on_tool_end", tool="add", call="c1", output=told)
        play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def tripped(stage: str, error: str, behavior: str = "", nested: bool = False,
            beside: Event | None = None) -> World:
    """A guardrail of that stage trips, and `error` is raised, which the plan expects.

    Something else may have happened before.
    """
    declared = plan(
        (hi("one", {"a": 1}, raised(error)),), run=QUIET,
        agents={"a": Agent(tools=("add",), input_guardrails=("g", "h") if stage == "input" else (),
                           output_guardrails=("g", "h") if stage == "output" else ())},
        guardrails={} if "tool" in stage else {
            name: Guardrail(kind=stage) for name in ("g", "h")},  # type: ignore[arg-type]
        tool_guardrails={"g": ToolGuardrail(kind="input")} if "tool" in stage else {},
        tools={"add": dataclasses.replace(ADD, timeout="1")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.events += [dict(beside)] if beside else []
        if stage == "timeout":
            play.add("tool_started", tool="add", call="c1")
            play.add("tool_cancelled", tool="add", call="c1")
        elif stage:
            play.parent = "c1" if nested else ""
            play.guardrail("g", stage, tripped=True, behavior=behavior,
                           call="c1" if "tool" in stage else "")
            play.parent = ""
        return play.fail(error)

    return declared, perform(declared, one=one)


def broken(by: str, ends: str | None, message: str = "no", parent: str = "",
           hook: HookError | None = None) -> World:
    """Something fails within a run, which ends with the exception `ends`, or without one."""
    run = dataclasses.replace(QUIET, hook_error=hook) if hook is None else Run(
        tracing=False, hook_error=hook)
    declared = plan(
        (hi("one", {"a": 2 if by == "model" else 1},
            raised(ends) if ends else ExpectedOutcome()),),
        agents={"a": Agent(tools=("add", "tell"), handoffs=("to_b",), output_guardrails=("out",)),
                "b": Agent()},
        handoffs={"to_b": Handoff(to="b", error="no" if by == "handoff" else None)}, run=run,
        tools={"add": dataclasses.replace(ADD, failure="raise"), "tell": ADD},
        guardrails={"out": Guardrail(kind="output")})
    failure = {"type": "Boom", "message": "no"}

    def one(play: Play) -> PhaseRun:
        asked = {"tool": [call("add", "c1")], "told": [call("tell", "c1")],
                 "handoff": [call("transfer_to_b", "h1")]}.get(by, [])
        play.turn(*(asked or [say("done")]))
        play.parent = parent
        if by == "model":
            play.add("model_called", agent="a", input=tuple(play.history), tools=("add", "tell"),
                     handoffs=("transfer_to_b",))
            play.add("model_failed", agent="a", error=failure)
        elif by == "handoff":
            play.add("handoff", from_="a", to="b")
        elif by in ("tool", "told"):
            play.add("tool_started", tool=asked[0]["name"], call="c1")
            play.add("tool_failed", tool=asked[0]["name"], call="c1", error=failure)
        play.parent = ""
        if by == "guardrail" or ends is None:
            play.add("guardrail_checked", guardrail="out", stage="output", agent="a",
                     error=failure if by == "guardrail" else {})
        if ends is not None:
            return play.fail(ends, message)
        if by != "guardrail":
            play.decided.append("out")
        return play.complete("done")

    return declared, perform(declared, one=one)


def gone(calls: int = 2) -> World:
    """A consumer's task is cancelled in the first turn; in all there are so many model calls."""
    declared = plan(
        (hi("one", {"a": 3}, ExpectedOutcome(outcome="cancelled"),
            cancel=Cancel(when="response.created", mode="task")),),
        agents={"a": Agent(tools=("add",))}, tools={"add": ADD}, run=QUIET,
        modes=("run_streamed",))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        for _ in range(1, calls):
            play.add("model_called", agent="a", input=tuple(play.history), tools=("add",),
                     streamed=True)
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def forbidden(started: bool = False) -> World:
    """A hook of the run fails before a tool, which is then not `started`."""
    declared = plan(
        (hi("one", {"a": 1}, raised("HookFailure")),), agents={"a": Agent(tools=("add",))},
        tools={"add": ADD}, run=Run(tracing=False, hook_error=HookError(on="on_tool_start")))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.hook("on_tool_start", tool="add", call="c1")
        if started:
            play.add("tool_started", tool="add", call="c1")
        return play.fail("HookFailure", "hook failed")

    return declared, perform(declared, one=one)


def tried(times: int, allowed: int | None = 2, fails: bool = True, error: str = "ConnectionError",
          told: bool = False, check: dict[str, Any] | None = None) -> World:
    """A model call that fails, tried again a number of times; the last try may go well."""
    ending = raised(error) if fails else ExpectedOutcome()
    phase = hi("one", {"a": times + 1}, ending)
    if told:
        step = ModelStep(output=(Item(say="It"),), error=ModelError(type="ConnectionError"))
        phase = dataclasses.replace(phase, script={"a": (step,) * (times + 1)})
    declared = plan((phase,), agents={"a": Agent(input_guardrails=("g",) if check else ())},
                    guardrails={"g": Guardrail(kind="input")} if check else {},
                    run=dataclasses.replace(QUIET, retries=allowed))

    def one(play: Play) -> PhaseRun:
        for n in range(times + 1):
            play.call_model(play.history)
            if n < times or fails:
                play.add("model_failed", agent="a", error={"type": error, "message": ""})
        if check:
            play.guardrail("g", "input", **check)
        if fails:
            return play.fail(error)
        del play.events[-1]
        play.turn(say("done"))
        return play.complete("done")

    seen = perform(declared, one=one)
    for run in seen.runs:
        for event in run.of("usage"):
            event.update(requests=times + (not fails), entries=times + (not fails))
    return declared, seen


def _stateful(name: str) -> World:
    """A request that goes on from what the server keeps fails, and is not sent again."""
    declared, seen = tried(0)
    for run in seen.runs:
        for event in run.of("model_called"):
            event[name] = "id-1"
    return declared, seen


def stopped(mode: str = "after_turn", when: str = "tool_called", count: int = 1,
            tool: Tool = ADD, ended: bool = True) -> World:
    """A stream that its consumer cancels in the turn that calls a tool."""
    first = hi("one", {"a": 2}, ExpectedOutcome(outcome="cancelled"), cancel=Cancel(
        when=when, count=count, mode=mode))  # type: ignore[arg-type]
    declared = plan((first,), agents={"a": Agent(tools=("add",))}, modes=("run_streamed",),
                    tools={"add": tool}, session=Session(), run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        if ended:
            play.tool("add", "c1", "3")
        if mode == "immediate":
            place = [n for n, event in enumerate(play.stream) if when in (
                event["name"], "agent_updated_stream_event" if event["type"] == "agent" else "")]
            del play.stream[place[-1] + 1:]
        play.add("usage", requests=1, input=10, output=5, total=15, entries=1)
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def over_to_b(error: str = "MaxTurnsExceeded") -> World:
    """Turns run out right after a handoff, before the next agent was asked."""
    declared = plan((hi("one", {"a": 1}, raised(error)),), run=QUIET,
                    agents={"a": Agent(handoffs=("b",)), "b": Agent()})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        return play.fail(error)

    return declared, perform(declared, one=one)


def to_nobody() -> World:
    """A handoff whose arguments are refused leaves a span that names no agent."""
    declared = plan((hi("one", {"a": 1}, raised("ModelBehaviorError")),), run=Run(hooks="none"),
                    agents={"a": Agent(handoffs=("b",)), "b": Agent()})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.span("handoff", "a -> None", play.under)
        return play.fail("ModelBehaviorError")

    return declared, perform(declared, one=one)


def asked(gave: str = "inner") -> World:
    """An agent asks another one as a tool, which calls a tool of its own before it answers."""
    declared = plan((hi("one", {"outer": 2, "a": 2}),), start="outer", session=Session(),
                    agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
                    tools={"add": ADD, "ask": Tool(agent="a")}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", ASK))
        with play.ask("ask", "o1", "a"):
            play.turn(say("let me see", "n0"), call("add", "n1"))
            play.tool("add", "n1", "3")
            play.turn(say("inner", "n2"))
        play.done("ask", "o1", gave)
        play.turn(say("outer", "o2"))
        return play.complete("outer")

    return declared, perform(declared, one=one)


def traced(**generations: int) -> World:
    """A call and a handoff in one agent, with so many generation spans below each agent."""
    declared = plan((hi("one", {"a": 2, "b": 1}),), tools={"add": ADD},
                    agents={"a": Agent(tools=("add",), handoffs=("b",)), "b": Agent()},
                    run=Run(hooks="none"))

    def one(play: Play) -> PhaseRun:
        def think() -> None:
            for _ in range(generations.get(play.agent, 0)):
                play.span("generation", "", play.under)

        think()
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        think()
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def span(number: int, type: str, name: str = "", parent: int | None = 0) -> dict[str, object]:
    """One more span, for a run whose spans are numbered below."""
    return make("span_finished", span=number, type=type, name=name, parent=parent,
                holds=("input", "output") if type == "function" else ())


_BOOM = {"type": "Boom", "message": ""}
BESIDE = (
    make("model_failed", agent="a", error=_BOOM),
    make("tool_failed", tool="add", call="c1", error=_BOOM),
    make("tool_cancelled", tool="add", call="c1"),
    make("guardrail_checked", guardrail="h", stage="input", agent="a", error=_BOOM),
)

FLOW_WORLDS: dict[str, Callable[[], World]] = {
    "guardrails across a handoff": passed_on,
    "tool forbidden by a hook": forbidden, "consumer gone": gone,
    "checked call": checked, "checked call, rejected": lambda: checked("reject_content"),
    **{f"trip of {stage}": partial(tripped, stage, error)
       for stage, error in (("input", "InputGuardrailTripwireTriggered"),
                            ("output", "OutputGuardrailTripwireTriggered"),
                            ("timeout", "ToolTimeoutError"))},
    "trip of a call": lambda: tripped(
        "tool_input", "ToolInputGuardrailTripwireTriggered", "raise_exception"),
    "call rejected, then a failure": lambda: tripped(
        "tool_input", "RuntimeError", "reject_content"),
    "trip of a nested run": lambda: tripped(
        "input", "InputGuardrailTripwireTriggered", nested=True),
    "nested trip told to the model": lambda: tripped("input", "RuntimeError", nested=True),
    **{f"failing {by}": partial(broken, by, "Boom")
       for by in ("guardrail", "model", "tool")},
    **{f"trip beside {event['kind']}": partial(tripped, "input", "Boom", beside=event)
       for event in BESIDE},
    "trip raised before a failure": lambda: tripped(
        "input", "InputGuardrailTripwireTriggered", beside=BESIDE[0]),
    "trip of a call before a failure": lambda: tripped(
        "tool_input", "ToolInputGuardrailTripwireTriggered", "raise_exception", beside=BESIDE[0]),
    **{f"trip and {error}": partial(tripped, "input", error)
       for error in ("HookFailure", "HandoffFailure", "CancelledError")},
    "failing tool, wrapped": lambda: broken("tool", "UserError", "it said no"),
    "failing tool, told to the model": lambda: broken("told", "Other"),
    "failing handoff": lambda: broken("handoff", "HandoffFailure"),
    "failing in a nested run": lambda: broken("model", "Other", parent="c1"),
    "cancelling hook": lambda: broken(
        "", "CancelledError", "", hook=HookError(on="on_llm_end", cancel=True)),
    "hook that is never called": lambda: broken("", None, hook=HookError(on="on_handoff")),
    "all retries in vain": lambda: tried(2), "last retry in time": lambda: tried(2, fails=False),
    "no retry of what was cancelled": lambda: tried(0, error="CancelledError"),
    "no retry of what was told": lambda: tried(0, told=True),
    "no retry beside a trip": lambda: tried(0, check={"tripped": True}),
    "no retry beside an error": lambda: tried(0, check={
        "error": {"type": "ConnectionError", "message": ""}}),
    "handoff to nobody": to_nobody,
    "out of turns after a handoff": over_to_b,
    "checked call with hooks": lambda: checked(run=Run(tracing=False)),
    "rejected call with hooks": lambda: checked("reject_content", Run(tracing=False)),
    "no retry where none is allowed": lambda: tried(0, None),
    **{f"no retry with a {name}": partial(_stateful, name)
       for name in ("conversation_id", "previous_response_id")},
    "turn finished after a cancellation": stopped,
    "stream cut at once": lambda: stopped("immediate"),
    "stream cut at an agent": lambda: stopped(
        "immediate", "agent_updated_stream_event", ended=False),
    **{f"turn finished, {name}": partial(stopped, tool=tool, ended=False)
       for name, tool in (("a call waits", dataclasses.replace(ADD, needs_approval=True)),
                          ("a call may time out", dataclasses.replace(ADD, timeout="1")))},
    "agent asked as a tool": asked, "generations": lambda: traced(a=2, b=1),
}
