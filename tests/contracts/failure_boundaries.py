"""Boundaries (see `boundaries`) of what fails beside something else, or would have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    FailingWrite,
    Guardrail,
    Handoff,
    ModelStep,
    Param,
    Phase,
    ResumeInput,
    Run,
    Session,
    Tool,
    ToolGuardrail,
)
from agentrunproof.record.events import make
from agentrunproof.record.observation import PhaseRun
from tests.contracts.damage import Edit, both, change, drop, insert, more, on, repeat
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.relation_boundaries import but
from tests.contracts.variations import in_variant, watched
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised

_TRIPPED = "InputGuardrailTripwireTriggered"


# --- a call whose arguments its tool cannot take

def misfit(ends: str = "ModelBehaviorError", by: str = "add", started: bool = False) -> World:
    """A tool fails beside a call that is not `started`, of the tool `by`; the run raises `ends`."""
    number = Tool(parameters={"n": Param(type="integer")}, order=("n",), outcomes=ADD.outcomes)
    declared = plan((hi("one", {"a": 1}, raised(ends)),), run=QUIET,
                    agents={"a": Agent(tools=("add", "tell"))},
                    tools={"add": replace(number, failure="raise"), "tell": number})

    def one(play: Play) -> PhaseRun:
        play.turn(call(by, "c1", '{"n":1}' if started else "{}"), call("add", "c2", '{"n":1}'))
        if started:
            play.tool(by, "c1", "3")
        play.start("add", "c2")
        play.add("tool_failed", tool="add", call="c2", error={"type": "Boom", "message": "broken"})
        return play.fail(ends, "Invalid JSON input for tool add")

    return declared, perform(declared, one=one)


# --- a session that does not take the input, or the answer

def unstored(trips: bool = False, answered: bool = False) -> World:
    """A write to the session fails: of the input, or of what a model has `answered`.

    `trips`: a guardrail beside the model trips too; else one before it lets the input pass.
    """
    phase = hi("one", {"a": int(answered)}, raised("SessionFailure"),
               failing_write=FailingWrite(count=1 + answered))
    declared = plan((phase,), agents={"a": Agent(input_guardrails=("g",))}, session=Session(),
                    guardrails={"g": Guardrail(kind="input", blocking=not trips)},
                    run=Run(tracing=False))

    def one(play: Play) -> PhaseRun:
        play.guardrail("g", "input", tripped=trips)
        if answered:
            play.turn(say("done"))
        place = max(n for n, event in enumerate(play.events)
                    if event["kind"] == "session_written")
        items = play.events.pop(place)["items"]
        del play.session[-len(items):]
        play.add("session_failed", error={"type": "SessionFailure", "message": "no"}, items=items)
        return play.fail("SessionFailure", "no")

    return declared, perform(declared, one=one)


# --- guardrails of a run that fails

def doubted(*trip: str) -> World:
    """These guardrails beside the model trip, of two."""
    declared = plan((hi("one", {"a": 1}, raised(_TRIPPED)),), run=QUIET,
                    agents={"a": Agent(input_guardrails=("g", "h"))},
                    guardrails={name: Guardrail(kind="input") for name in "gh"})

    def one(play: Play) -> PhaseRun:
        for name in trip:
            play.guardrail(name, "input", tripped=True)
        play.turn(say("done"))
        return play.fail(_TRIPPED, trip[0])

    return declared, perform(declared, one=one)


def watched_over(fails: bool = True) -> World:
    """Guardrails before the model, beside it and of its tool let all pass; then the run `fails`."""
    declared = plan((hi("one", {"a": 2}, raised("RuntimeError") if fails else None),), run=QUIET,
                    agents={"a": Agent(tools=("add",), input_guardrails=("first", "beside"))},
                    guardrails={"first": Guardrail(kind="input", blocking=True),
                                "beside": Guardrail(kind="input")},
                    tools={"add": replace(ADD, input_guardrails=("tin",))},
                    tool_guardrails={"tin": ToolGuardrail(kind="input")})

    def one(play: Play) -> PhaseRun:
        play.guardrail("first", "input")
        play.guardrail("beside", "input")
        play.turn(call("add", "c1"))
        play.guardrail("tin", "tool_input", call="c1", behavior="allow")
        play.tool("add", "c1", "3")
        play.turn(say("done"))
        return play.fail("RuntimeError", "boom") if fails else play.complete("done")

    return declared, perform(declared, one=one)


def rejected_twice() -> World:
    """A guardrail rejects a tool call, which ends nothing, and another one the answer."""
    error = "OutputGuardrailTripwireTriggered"
    declared = plan((hi("one", {"a": 2}, raised(error)),), run=QUIET,
                    agents={"a": Agent(tools=("add",), output_guardrails=("out",))},
                    guardrails={"out": Guardrail(kind="output")},
                    tools={"add": replace(ADD, input_guardrails=("tin",))},
                    tool_guardrails={"tin": ToolGuardrail(kind="input")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.guardrail("tin", "tool_input", call="c1", tripped=True, behavior="reject_content")
        play.answer("c1", "rejected by guardrail")
        play.turn(say("done"))
        play.guardrail("out", "output", tripped=True)
        return play.fail(error)

    return declared, perform(declared, one=one)


# --- a run that goes on

def resumed(max_turns: int | None = None, staged: bool = False) -> World:
    """A guarded run that waits and goes on, with a turn limit of its own or `staged` input."""
    resume = ResumeInput(from_="pause", decisions=(Decision(call="p1"),),
                         add="More." if staged else None)
    declared = plan(
        (hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted", pending=("p1",))),
         Phase(id="rest", resume=resume, script={"a": (ModelStep(),)}, max_turns=max_turns)),
        agents={"a": Agent(tools=("pay",), input_guardrails=("g",))}, tools={"pay": PAY},
        guardrails={"g": Guardrail(kind="input")}, run=QUIET)
    more = {"role": "user", "content": "More."}

    def pause(play: Play) -> PhaseRun:
        play.guardrail("g", "input")
        play.turn(call("pay", "p1"))
        return play.pause(("pay", "p1"))

    def rest(play: Play) -> PhaseRun:
        if staged:
            play.add("input_staged", items=(more,))
        play.tool("pay", "p1", "paid")
        if staged:
            play.guardrail("g", "input")
            play.history.append(more)
            play.made.append({"type": "message", **more})
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=pause, rest=rest)


# --- others

def out_of_turns_within() -> World:
    """The turns of an agent tool run out, which its run raises as it is told to."""
    error = {"type": "MaxTurnsExceeded", "message": "Max turns (1) exceeded"}
    declared = plan((hi("one", {"outer": 1, "a": 1}, raised(error["type"])),), start="outer",
                    agents={"a": Agent(tools=("add",)), "outer": Agent(tools=("ask",))},
                    tools={"add": ADD, "ask": Tool(agent="a", max_turns=1, failure="raise")},
                    run=replace(QUIET, max_turns=3))

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", '{"input":"go"}'))
        with play.ask("ask", "o1", "a"):
            play.turn(call("add", "n1"))
            play.tool("add", "n1", "3")
        play.add("tool_failed", tool="ask", call="o1", error=error)
        return play.fail(**error)

    return declared, perform(declared, one=one)


def shut(name: str | None = None) -> World:
    """A handoff that is enabled up to a gate is not offered; `name`: of its function."""
    declared = plan((hi("one", {"a": 1}),), run=QUIET,
                    agents={"a": Agent(handoffs=("to_b",)), "b": Agent()},
                    handoffs={"to_b": Handoff(to="b", tool_name=name, enabled_until="end")})

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    return declared, on("one", change("model_called", handoffs=()))(perform(declared, one=one))


def _twice(world: Callable[[], World], *edits: Edit) -> Callable[[], World]:
    """A world that was run again with `run_sync`, which went otherwise in this."""
    return but(partial(watched, "sync", world), *(in_variant("one", edit) for edit in edits))


def _unlike(code: str, world: Callable[[], World], *edits: Edit) -> Miniature:
    return Miniature("relation_sync", code, _twice(world, *edits))


_OTHER_ERROR = change("raised", error={"type": _TRIPPED, "message": "other"})
_NO_HOOK = drop("hook", None)
_ALSO_TRIPPED = insert(make("guardrail_checked", guardrail="h", stage="input", agent="a",
                            tripped=True))

FAILURE_BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "failure beside a call that does not fit": misfit,
    "input unstored": unstored,
    "input unstored, without hooks": _twice(unstored, _NO_HOOK, drop("guardrail_checked", None)),
    "input unstored or refused": _twice(partial(unstored, True), _NO_HOOK, _OTHER_ERROR),
    "two tripped, then one": _twice(partial(doubted, "g", "h"), _OTHER_ERROR, drop(
        "guardrail_checked", guardrail="h")),
    "one tripped, then two": _twice(partial(doubted, "g"), _OTHER_ERROR, _ALSO_TRIPPED),
    "failed before the guardrail": _twice(watched_over, drop(
        "guardrail_checked", guardrail="beside")),
    "staged input is checked": partial(resumed, staged=True),
    "resumed with a limit of its own": partial(resumed, 1),
    "out of turns in an agent tool": out_of_turns_within,
    "handoff up to a gate": shut, "named handoff up to a gate": partial(shut, "over"),
}

FAILURE_BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    *(Miniature("failure_raised", "FAILURE_REPLACED", partial(misfit, **told))
      for told in ({"started": True}, {"by": "tell"}, {"ends": "RuntimeError"})),
    _unlike("ERRORS_DIFFER", partial(doubted, "g"), _OTHER_ERROR),
    _unlike("ERRORS_DIFFER", rejected_twice, _OTHER_ERROR),
    _unlike("HOOKS_DIFFER", partial(unstored, answered=True), _NO_HOOK),
    _unlike("HOOKS_DIFFER", unstored, _NO_HOOK, drop("session_failed")),
    *(_unlike("GUARDRAILS_DIFFER", watched_over, change(
        "guardrail_checked", match={"guardrail": name}, agent="b")) for name in ("first", "tin")),
    _unlike("GUARDRAILS_DIFFER", partial(watched_over, False), drop(
        "guardrail_checked", guardrail="beside")),
    Miniature("guardrail_scope", "GUARDRAIL_REPEATED", partial(resumed, staged=True),
              on("rest", both(repeat("guardrail_checked"), change(
                  "result", guardrails=more("g"))))),
    Miniature("guardrail_scope", "GUARDRAIL_SKIPPED", resumed,
              on("pause", drop("guardrail_checked"))),
)
