"""Worlds of what a run's options say, of writes that fail of staged input."""

from __future__ import annotations

import dataclasses
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    FailingWrite,
    Item,
    ModelSettings,
    ModelStep,
    OutputType,
    Param,
    Phase,
    ResumeInput,
    Run,
    Session,
    SessionInput,
    Tool,
    ToolGuardrail,
)
from agentrunproof.record.observation import PhaseRun
from tests.contracts.play import Play, call, perform, say
from tests.contracts.run_worlds import REFUSAL, fallen_back
from tests.contracts.worlds import ADD, PAY, QUIET, World, handoff, hi, plan, raised, steps

MORE = {"role": "user", "content": "More."}
_SORRY = say("sorry", "f")
_FAILURE = {"type": "SessionFailure", "message": "no"}


def handled(*items: Any, final: str | None, error: str = "", kept: bool = True, type: str = "",
            **options: Any) -> World:
    """A run under handlers for refusals and invalid outputs; the answer is `items`.

    `kept`: what the handler supplied, if it is the final output, stands among the new items.
    """
    run = dataclasses.replace(QUIET, **({"on_refusal": "sorry"} | options))
    declared = plan(
        (hi("one", {"a": 1}, raised(error) if error else None),), run=run,
        agents={"a": Agent(output_type=type or None)},
        types={"t": OutputType(fields={"n": Param(type="integer")}, order=("n",))})

    def one(play: Play) -> PhaseRun:
        play.turn(*items)
        if error:
            return play.fail(error)
        supplied = (run.on_refusal, run.on_invalid_output)
        if kept and final in supplied and final is not None and say(final) not in items:
            play.made.append(say(final, "f"))
        return play.complete(final or "")

    return declared, perform(declared, one=one)


INVALID = {"on_refusal": None, "on_invalid_output": '{"n":0}', "type": "t"}


def unanswered() -> World:
    """A run under a handler that fails before its model has answered."""
    declared = plan((hi("one", {"a": 1}, raised("RuntimeError")),), agents={"a": Agent()},
                    run=dataclasses.replace(QUIET, on_refusal="sorry"))

    def one(play: Play) -> PhaseRun:
        play.call_model(play.history)
        play.add("model_failed", agent="a", error={"type": "RuntimeError", "message": "no"})
        return play.fail("RuntimeError", "no")

    return declared, perform(declared, one=one)


def timed(takes: str | None, error: str = "", timeout: str = "2", answers: bool = True,
          by_run: bool = False, before: tuple[str, ...] = (), **step: Any) -> World:
    """A model call with a timeout; `takes` seconds pass until it answers.

    `before`: the seconds of turns before it, each of which calls a tool.
    """
    limits = ModelSettings(timeout=timeout)
    declared = plan(
        (hi("one", {}, raised(error) if error else None),),
        agents={"a": Agent(model_settings=ModelSettings() if by_run else limits,
                           tools=("add",))}, tools={"add": ADD},
        run=dataclasses.replace(QUIET, model_settings=limits if by_run else ModelSettings()))
    turn = ModelStep(delay=takes, **step)
    declared = dataclasses.replace(declared, phases=(
        dataclasses.replace(declared.phases[0], script={"a": (
            *(ModelStep(delay=delay) for delay in before), turn)}),))

    def one(play: Play) -> PhaseRun:
        for n in range(len(before)):
            play.turn(call("add", f"c{n}"))
            play.tool("add", f"c{n}", "3")
        if answers:
            play.turn(say("done"))
        else:
            play.call_model(play.history)
            play.add("model_failed", agent="a", error={"type": "CancelledError"})
        for event in play.events:
            if event["kind"] == "model_called":
                event["settings"] = {"timeout": timeout}
        return play.fail(error) if error else play.complete("done")

    return declared, perform(declared, one=one)


def limited(beside: int) -> World:
    """Two calls of one answer, of two tools at once; the second starts beside so many others."""
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))},
                    tools={"add": ADD}, run=dataclasses.replace(QUIET, max_tools_at_once=2))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"), call("add", "c2"))
        play.tool("add", "c1", "3")
        play.tool("add", "c2", "3")
        [event for event in play.events if event["kind"] == "tool_started"][1]["beside"] = beside
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def _paused(play: Play) -> PhaseRun:
    play.turn(call("pay", "p1"))
    return play.pause(("pay", "p1"))


def _resumes(id: str, turns: int, expect: ExpectedOutcome | None = None, **fields: Any) -> Phase:
    failing = fields.pop("failing_write", None)
    return Phase(id=id, script={"a": steps(turns)} if turns else {}, failing_write=failing,
                 resume=ResumeInput(from_="pause", **fields), expect=expect or ExpectedOutcome())


_PAUSE = hi("pause", {"a": 1}, ExpectedOutcome(outcome="interrupted"))
_YES = (Decision(call="p1"),)


def unwritten(at_end: bool = False, refusal: str = "UserError") -> World:
    """A state whose run fails to write, its output or `at_end` its answer, and is run again."""
    last = ExpectedOutcome(outcome="raised", error=refusal) if at_end else None
    declared = plan(
        (_PAUSE, _resumes("locked", int(at_end), raised("SessionFailure"), decisions=_YES,
                          failing_write=FailingWrite(count=1 + at_end)),
         _resumes("again", 1 - at_end, last)),
        agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, session=Session(),
        run=Run(tracing=False))
    kept: dict[str, Play] = {}

    def locked(play: Play) -> PhaseRun:
        kept[play.mode] = play
        held = list(play.session)
        play.tool("pay", "p1", "paid")
        if at_end:
            held = list(play.session)
            play.turn(say("done"))
            play.hook("on_agent_end", output="done")
        play.session[:] = held
        written = max(n for n, event in enumerate(play.events)
                      if event["kind"] == "session_written")
        failed = play.events.pop(written)
        play.add("session_failed", error=_FAILURE, items=failed["items"])
        return play.fail("SessionFailure", "no")

    def again(play: Play) -> PhaseRun:
        before = kept[play.mode]
        play.made, play.history = list(before.made), list(before.history)
        play.responses, play.count = list(before.responses), before.count
        if at_end:
            return play.fail(refusal)
        play._store(before.made[-1:])
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=_paused, locked=locked, again=again)


def late(at: int = -1) -> World:
    """Input staged on a paused state, which the resumed run's first model call is given."""
    declared = plan(
        (_PAUSE, _resumes("go", 1, decisions=_YES, add="More.", via="json")),
        agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY}, run=QUIET)

    def go(play: Play) -> PhaseRun:
        play.add("input_staged", items=(MORE,))
        play.tool("pay", "p1", "paid")
        play.history.append(MORE)
        play.made.append({"type": "message", **MORE})
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=_paused, go=go)


def told_unknown(told: str | None = "no such tool", text: str | None = None,
                 error: str = "") -> World:
    """A call of an unknown tool under a run that has such calls told."""
    declared = plan((hi("one", {"a": 2 - bool(error)}, raised(error) if error else None),),
                    agents={"a": Agent()}, run=dataclasses.replace(
                        QUIET, unknown_tools="tell", tool_error_text=text))

    def one(play: Play) -> PhaseRun:
        play.turn(call("ad", "c1"))
        if error:
            return play.fail(error, "Tool ad not found in agent a")
        if told is not None:
            play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def mapped(given: str = "Short.") -> World:
    """A handoff with a mapper of its history."""
    declared = plan((hi("one", {"a": 1, "b": 1}),),
                    agents={"a": Agent(handoffs=("b",)), "b": Agent()},
                    run=dataclasses.replace(QUIET, nest_handoff_history=True,
                                            history_text="Short."))

    def one(play: Play) -> PhaseRun:
        play.turn(call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [{"role": "user", "content": given}])
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def sieved() -> World:
    """A handoff under a filter of the run."""
    declared, seen = handoff(QUIET, filtered=True)
    return dataclasses.replace(declared, run=dataclasses.replace(
        declared.run, handoff_filter="remove_all_tools"), handoffs={
            "to_b": dataclasses.replace(declared.handoffs["to_b"], filter="none")}), seen


def waiting(checked: bool, before: bool) -> World:
    """A guarded call that waits for a decision; `checked` by its guardrail, or due `before`."""
    pay = dataclasses.replace(PAY, input_guardrails=("g",))
    declared = plan((_PAUSE,), agents={"a": Agent(tools=("pay",))}, tools={"pay": pay},
                    tool_guardrails={"g": ToolGuardrail(kind="input")},
                    run=dataclasses.replace(QUIET, pre_approval_guardrails=before))

    def pause(play: Play) -> PhaseRun:
        play.turn(call("pay", "p1"))
        if checked:
            play.guardrail("g", "tool_input", call="p1", behavior="allow")
        return play.pause(("pay", "p1"))

    return declared, perform(declared, pause=pause)


def rejected_in_words(told: str) -> World:
    """A rejected call under a run with words of its own."""
    declared = plan(
        (_PAUSE, _resumes("go", 1, decisions=(Decision(call="p1", approve=False),))),
        agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY},
        run=dataclasses.replace(QUIET, tool_error_text="Ask first."))

    def go(play: Play) -> PhaseRun:
        play.answer("p1", told)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=_paused, go=go)


def joined(spec: SessionInput, *seen: int) -> World:
    """A run in a session whose history and input are joined by a callback."""
    declared = plan((hi("one", {"a": 1}),), agents={"a": Agent()},
                    session=Session(items=(Item(user="old"), Item(say="1", id="one"))),
                    run=dataclasses.replace(QUIET, session_input=spec))

    def one(play: Play) -> PhaseRun:
        if spec.instead is not None:
            new = {"role": "user", "content": spec.instead}
            play.session[-1] = new
            play.history[-1] = new
            stored = next(event for event in play.events if event["kind"] == "session_written")
            stored["items"] = (new,)
        play.turn(say("done"), seen=[play.history[n] for n in seen])
        return play.complete("done")

    return declared, perform(declared, one=one)


def slow(told: str, delay: str = "3") -> World:
    """A tool that words its timeout."""
    tool = Tool(outcomes=ADD.outcomes, delay=delay, timeout="2", timeout_text="Later.")
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))},
                    tools={"add": tool}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.add("tool_started", tool="add", call="c1")
        if delay == "3":
            play.add("tool_cancelled", tool="add", call="c1")
        else:
            play.add("tool_finished", tool="add", call="c1", output="3")
        play.answer("c1", told)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def unkept(kept: bool) -> World:
    """Turns that ran out, with a fallback that the history is not to hold."""
    declared, seen = fallen_back(kept=kept)
    return dataclasses.replace(declared, run=dataclasses.replace(
        declared.run, fallback_in_history=False)), seen


#: Worlds in which a faithful Runner is at work.
OPTION_WORLDS = {
    "refusal handled": lambda: handled(REFUSAL, final="sorry"),
    "refusal raised": lambda: handled(REFUSAL, final=None, error="ModelRefusalError",
                                      **INVALID | {"type": ""}),
    "refusal handled, untold": lambda: handled(REFUSAL, final="sorry", kept=False,
                                               fallback_in_history=False),
    "refusal, another failure": lambda: handled(REFUSAL, final=None, error="RuntimeError"),
    "said like the handler": lambda: handled(say("sorry"), final="sorry"),
    "invalid output beside a call": lambda: handled(
        say("?"), call("nobody", "c1"), final=None, error="ModelBehaviorError", **INVALID),
    "call alone under a handler": lambda: handled(
        call("nobody", "c1"), final=None, error="ModelBehaviorError"),
    "interrupted before an answer": unanswered,
    "invalid output handled": lambda: handled(say("?"), final='{"n":0}', **INVALID),
    "valid output under a handler": lambda: handled(say('{"n":1}'), final='{"n":1}', **INVALID),
    "model in time": lambda: timed("1"), "model without haste": lambda: timed(None),
    "model too late": lambda: timed("3", "ModelTimeoutError", answers=False),
    "model that hangs": lambda: timed(None, "ModelTimeoutError", answers=False, hang=True),
    "model too late for the run": lambda: timed("3", "ModelTimeoutError", answers=False,
                                                by_run=True),
    "model too late in the third turn": lambda: timed(
        "3", "ModelTimeoutError", answers=False, before=("1", "1")),
    "model just in time": lambda: timed("2", "ModelTimeoutError", answers=False),
    "model behind a gate": lambda: timed("1", "ModelTimeoutError", answers=False, after="g",
                                         opens="g"),
    "limited": lambda: limited(1),
    "unwritten output": unwritten, "unwritten answer": lambda: unwritten(at_end=True),
    "late input": late, "unknown told": told_unknown,
    "unknown told in words": lambda: told_unknown("Ask.", "Ask."),
    "mapped": mapped, "sieved by the run": sieved,
    "waiting unchecked": lambda: waiting(checked=False, before=False),
    "waiting checked": lambda: waiting(checked=True, before=True),
    "rejected in words": lambda: rejected_in_words("Ask first."),
    "joined": lambda: joined(SessionInput(keep=1), 1, 2),
    "joined to none": lambda: joined(SessionInput(keep=0), 2),
    "joined, rewritten": lambda: joined(SessionInput(instead="X"), 0, 1, 2),
    "slow in words": lambda: slow("Later."), "quick in words": lambda: slow("3", "1"),
    "fallback untold": lambda: unkept(kept=False),
}
