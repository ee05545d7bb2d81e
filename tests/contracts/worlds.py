"""Small plans with what a faithful Runner leaves behind: (plan, observation) pairs."""

from __future__ import annotations

import dataclasses
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Cancel,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Handoff,
    HookError,
    Item,
    LiteralInput,
    ModelStep,
    OutputType,
    Param,
    Phase,
    Plan,
    ResumeInput,
    Run,
    Session,
    StateProbe,
    Tool,
    ToolGuardrail,
    ToolOutcome,
)
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, PhaseRun
from tests.contracts.play import Play, call, perform, say

World = tuple[Plan, Observation]

QUIET = Run(hooks="none", tracing=False)
ADD = Tool(outcomes=(ToolOutcome(returns="3"),))
PAY = Tool(outcomes=(ToolOutcome(returns="paid"),), needs_approval=True)


def plan(phases: tuple[Phase, ...], **fields: Any) -> Plan:
    given: dict[str, Any] = {"title": "t", "area": "x", "contract": "c", "start": "a"}
    return Plan(**(given | fields), phases=phases)


def steps(count: int) -> tuple[ModelStep, ...]:
    return (ModelStep(),) * count


def raised(error: str) -> ExpectedOutcome:
    return ExpectedOutcome(outcome="raised", error=error)


def hi(id: str, script: dict[str, int], expect: ExpectedOutcome | None = None,
       **fields: Any) -> Phase:
    """A phase that starts from the text "Hi"."""
    return Phase(id=id, input=LiteralInput(text="Hi"), expect=expect or ExpectedOutcome(),
                 script={agent: steps(count) for agent, count in script.items()}, **fields)


def tools(run: Run | None = None, expect: dict[str, Any] | None = None,
          script: int = 2) -> World:
    """Two tool calls at once and an answer; then a second run on the same session."""
    first = ExpectedOutcome(**{
        "final_output": "done", "outputs": {"c1": "3"}, "tool_calls": {"add": 2},
        "model_calls": {"a": 2}, **(expect or {})})
    declared = plan((hi("one", {"a": script}, first), hi("two", {"a": 1})),
                    agents={"a": Agent(tools=("add",))}, tools={"add": ADD},
                    session=Session(items=(Item(user="old"),)), run=run or Run(max_turns=5))

    def one(play: Play) -> PhaseRun:
        play.turn(say("let me see", "m0"), call("add", "c1"), call("add", "c2"))
        play.tool("add", "c1", "3")
        play.tool("add", "c2", "3")
        play.turn(say("done", "m1"))
        return play.complete("done")

    def two(play: Play) -> PhaseRun:
        play.turn(say("again", "m2"))
        return play.complete("again")

    return declared, perform(declared, one=one, two=two)


def failing(run: Run | None = None, error: str = "RuntimeError",
            session: Session | None = None) -> World:
    """A run that raises after two tool calls; without a session, if none is given."""
    declared = plan((hi("one", {"a": 2}, raised(error)),), agents={"a": Agent(tools=("add",))},
                    tools={"add": ADD}, run=run or Run(), session=session)

    def one(play: Play) -> PhaseRun:
        for id in ("c1", "c2"):
            play.turn(call("add", id))
            play.tool("add", id, "3")
        return play.fail(error, "boom")

    return declared, perform(declared, one=one)


def fork(run: Run | None = None, mutated: bool = False) -> World:
    """A pause on two calls; one branch approves them, the other one decides nothing.

    `mutated`: the undecided branch goes on as if it had decided, and the plan looks away.
    """
    expect = ExpectedOutcome(outcome="interrupted", pending=("p1", "p2"))
    untouched = Phase(id="untouched", resume=ResumeInput(from_="pause", branch="b"),
                      expect=ExpectedOutcome() if mutated else expect,
                      script={"a": steps(1)} if mutated else {})
    approved = Phase(id="approved", script={"a": steps(1)}, resume=ResumeInput(
        from_="pause", branch="a", via="json",
        decisions=(Decision(call="p1"), Decision(call="p2", approve=False))))
    declared = plan((hi("pause", {"a": 1}, expect, probe=StateProbe(via=("json",))),
                     approved, untouched),
                    agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, run=run or Run())

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"), call("pay", "p2"))
        return play.pause(("pay", "p1"), ("pay", "p2"), probe=("json",))

    def approved_act(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.answer("p2", "Tool execution was not approved.")
        play.turn(say("done"))
        return play.complete("done")

    def untouched_act(play: Play) -> PhaseRun:
        if not mutated:
            return play.pause(("pay", "p1"), ("pay", "p2"))
        for id in ("p1", "p2"):
            play.answer(id, "paid")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, approved=approved_act,
                             untouched=untouched_act)


def twins() -> World:
    """Two states of one pause that are resumed alike, one of them through JSON."""
    alike = tuple(
        Phase(id=id, script={"a": steps(1)}, resume=ResumeInput(
            from_="pause", branch=id, via=via, decisions=(Decision(call="p1"),)))
        for id, via in (("kept", "memory"), ("stored", "json")))
    declared = plan((hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted")), *alike),
                    agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, run=QUIET)

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def resumed(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, kept=resumed, stored=resumed)


def trusted_elsewhere() -> World:
    """A tool approved for always on one agent runs unasked when another agent calls it."""
    script = {"a": steps(1), "b": steps(2)}
    always = Phase(id="always", script=script, resume=ResumeInput(
        from_="pause", decisions=(Decision(call="p1", always=True),)))
    declared = plan((hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted")), always),
                    agents={"a": Agent(tools=("pay",), handoffs=("to_b",)),
                            "b": Agent(tools=("pay",))},
                    tools={"pay": PAY}, handoffs={"to_b": Handoff(to="b")}, run=QUIET)

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def always_act(play: Play) -> PhaseRun:
        play.tool("pay", "p1", "paid")
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b")
        play.turn(call("pay", "p2"))
        play.tool("pay", "p2", "paid")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, always=always_act)


def revoked() -> World:
    """A tool runs although the turn that calls it has opened the gate of its end."""
    phase = Phase(id="one", input=LiteralInput(text="Hi"),
                  script={"a": (ModelStep(opens="end"), ModelStep())})
    declared = plan((phase,), agents={"a": Agent(tools=("add",))}, run=QUIET,
                    tools={"add": dataclasses.replace(ADD, enabled_until="end")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def stuck(approve: bool, nested: bool) -> World:
    """A decided call that waits again, outermost or nested, and a plan that looks away."""
    expect = ExpectedOutcome(outcome="interrupted", pending=("p1",))
    script = {"outer": 1, "a": 1} if nested else {"a": 1}
    again = Phase(id="again", expect=expect, resume=ResumeInput(
        from_="pause", via="json", decisions=(Decision(call="p1", approve=approve),)))
    declared = plan((hi("pause", script, expect), again), start="outer" if nested else "a",
                    agents={"a": Agent(tools=("pay",)), "outer": Agent(tools=("ask",))},
                    tools={"pay": PAY, "ask": Tool(agent="a")})

    def pause(play: Play) -> PhaseRun:
        if not nested:
            play.turn(call("pay", "p1"))
        else:
            play.turn(call("ask", "o1", '{"input":"go"}'))
            with play.ask("ask", "o1", "a"):
                play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    return declared, perform(declared, pause=pause, again=lambda play: play.pause(("pay", "p1")))


def nested(run: Run | None = None, nested_turns: int = 2, phase_turns: int = 2) -> World:
    """A pause two calls deep, approved, and the outer run completed."""
    expect = ExpectedOutcome(outcome="interrupted", pending=("p1",))
    rest = Phase(id="rest", script={"outer": steps(1), "a": steps(1)}, max_turns=phase_turns,
                 resume=ResumeInput(from_="pause", via="string",
                                    decisions=(Decision(call="p1", always=True),)))
    first = hi("pause", {"outer": 1, "a": 1}, expect, max_turns=phase_turns)
    declared = plan((first, rest), start="outer",
                    agents={"a": Agent(tools=("pay",)), "outer": Agent(tools=("ask",))},
                    tools={"pay": PAY, "ask": Tool(agent="a", max_turns=nested_turns)},
                    session=Session(), run=run or Run())

    def pause(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def rest_act(play: Play) -> PhaseRun:
        with play.ask("ask", "o1", "a", again=True):
            play.tool("pay", "p1", "paid")
            play.turn(say("inner"))
        play.done("ask", "o1", "inner")
        play.turn(say("outer"))
        return play.complete("outer")

    return declared, perform(declared, pause=pause, rest=rest_act)


def handoff(run: Run | None = None, filtered: bool = False) -> World:
    """A tool call, then a handoff, whose filter may take the tools out of the history."""
    declared = plan((hi("one", {"a": 2, "b": 1}),),
                    agents={"a": Agent(tools=("add",), handoffs=("to_b",)), "b": Agent()},
                    tools={"add": ADD}, run=run or Run(),
                    handoffs={"to_b": Handoff(
                        to="b", filter="remove_all_tools" if filtered else "none")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("over to b", "m0"), call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [*play.input, say("over to b", "m0")] if filtered else None)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def nested_history() -> World:
    """A handoff whose history is folded into one message for the next agent."""
    declared = plan((hi("one", {"a": 1, "b": 1}),),
                    agents={"a": Agent(handoffs=("b",)), "b": Agent()},
                    run=dataclasses.replace(QUIET, nest_handoff_history=True))
    summary = {"role": "assistant", "content": "<CONVERSATION HISTORY>\n1. user: Hi\n"
                                               "2. assistant: over to b\n"}

    def one(play: Play) -> PhaseRun:
        play.turn(say("over to b", "m0"), call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [summary])
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def typed_handoff(arguments: str, given: str | None = None) -> World:
    """A handoff that gives a level, declared as an integer; its callback is `given` it."""
    declared = plan((hi("one", {"a": 1, "b": 1}),),
                    agents={"a": Agent(handoffs=("to_b",)), "b": Agent()},
                    handoffs={"to_b": Handoff(to="b", input_type="level")}, run=QUIET,
                    types={"level": OutputType(fields={"n": Param(type="integer")},
                                               order=("n",))})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1", arguments))
        play.handoff("h1", "b")
        for event in play.events:
            if event["kind"] == "handoff":
                event["payload"] = arguments if given is None else given
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def guarded() -> World:
    """Guardrails that let everything pass, and one that skips a tool call."""
    declared = plan((hi("one", {"a": 2}),),
                    agents={"a": Agent(tools=("add",), input_guardrails=("in",),
                                       output_guardrails=("out",))},
                    tools={"add": dataclasses.replace(ADD, input_guardrails=("tin",))},
                    run=QUIET, tool_guardrails={"tin": ToolGuardrail(kind="input")},
                    guardrails={"in": Guardrail(kind="input", blocking=True),
                                "out": Guardrail(kind="output")})

    def one(play: Play) -> PhaseRun:
        play.guardrail("in", "input")
        play.turn(call("add", "c1"))
        play.guardrail("tin", "tool_input", call="c1", tripped=True, behavior="reject_content")
        play.answer("c1", "rejected by guardrail")
        play.turn(say("done"))
        play.guardrail("out", "output")
        return play.complete("done")

    return declared, perform(declared, one=one)


def blocked(called: bool = False) -> World:
    """A blocking guardrail trips; `called`: the model is asked all the same."""
    declared = plan((hi("one", {"a": 1 if called else 0},
                        raised("InputGuardrailTripwireTriggered")),),
                    agents={"a": Agent(input_guardrails=("in",))},
                    guardrails={"in": Guardrail(kind="input", blocking=True)}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.guardrail("in", "input", tripped=True)
        if called:
            play.turn(say("done"))
        return play.fail("InputGuardrailTripwireTriggered")

    return declared, perform(declared, one=one)


def raced(started: bool = False, gate: str | None = "decided") -> World:
    """A guardrail beside the model trips, before the model answers if there is a gate."""
    phase = Phase(id="one", input=LiteralInput(text="Hi"),
                  script={"a": (ModelStep(after=gate),)},
                  expect=raised("InputGuardrailTripwireTriggered"))
    declared = plan((phase,), agents={"a": Agent(tools=("add",), input_guardrails=("in",))},
                    guardrails={"in": Guardrail(kind="input", opens=gate)},
                    tools={"add": ADD}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.guardrail("in", "input", tripped=True)
        play.turn(call("add", "c1"))
        if started:
            play.tool("add", "c1", "3")
        return play.fail("InputGuardrailTripwireTriggered")

    return declared, perform(declared, one=one)


def let_through() -> World:
    """An output guardrail trips and the run completes, which the plan expects."""
    declared = plan((hi("one", {"a": 1}),), agents={"a": Agent(output_guardrails=("out",))},
                    guardrails={"out": Guardrail(kind="output")}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        play.guardrail("out", "output", tripped=True)
        return play.complete("done")

    return declared, perform(declared, one=one)


def refused(stops: bool = False, fallback: str | None = None) -> World:
    """An output guardrail refuses what the run came to, and the session does not hold it.

    That is the model's answer, the output of the tool at which the agent `stops`, or the
    `fallback` of an error handler.
    """
    behavior = "stop_on_first_tool" if stops else "run_llm_again"
    answers = 1 if stops or fallback else 2
    declared = plan((hi("one", {"a": answers}, raised("OutputGuardrailTripwireTriggered")),),
                    agents={"a": Agent(tools=("add",), tool_use_behavior=behavior,
                                       output_guardrails=("out",))},
                    guardrails={"out": Guardrail(kind="output", trips_on="secret")},
                    tools={"add": ADD}, session=Session(), run=Run(
                        hooks="none", tracing=False, on_max_turns=fallback,
                        max_turns=None if fallback is None else 1))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        if answers == 2:
            play.turn(say("the secret"))
            play.session.pop()
        play.guardrail("out", "output", tripped=True)
        return play.fail("OutputGuardrailTripwireTriggered")

    return declared, perform(declared, one=one)


def tried_again() -> World:
    """The Runner tries a failed model call again, which is no turn and calls no hook."""
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent()},
                    run=Run(retries=1, max_turns=1, tracing=False))

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        before = next(n for n, event in enumerate(play.events) if event["kind"] == "model_called")
        play.events[before + 1:before + 1] = [
            make("model_failed", agent="a", error={"type": "ConnectionError"}),
            dict(play.events[before])]
        return play.complete("done")

    seen = perform(declared, one=one)
    for run in seen.runs:
        for event in run.of("usage"):
            event.update(requests=2, entries=2)
    return declared, seen


def cancelled() -> World:
    """A stream that its consumer breaks off."""
    first = hi("one", {"a": 2}, ExpectedOutcome(outcome="cancelled"),
               cancel=Cancel(when="response.completed", mode="after_turn"))
    declared = plan((first,), agents={"a": Agent()}, modes=("run_streamed",))

    def one(play: Play) -> PhaseRun:
        play.turn(say("one"))
        return play.finish("cancelled")

    return declared, perform(declared, one=one)


def hook_failing() -> World:
    """A hook raises where the plan says so; what is missing afterwards is nobody's fault."""
    declared = plan((hi("one", {"a": 1}, raised("HookFailure")),), agents={"a": Agent()},
                    run=Run(hook_error=HookError(on="on_llm_end")))

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        play.events = [event for event in play.events if event.get("on") != "on_llm_end"
                       or event["scope"] == "run"]
        return play.fail("HookFailure", "hook failed")

    return declared, perform(declared, one=one)


def fed_by_plan() -> World:
    """The plan feeds in a call without its output and an output without its call."""
    fed = Phase(id="one", script={"a": steps(1)}, input=LiteralInput(items=(
        Item(user="Hi"), Item(call="add", id="x1"), Item(output="3", of="x2"))))
    declared = plan((fed,), agents={"a": Agent(tools=("add",))}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def misfits() -> World:
    """Calls that never reach a tool's body: malformed, incomplete, wrong, too much."""
    arguments = ("{nope", "[]", "{}", '{"x":"no"}', '{"x":true}', '{"x":1,"y":2}')
    count = Tool(parameters={"x": Param(type="integer")}, order=("x",),
                 outcomes=(ToolOutcome(returns="ok"),))
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("count", "off"))},
                    tools={"count": count, "off": dataclasses.replace(ADD, enabled=False)},
                    run=QUIET)

    def one(play: Play) -> PhaseRun:
        calls = [call("count", f"c{n}", text) for n, text in enumerate(arguments)]
        play.turn(*calls, call("off", "off"))
        for item in (*calls, call("off", "off")):
            play.answer(item["call_id"], "An error occurred")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def nested_failure() -> World:
    """A tool fails inside a nested run, which the outer run survives."""
    declared = plan((hi("one", {"outer": 2, "a": 1}),), start="outer",
                    agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
                    tools={"add": dataclasses.replace(ADD, failure="raise"),
                           "ask": Tool(agent="a")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.turn(call("add", "c1"))
            play.hook("on_tool_start", tool="add", call="c1")
            play.add("tool_started", tool="add", call="c1")
            play.span("function", "add", play.under)
            play.add("tool_failed", tool="add", call="c1", error={"type": "ToolFailure"})
        play.done("ask", "o1", "An error occurred")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def used_again() -> World:
    """The model uses a call id again in a later turn: the call is not executed again."""
    item = Item(call="add", id="c1")
    phase = Phase(id="one", input=LiteralInput(text="Hi"), script={"a": (
        ModelStep(output=(item,)), ModelStep(output=(item,)), ModelStep())})
    declared = plan((phase,), agents={"a": Agent(tools=("add",))}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        for n in range(2):
            play.turn(call("add", "c1"))
            if n == 0:
                play.tool("add", "c1", "3")
            else:
                play.answer("c1", "3")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def handoff_refused() -> World:
    """The handoff's callback raises, so there is neither a span that ends well nor a new agent."""
    declared = plan((hi("one", {"a": 1}, raised("HandoffFailure")),),
                    agents={"a": Agent(handoffs=("to_b",)), "b": Agent()},
                    handoffs={"to_b": Handoff(to="b", error="no")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.add("handoff", from_="a", to="b")
        return play.fail("HandoffFailure", "no")

    return declared, perform(declared, one=one)


def deadline() -> World:
    """A tool hangs until the worker's deadline, which the plan expects."""
    declared = plan((hi("one", {"a": 2}, ExpectedOutcome(outcome="timeout")),),
                    agents={"a": Agent(tools=("add",))}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        play.add("task_leaked", name="Runner.run")
        play.spans = play.spans[:1]
        return play.finish("timeout")

    return declared, perform(declared, one=one)


def model_fails() -> World:
    """The model breaks off in the middle of its second answer."""
    declared = plan((hi("one", {"a": 2}, raised("RuntimeError")),),
                    agents={"a": Agent(tools=("add",))}, tools={"add": ADD})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        play.call_model(play.history)
        play.add("model_failed", agent="a", error={"type": "RuntimeError"})
        play.stream.append(make("stream_event", type="raw", name="response.output_text.delta",
                                text="It is "))
        return play.fail("RuntimeError")

    return declared, perform(declared, one=one)


def nested_trip() -> World:
    """Guardrails stop a nested run, which the outer run survives."""
    declared = plan((hi("one", {"outer": 2}),), start="outer",
                    agents={"a": Agent(input_guardrails=("in",)), "outer": Agent(tools=("ask",))},
                    tools={"ask": Tool(agent="a")},
                    guardrails={"in": Guardrail(kind="input", blocking=True)})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.guardrail("in", "input", tripped=True)
        play.done("ask", "o1", "An error occurred")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)
