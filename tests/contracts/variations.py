"""Worlds whose plan was also run as a variant, and what is broken in that run alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    Item,
    ModelStep,
    Phase,
    ResumeInput,
    Session,
    Tool,
    ToolOutcome,
)
from agentrunproof.plan.relations import RELATIONS
from agentrunproof.plan.variants import variants
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns
from tests.contracts import worlds
from tests.contracts.damage import Damage, Edit, change, drop, insert, less, on
from tests.contracts.miniature import Miniature
from tests.contracts.play import Play, call, perform, say
from tests.contracts.worlds import QUIET, World

#: relation -> the one variant that is played, the mode it has, kinds of events that it lacks
_PLAYED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "sync": ("sync", "run_sync", ()), "hooks": ("hooks", "run", ("hook",)),
    "tracing": ("tracing", "run", ("span_started", "span_finished")),
    "state": ("state-memory", "run", ()), "approval": ("approval", "run", ()),
    "history": ("history", "run", ("session_read", "session_written"))}


def watched(relation: str, world: Callable[[], World]) -> World:
    """The world with a variant whose runs are those of the plan, as the relation has them."""
    plan, seen = world()
    name, mode, lacking = _PLAYED[relation]

    def varied(event: Event) -> Event:
        return event | {"via": "memory"} if relation == "state" and "via" in event else event

    runs = tuple(PhaseRun(mode, run.phase, tuple(
        varied(event) for event in run.events if event["kind"] not in lacking))
        for run in seen.in_mode("run"))
    return plan, replace(seen, variants=(VariantRuns(name, runs),))


def approved(session: Session | None = None) -> World:
    """A call that waits and one that does not; the run goes on when the former is approved."""
    pay = Tool(outcomes=(ToolOutcome(returns="paid"),), needs_approval=True)
    plan = worlds.plan(
        (Phase(id="pause", input=worlds.hi("x", {}).input,
               script={"a": (ModelStep(output=(Item(call="pay", id="c1"),
                                               Item(call="add", id="c2"))),)},
               expect=ExpectedOutcome(outcome="interrupted", pending=("c1",))),
         Phase(id="rest", script={"a": (ModelStep(output=(Item(say="done"),)),)},
               resume=ResumeInput(from_="pause", decisions=(Decision(call="c1"),)))),
        agents={"a": Agent(tools=("pay", "add"))}, tools={"pay": pay, "add": worlds.ADD},
        session=session)

    def turn(play: Play) -> None:
        play.turn(call("pay", "c1"), call("add", "c2"))

    def pause(play: Play) -> PhaseRun:
        turn(play)
        play.tool("add", "c2", "3")
        return play.pause(("pay", "c1"))

    def rest(play: Play) -> PhaseRun:
        play.tool("pay", "c1", "paid")
        return end(play)

    def end(play: Play) -> PhaseRun:
        play.turn(say("done"))
        return play.complete("done")

    def whole(play: Play) -> PhaseRun:
        turn(play)
        play.tool("pay", "c1", "paid")
        play.tool("add", "c2", "3")
        return end(play)

    (variant,) = (found for found in variants(plan) if found.relation == "approval")
    seen = perform(plan, pause=pause, rest=rest)
    return plan, replace(seen, variants=(
        VariantRuns("approval", perform(variant.plan, pause=whole).runs),))


def in_variant(phase: str, edit: Edit) -> Damage:
    """Apply `edit` to the variant's run of a phase only."""
    def damage(seen: Observation) -> Observation:
        (varied,) = seen.variants
        changed = on(phase, edit)(Observation(varied.runs))
        return replace(seen, variants=(replace(varied, runs=changed.runs),))

    return damage


def _cut_short(seen: Observation) -> Observation:
    (varied,) = seen.variants
    return replace(seen, variants=(replace(varied, runs=varied.runs[:-1]),))


#: code -> a world that has such a thing, the phase, and what makes the variant's run differ in it
_BROKEN: dict[str, tuple[Callable[[], World], str, Edit]] = {
    "OUTCOMES_DIFFER": (worlds.tools, "two", change("run_finished", outcome="cancelled")),
    "ERRORS_DIFFER": (worlds.failing, "one", change(
        "raised", error={"type": "RuntimeError", "message": "bang"})),
    "ERROR_DATA_DIFFERS": (worlds.failing, "one", change("raised", responses=less(-1))),
    "SESSION_CONTENTS_DIFFER": (worlds.tools, "two", change(
        "session_read", match={"op": "observe"}, items=less(-1))),
    "SESSION_WRITES_DIFFER": (worlds.tools, "two", insert(make("session_written", op="pop"))),
    "HANDOFFS_DIFFER": (lambda: worlds.handoff(run=QUIET), "one", drop("handoff")),
    "INTERRUPTIONS_DIFFER": (worlds.fork, "pause", change("interruption", arguments="[]")),
    "MODEL_CALLS_DIFFER": (worlds.tools, "one", change("model_called", settings={"store": True})),
    "TOOL_EXECUTIONS_DIFFER": (worlds.tools, "one", insert(
        make("tool_cancelled", tool="add", call="c1"))),
    "HOOKS_DIFFER": (worlds.tools, "one", change("hook", match={"on": "on_tool_end"}, output="4")),
    "GUARDRAILS_DIFFER": (worlds.guarded, "one", drop("guardrail_checked", stage="output")),
    "RESULTS_DIFFER": (worlds.tools, "one", change("result", guardrails=("g",))),
    "USAGES_DIFFER": (worlds.failing, "one", change("usage", input=0)),
}

_CHANGED_BY = {"hooks": {"HOOKS_DIFFER"}, "approval": {"HOOKS_DIFFER"},
               "history": {"SESSION_CONTENTS_DIFFER", "SESSION_WRITES_DIFFER"}}
#: A whole pause is held against one run, so what waits in between is no part of that.
_ELSEWHERE = {("approval", "INTERRUPTIONS_DIFFER"): (approved, "pause", insert(
    make("interruption", call="c1", tool="pay")))}

RELATED: tuple[Miniature, ...] = (
    *(Miniature(f"relation_{relation}", code, partial(watched, relation, world),
                in_variant(phase, edit))
      for relation in RELATIONS for code, (world, phase, edit) in _BROKEN.items()
      if code not in _CHANGED_BY.get(relation, ()) and (relation, code) not in _ELSEWHERE),
    *(Miniature(f"relation_{relation}", code, world, in_variant(phase, edit))
      for (relation, code), (world, phase, edit) in _ELSEWHERE.items()),
    *(Miniature(f"relation_{relation}", "VARIANT_UNOBSERVED",
                partial(watched, relation, worlds.tools), _cut_short) for relation in RELATIONS),
    Miniature("relation_approval", "TOOL_EXECUTIONS_DIFFER", approved,
              in_variant("pause", drop("tool_finished", call="c1"))),
    Miniature("relation_approval", "RESULTS_DIFFER", approved,
              in_variant("pause", change("result", final_output="other"))),
)

WATCHED: dict[str, Callable[[], World]] = {
    **{f"watched for {relation}": partial(watched, relation, worlds.tools)
       for relation in RELATIONS if relation != "state"},
    "watched for state": partial(watched, "state", worlds.twins), "approved": approved}
