"""Boundaries (see `boundaries`) of what need not be told, or not in those words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Item,
    LiteralInput,
    OutputType,
    Param,
    Phase,
    ResumeInput,
    Run,
    Session,
    Tool,
)
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import Observation, PhaseRun
from tests.contracts import call_worlds, raised_worlds, worlds
from tests.contracts.damage import Damage, both, change, drop, insert, less, on
from tests.contracts.flow_worlds import ASK
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.relation_boundaries import but, tried_unless_streamed
from tests.contracts.worlds import ADD, PAY, QUIET, World, hi, plan, raised, steps

_WAITS = ExpectedOutcome(outcome="interrupted")


def _pause(play: Play) -> PhaseRun:
    play.turn(call("pay", "p1"))
    return play.pause(("pay", "p1"))


# --- spans

def rejected_unseen(*holds: str) -> World:
    """A call is rejected where no span may tell what is sensitive; that of its tool `holds` this.

    The SDK itself words the error of such a call.
    """
    rest = Phase(id="rest", script={"a": steps(1)}, resume=ResumeInput(
        from_="pause", decisions=(Decision(call="p1", approve=False),)))
    declared = plan((hi("pause", {"a": 1}, _WAITS), rest), tools={"pay": PAY},
                    agents={"a": Agent(tools=("pay",))}, run=Run(sensitive_traces=False))

    def rest_act(play: Play) -> PhaseRun:
        play.spans[play.span("function", "pay", play.under)].update(
            holds=holds, error="Tool execution was not approved")
        play.answer("p1", "Tool execution was not approved.")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=_pause, rest=rest_act)


def _also_nameless(events: list[Event]) -> list[Event]:
    """A generation span that tells its error."""
    number = sum(event["kind"].startswith("span") for event in events)
    return [*events, make("span_finished", span=number, type="generation", parent=1,
                          holds=("error",))]


def _open_agent(events: list[Event]) -> list[Event]:
    """The span of the agent never ends."""
    return [make("span_started", span=event["span"], type="agent", name=event["name"],
                 parent=event["parent"]) if event.get("type") == "agent"
            and event["kind"] == "span_finished" else event for event in events]


# --- runs that raise

def failing_on_server() -> World:
    """A tool ends, and the run raises, whose conversation the server keeps."""
    declared = plan((hi("one", {"a": 1}, raised("RuntimeError")),), tools={"add": ADD},
                    agents={"a": Agent(tools=("add",))},
                    run=dataclasses.replace(QUIET, server="conversation_id"))

    def one(play: Play) -> PhaseRun:
        play.turn(call("add", "c1"))
        play.tool("add", "c1", "3")
        return play.fail("RuntimeError", "boom")

    seen = perform(declared, one=one)
    for event in [event for run in seen.runs for event in run.of("model_called")]:
        event["conversation_id"] = "conversation-1"
    return declared, seen


_OUTPUT_LOST = on("one", change("raised", new_items=less(-1)))
_SECOND_UNTOLD = on("one", change("raised", guardrails=less(1)))


def raising_after() -> World:
    """An agent tool ends; then the model says something beside a call, and the run raises."""
    declared = plan((hi("one", {"outer": 2, "a": 1}, raised("RuntimeError")),), start="outer",
                    agents={"a": Agent(), "outer": Agent(tools=("ask", "add"))},
                    tools={"add": ADD, "ask": Tool(agent="a")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", ASK))
        with play.ask("ask", "o1", "a"):
            play.turn(say("inner", "n1"))
        play.done("ask", "o1", "inner")
        play.turn(say("let me see", "m1"), call("add", "c1"))
        play.tool("add", "c1", "3")
        return play.fail("RuntimeError", "boom")

    return declared, perform(declared, one=one)


def in_vain(*answer: Any, run: Run = QUIET, check: dict[str, Any] | None = None) -> World:
    """An agent tool fails with an answer of which no call is started, and the run goes on.

    `check`: what a guardrail beside the answer decided.
    """
    declared = plan((hi("one", {"outer": 2, "a": 1}),), start="outer", run=run,
                    agents={"a": Agent(tools=("add",), handoffs=("b",), input_guardrails=("in",)),
                            "b": Agent(), "outer": Agent(tools=("ask",))},
                    tools={"add": ADD, "ask": Tool(agent="a")},
                    guardrails={"in": Guardrail(kind="input")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", ASK))
        with play.ask("ask", "o1", "a"):
            play.turn(*answer)
            if check is not None:
                play.guardrail("in", "input", **check)
        play.done("ask", "o1", "An error occurred while running the tool.")
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_ADD = call("add", "c1")
_ELSEWHERE = make("guardrail_checked", guardrail="in", stage="input", agent="a", parent="o9",
                  tripped=True)


# --- a history that is folded

def folded(came: str, *told: str) -> World:
    """A session has this message of a model's, and a handoff folds the history into these lines."""
    declared = plan((hi("one", {"a": 1, "b": 1}),), session=Session(items=(Item(say=came),)),
                    agents={"a": Agent(handoffs=("b",)), "b": Agent()},
                    run=dataclasses.replace(QUIET, nest_handoff_history=True))
    lines = ("<CONVERSATION HISTORY>", *told, "8. user: Hi", "9. assistant: over to b")

    def one(play: Play) -> PhaseRun:
        play.turn(say("over to b", "m0"), call("transfer_to_b", "h1"))
        play.handoff("h1", "b", [{"role": "assistant", "content": "\n".join(lines)}])
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_CAME = "<CONVERSATION HISTORY>\n1. user: Some words"


# --- a history that two modes tell, each in its way

def _instead(old: str, new: str) -> Callable[[Any], Any]:
    """Messages with one text in the place of another."""
    return lambda items: tuple(
        item | {"content": item["content"].replace(old, new)}
        if isinstance(item.get("content"), str) else item for item in items)


def _streamed(old: str, new: str, call: int = 1) -> Damage:
    """The stream's model is given one text in the place of another."""
    return on("one", change("model_called", call, input=_instead(old, new)), "run_streamed")


def _line(text: str) -> Callable[[], World]:
    """A folded history of which a line is this text."""
    return partial(folded, "Some words", "1. assistant: Some words", text)


def _covered(streamed: str) -> World:
    """A folded history in a private record, `streamed` in the other mode."""
    declared, seen = _line("2. {}")()
    hidden = change("model_called", 1, input=lambda items: (
        {"role": "assistant", "content": "sha256:00"},))
    return declared, _streamed("sha256:00", streamed)(on("one", hidden)(seen))


def quoting() -> World:
    """A model says what a folded history might, and a tool is called between."""
    declared = plan((hi("one", {"a": 2}),), agents={"a": Agent(tools=("add",))},
                    tools={"add": ADD}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(say(_OBJECT, "m0"), call("add", "c1"))
        play.tool("add", "c1", "3")
        play.turn(say("done", "m1"))
        return play.complete("done")

    return declared, perform(declared, one=one)


_OBJECT, _OTHER_ORDER = '2. {"a": 1, "b": 2}', '2. {"b": 2, "a": 1}'


def _requoted(items: Any) -> Any:
    """The items with what the model said in another order."""
    return tuple(item | {"content": [{"type": "output_text", "text": _OTHER_ORDER}]}
                 if item.get("id") == "msg-m0" else item for item in items)


def asked_in_lines() -> World:
    """A user says what a folded history might."""
    declared = plan((Phase(id="one", input=LiteralInput(text=_OBJECT), script={"a": steps(1)}),),
                    agents={"a": Agent()}, run=QUIET)

    def one(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, one=one)


def tried_after() -> World:
    """A run of which the modes tell another usage, and after it one that is tried again."""
    declared, seen = tried_unless_streamed()
    before = hi("before", {"a": 1})

    def act(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    alone = dataclasses.replace(declared, phases=(before,))
    other = on("before", change("usage", cached=1), "run_streamed")(perform(alone, before=act))
    return dataclasses.replace(declared, phases=(before, *declared.phases)), Observation(tuple(
        run for mode in seen.modes for part in (other, seen) for run in part.in_mode(mode)))


# --- a pause after a pause

def staged_twice(second: str = "More.", copies: int = 1) -> World:
    """Input is staged on two pauses in turn; the `second` one stands there in so many copies."""
    texts = {"again": "More.", "rest": second}
    again = Phase(id="again", script={"a": steps(1)}, expect=_WAITS, resume=ResumeInput(
        from_="pause", decisions=(Decision(call="p1"),), add="More."))
    rest = Phase(id="rest", script={"a": steps(1)}, resume=ResumeInput(
        from_="again", decisions=(Decision(call="p2"),), add=second))
    declared = plan((hi("pause", {"a": 1}, _WAITS), again, rest), run=QUIET,
                    agents={"a": Agent(tools=("pay",))}, tools={"pay": PAY})

    def goes_on(play: Play, paid: str, times: int = 1) -> None:
        more = {"role": "user", "content": texts[play.phase.id]}
        play.add("input_staged", items=(more,))
        play.tool("pay", paid, "paid")
        for _ in range(times):
            play.history.append(more)
            play.made.append({"type": "message", **more})

    def again_act(play: Play) -> PhaseRun:
        goes_on(play, "p1")
        play.turn(call("pay", "p2"))
        return play.pause(("pay", "p2"))

    def rest_act(play: Play) -> PhaseRun:
        goes_on(play, "p2", copies)
        play.turn(say("done"))
        return play.complete("done")

    return declared, perform(declared, pause=_pause, again=again_act, rest=rest_act)


def rejected_in_two_ways() -> World:
    """A call is rejected twice, with "no" and with "never", and "no" is told."""
    declared, seen = call_worlds.decided("no", "no")
    pause, rest = declared.phases
    words = tuple(Decision(call="p1", approve=False, message=text) for text in ("no", "never"))
    assert rest.resume is not None
    resume = dataclasses.replace(rest.resume, decisions=words)
    later = on("rest", insert(make("decision", call="p1", approve=False, message="never"),
                              before="model_called"))
    return dataclasses.replace(
        declared, phases=(pause, dataclasses.replace(rest, resume=resume))), later(seen)


# --- an agent that stops at another one

def stops_at_agent(typed: bool = True, final: str = "{'n': 5}") -> World:
    """An agent stops at an agent tool, whose agent may have an output type; what it ends with."""
    declared = plan(
        (hi("one", {"outer": 1, "a": 1}),), start="outer", run=QUIET,
        agents={"a": Agent(output_type="level" if typed else None),
                "outer": Agent(tools=("ask",), tool_use_behavior="stop_on_first_tool")},
        types={"level": OutputType(fields={"n": Param(type="integer")}, order=("n",))},
        tools={"ask": Tool(agent="a")})

    def one(play: Play) -> PhaseRun:
        play.turn(call("ask", "o1", ASK))
        with play.ask("ask", "o1", "a"):
            play.turn(say('{"n":5}'))
        play.done("ask", "o1", '{"n":5}')
        return play.complete(final)

    return declared, perform(declared, one=one)


UNTOLD_BOUNDARY_WORLDS: dict[str, Callable[[], World]] = {
    "rejection on a span that tells nothing else": partial(rejected_unseen, "error"),
    "output lost that a server has": but(failing_on_server, _OUTPUT_LOST),
    # Its turn had not ended.
    "guardrail of the turn that raised": but(raised_worlds.announced, _SECOND_UNTOLD),
    "the same staged on two pauses": staged_twice,
    "one thing and another staged": partial(staged_twice, second="Else."),
    "rejected in two ways": rejected_in_two_ways,
    "covered timeout": partial(call_worlds.timed, told="sha256:00"),
    "stopping at an object": stops_at_agent,
    "unknown tool in an agent tool": partial(in_vain, _ADD, call("none", "c2")),
    "refused in an agent tool": partial(in_vain, _ADD, check={"tripped": True}),
    "summary folded again": partial(folded, _CAME, "1. user: Some words"),
    "message folded": partial(folded, "Some words", "1. assistant: Some words"),
    "folded in another order": but(_line(_OBJECT), _streamed(_OBJECT, _OTHER_ORDER)),
    "folded and covered": partial(_covered, "sha256:01"),
    "stopping at a text": partial(stops_at_agent, False, '{"n":5}'),
}

UNTOLD_BOUNDARY_MINIATURES: tuple[Miniature, ...] = (
    Miniature("span_tree", "SPAN_TELLS_TOO_MUCH", partial(rejected_unseen, "input")),
    Miniature("span_tree", "SPAN_TELLS_TOO_MUCH", partial(rejected_unseen, "error"),
              on("rest", _also_nameless)),
    Miniature("span_truth", "SPAN_UNMARKED", worlds.failing, on("one", _open_agent),
              also={"span_tree": "SPAN_NOT_CLOSED"}),
    # A guardrail of a tool ends no run by tripping, so what later ones decide is told as well.
    Miniature("guardrail_results", "GUARDRAIL_RESULT_LOST", raised_worlds.out_of_turns, on(
        "one", both(change("guardrail_checked", tripped=True),
                    change("raised", guardrails=less(1))))),
    Miniature("stream_complete", "STREAM_ITEM_MISSING", raising_after, on("one", drop(
        "stream_event", name="message_output_created"), "run_streamed")),
    *(Miniature("exactly_once", "MISSING_EXECUTION", world, damage) for world, damage in (
        (partial(in_vain, _ADD, call("transfer_to_b", "h1")), None),
        (partial(in_vain, _ADD, call("none", "c2"),
                 run=dataclasses.replace(QUIET, unknown_tools="tell")), None),
        (partial(in_vain, _ADD, check={}), None),
        (partial(in_vain, _ADD), on("one", insert(_ELSEWHERE, before="tool_finished"))))),
    Miniature("handoff_history", "HANDOFF_HISTORY_LOST", partial(folded, "Some words")),
    *(Miniature("stream_parity", "MODEL_CALLS_DIFFER", _line(line), _streamed(line, other))
      for line, other in (("2. user: one", "2. user: two"), ('2. {"a": 1}', '2. {"a": 2}'),
                          ('2. {"a": 1}', '3. {"a": 1}'), ("2. {one}", "2. {two}"))),
    Miniature("stream_parity", "MODEL_CALLS_DIFFER", quoting, on(
        "one", change("model_called", 1, input=_requoted), "run_streamed"),
              also={"turn_input": "TURN_ITEM_LOST"}),
    Miniature("stream_parity", "MODEL_CALLS_DIFFER", asked_in_lines,
              _streamed(_OBJECT, _OTHER_ORDER, 0)),
    # Nothing is held against a phase that the first mode did not run.
    Miniature("execution_outcome", "PHASE_NOT_RUN", worlds.tools, lambda seen: Observation(tuple(
        run for run in seen.runs if (run.mode, run.phase) != ("run", "two")))),
    Miniature("stream_parity", "USAGES_DIFFER", tried_after, also={
        "usage_sum": "USAGE_DIFFERS", "model_script_consumed": "SCRIPT_NOT_CONSUMED"}),
    Miniature("staged_input", "STAGED_INPUT_REPEATED",
              partial(staged_twice, second="Else.", copies=2),
              also={"turn_input": "TURN_ITEM_ADDED"}),
    Miniature("rejection", "REJECTION_MESSAGE_DIFFERS", partial(
        call_worlds.decided, "never", "no")),
    Miniature("tool_timeout", "TIMEOUT_UNTOLD", partial(
        call_worlds.timed, told="sha256:00", timeout_text="too slow")),
    Miniature("stop_at_tool", "OUTPUT_NOT_THE_TOOLS", partial(stops_at_agent, False)),
)
