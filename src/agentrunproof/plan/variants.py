"""Variants of a plan: other plans whose runs must come to the same.

`vary` rewrites a plan once for each relation of `plan.relations`, or says why the relation does
not hold for that plan. It is pure, so whoever reads a record derives the variants again. A
variant has one mode, that of the run it is compared with, but for ``sync``. Each takes as long as
the plan itself, so sync, hooks and tracing share one wherever the plan has hooks to leave out.

Where nothing promises that the runs are alike, there is no variant: what the scheduler may choose
(cancelled streams), what foreign Python may remember of an earlier run, hooks that take part in
the plan, filters that make of a history something else than what the session keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace

from agentrunproof.errors import PlanError
from agentrunproof.plan import rules
from agentrunproof.plan.items import response_id
from agentrunproof.plan.model import (
    MODEL_ITEM_KINDS,
    ExpectedOutcome,
    Item,
    LiteralInput,
    Mode,
    ModelStep,
    Phase,
    Plan,
    Run,
    Via,
)
from agentrunproof.plan.relations import RELATIONS

_GATES = ("after", "opens", "opens_done", "enabled_until")


@dataclass(frozen=True)
class Variant:
    """A plan that must come to the same as the one it was made of.

    Args:
        relation: which one says so.
        name: the relation, and which of several variants it is.
        plan: what is run.
    """

    relation: str
    name: str
    plan: Plan


@dataclass(frozen=True)
class Unfit:
    """A relation that is not watched on a plan, and why."""

    relation: str
    reason: str


class _NoVariant(Exception):
    """Why a relation has no variant of a plan."""


def variants(plan: Plan) -> tuple[Variant, ...]:
    """The variants of a plan, in the order in which they are run."""
    return tuple(made for made in vary(plan) if isinstance(made, Variant))


def vary(plan: Plan) -> Iterator[Variant | Unfit]:
    """The variants of a plan, and the relations that have none, in the order of `RELATIONS`."""
    for relation in RELATIONS:
        yield from _of(plan, relation)


def _of(plan: Plan, relation: str) -> Iterator[Variant | Unfit]:
    try:
        if relation in plan.relations:
            raise _NoVariant(f"the plan forbids it: {plan.relations[relation]}")
        _refuse_any(plan)
        for name, varied in _REWRITERS[relation](plan):
            yield Variant(relation, name, _sound(varied))
    except _NoVariant as reason:
        yield Unfit(relation, str(reason))


def base_mode(plan: Plan) -> Mode:
    """The mode whose runs the variants are compared with: one that reads streams if told how."""
    if any(phase.reader is not None for phase in plan.phases):
        return "run_streamed"
    return "run" if "run" in plan.modes else plan.modes[0]


def chain(plan: Plan, phase: Phase) -> tuple[Phase, ...]:
    """The phase and those that go on from it, of several branches the first that only approves."""
    found = [phase]
    for later in plan.phases:
        if later.resume is not None and later.resume.from_ == found[-1].id and all(
                decision.approve for decision in later.resume.decisions):
            found.append(later)
    return tuple(found)


def _refuse_any(plan: Plan) -> None:
    """What stands against every relation."""
    if plan.calls:
        raise _NoVariant("the plan calls functions, nothing is run")
    if next(plan.python_refs(), None) is not None:
        raise _NoVariant("foreign Python may remember an earlier run")
    if any(phase.cancel is not None for phase in plan.phases):
        raise _NoVariant("how far a run has come when it is cancelled is the scheduler's choice")


def _sound(plan: Plan) -> Plan:
    try:
        rules.check(plan)
    except PlanError as error:
        raise _NoVariant(f"the other plan would contradict itself: {error.message}") from None
    return plan


Named = Iterator[tuple[str, Plan]]


def _sync(plan: Plan) -> Named:
    varied = _synchronous(plan)
    if _in_one(plan):
        raise _NoVariant("the run without hooks is the synchronous one, too")
    yield "sync", varied


def _hooks(plan: Plan) -> Named:
    varied = _without_hooks(plan)
    for relation, change in (("sync", _synchronous), ("tracing", _untraced)):
        if _in_one(plan) and relation not in plan.relations:
            with suppress(_NoVariant):
                varied = change(varied)
    yield "hooks", varied if varied.modes == ("run_sync",) else _in_base_mode(varied)


def _tracing(plan: Plan) -> Named:
    varied = _in_base_mode(_untraced(plan))
    if _in_one(plan):
        raise _NoVariant("the run without hooks is not traced either")
    yield "tracing", varied


def _in_one(plan: Plan) -> bool:
    """Whether the three relations share a variant, for each would cost as much as a run."""
    try:
        _without_hooks(plan)
    except _NoVariant:
        return False
    return "hooks" not in plan.relations


def _synchronous(plan: Plan) -> Plan:
    if "run_sync" in plan.modes:
        raise _NoVariant("the plan is run in that mode, where stream_parity compares it")
    if "run" not in plan.modes:
        raise _NoVariant("the plan has no awaited run to compare with")
    return replace(plan, modes=("run_sync",), phases=tuple(
        replace(phase, reader=None) for phase in plan.phases))


def _without_hooks(plan: Plan) -> Plan:
    if plan.run.hooks == "none":
        raise _NoVariant("the plan has no hooks")
    for field in fields(Run):
        if field.name.startswith("hook_") and getattr(plan.run, field.name) != field.default:
            raise _NoVariant(f"the hooks take part in the run ({field.name})")
    return replace(plan, run=replace(plan.run, hooks="none"))


def _untraced(plan: Plan) -> Plan:
    if not plan.run.tracing:
        raise _NoVariant("the plan does without tracing")
    return replace(plan, run=replace(plan.run, tracing=False, sensitive_traces=True))


def _state(plan: Plan) -> Named:
    resumed = [(phase.resume.from_, phase.resume.branch) for phase in plan.phases
               if phase.resume is not None]
    if not resumed:
        raise _NoVariant("nothing is resumed")
    if len(set(resumed)) < len(resumed):
        raise _NoVariant("a state that is run twice is another one in memory than when stored")
    base = _in_base_mode(plan)
    for via in _ways(plan):
        varied = replace(base, phases=tuple(
            phase if phase.resume is None else replace(
                phase, resume=replace(phase.resume, via=via)) for phase in plan.phases))
        if varied != base:
            yield f"state-{via}", varied


def _ways(plan: Plan) -> tuple[Via, ...]:
    """The ways that tell something: a text is the JSON and read as that, but by a process that
    knows nothing of the runs of agent tools."""
    taken = {phase.resume.via for phase in plan.phases if phase.resume is not None}
    runs_agents = any(tool.agent is not None for tool in plan.tools.values())
    return ("memory", "string") if "memory" in taken or runs_agents else ("memory",)


def _approval(plan: Plan) -> Named:
    if not any(tool.needs_approval for tool in plan.tools.values()):
        raise _NoVariant("no call needs approval")
    if any(phase.resume is not None and phase.resume.add for phase in plan.phases):
        raise _NoVariant("input is staged during a pause")
    if any(phase.failing_write is not None for phase in plan.phases):
        raise _NoVariant("the session fails to write during a phase")
    if plan.run.max_tools_at_once is not None:
        raise _NoVariant("calls that wait for others are approved at other times")
    if plan.run.pre_approval_guardrails:
        raise _NoVariant("guardrails check a call before it waits")
    if _uses_gates(plan):
        raise _NoVariant("gates are closed again when a run is resumed")
    if any(agent.tool_use_behavior != "run_llm_again" for agent in plan.agents.values()):
        raise _NoVariant("which of several calls ends the run depends on what waits")
    chains = [chain(plan, phase) for phase in plan.phases if phase.resume is None]
    if any(part.expect.outcome == "raised" for parts in chains for part in parts[1:]):
        raise _NoVariant("a turn that fails leaves more behind where the run has paused in it")
    if any(phase.expect.outcome == "raised" and _asks_approval(plan, phase)
           for phase in plan.phases):
        raise _NoVariant("a run that fails before it pauses has not run what was to wait")
    begins = {part.id: parts[0].id for parts in chains for part in parts}
    if plan.session is not None and len(begins) < len(plan.phases):
        raise _NoVariant("a run that has no part in it writes to the session")
    yield "approval", replace(
        _in_base_mode(plan),
        phases=tuple(_following(_fused(plan, parts), begins) for parts in chains),
        tools={name: replace(tool, needs_approval=False) for name, tool in plan.tools.items()})


def _history(plan: Plan) -> Named:
    if plan.session is None:
        raise _NoVariant("the plan has no session")
    if plan.run.session_input is not None:
        raise _NoVariant("the run joins history and input in a way of its own")
    if any(phase.failing_write is not None for phase in plan.phases):
        raise _NoVariant("the session fails to write")
    if plan.session.limit is not None:
        raise _NoVariant("a limited session gives less than the history")
    if any(guardrail.kind == "input" for guardrail in plan.guardrails.values()):
        raise _NoVariant("input guardrails check the new input only where there is a session")
    if plan.run.nest_handoff_history or plan.run.handoff_filter != "none" or any(
            handoff.filter != "none" or handoff.nest_history is not None
            for handoff in plan.handoffs.values()):
        raise _NoVariant("a handoff passes on another history than the session keeps")
    if len(plan.phases) == 1 and not plan.session.items:
        raise _NoVariant("no run has a history")
    stored = [item.id for item in plan.session.items if item.call is not None]
    if any(call not in [item.of for item in plan.session.items] for call in stored):
        raise _NoVariant("a call of a session that has no output is left out, one handed on is not")
    phases = tuple(_handed(plan, n) for n in range(len(plan.phases)))
    yield "history", replace(_in_base_mode(plan), session=None, phases=phases)


_REWRITERS: dict[str, Callable[[Plan], Named]] = {
    "sync": _sync, "hooks": _hooks, "tracing": _tracing, "state": _state,
    "approval": _approval, "history": _history}


def _in_base_mode(plan: Plan) -> Plan:
    return replace(plan, modes=(base_mode(plan),))


def _uses_gates(plan: Plan) -> bool:
    steps = [step for phase in plan.phases for turns in phase.script.values() for step in turns]
    return any(getattr(part, gate, None) is not None for gate in _GATES
               for part in (*plan.tools.values(), *plan.guardrails.values(), *steps))


def _fused(plan: Plan, parts: tuple[Phase, ...]) -> Phase:
    """A pause and what was approved upon it as one run."""
    first, *rest = parts
    place = plan.phases.index(first)
    if plan.session is not None and plan.phases[place:place + len(parts)] != parts:
        raise _NoVariant("other runs write to the session between a pause and its end")
    if parts[-1].expect.outcome == "interrupted":
        raise _NoVariant("not every call was approved")
    if any((part.context, part.max_turns) != (None, None) for part in rest):
        raise _NoVariant("the resumed run has a context or a limit of its own")
    script: dict[str, tuple[ModelStep, ...]] = {}
    for part in parts:
        for agent, steps in part.script.items():
            script[agent] = script.get(agent, ()) + tuple(
                _named(plan, part, agent, n) for n in range(len(steps)))
    return replace(first, script=script, probe=None, expect=_bare(parts[-1].expect))


def _named(plan: Plan, phase: Phase, agent: str, n: int) -> ModelStep:
    """A turn with the ids that it has in its place, to keep them in another one."""
    step = phase.script[agent][n]
    return replace(step, response_id=response_id(phase, agent, n), output=tuple(
        _with_id(item, f"{phase.id}-{agent}-{n}-{number}")
        for number, item in enumerate(step.output)))


def _with_id(item: Item, place: str) -> Item:
    return replace(item, id=item.id or place) if item.kind in MODEL_ITEM_KINDS else item


def _asks_approval(plan: Plan, phase: Phase) -> bool:
    """Whether a model calls a tool in the phase that needs approval."""
    return any(item.call in plan.tools and plan.tools[item.call].needs_approval
               for steps in phase.script.values() for step in steps for item in step.output
               if item.call is not None)


def _following(phase: Phase, begins: dict[str, str]) -> Phase:
    """The phase after the run that now does what the one it followed did."""
    if phase.input is None or phase.input.follow is None:
        return phase
    if phase.input.follow not in begins:
        raise _NoVariant("a run follows one whose calls were not all approved")
    return replace(phase, input=replace(phase.input, follow=begins[phase.input.follow]))


def _handed(plan: Plan, n: int) -> Phase:
    """The nth phase, starting from the history that it found in the session."""
    phase = replace(plan.phases[n], expect=_bare(plan.phases[n].expect), probe=None)
    before = plan.phases[n - 1] if n else None
    if phase.resume is not None:
        if before is None or phase.resume.from_ != before.id:
            raise _NoVariant("a pause is resumed after other runs")
        return phase
    assert phase.input is not None
    assert plan.session is not None
    if phase.input.follow is not None:
        raise _NoVariant("a run is handed a history beside that of the session")
    if before is None:
        earlier = tuple(_with_id(item, f"session-{number}")
                        for number, item in enumerate(plan.session.items))
        return replace(phase, input=_after(earlier, phase)) if earlier else phase
    if before.expect.outcome != "completed":
        raise _NoVariant("an earlier run leaves no whole history")
    return replace(phase, input=replace(phase.input, follow=before.id))


def _after(earlier: tuple[Item, ...], phase: Phase) -> LiteralInput:
    """The phase's input with these items before it."""
    assert phase.input is not None
    own = tuple(_with_id(item, f"{phase.id}-input-{n}")
                for n, item in enumerate(phase.input.items))
    if phase.input.text is not None:
        own = (Item(user=phase.input.text),)
    return LiteralInput(items=(*earlier, *own))


def _bare(expect: ExpectedOutcome) -> ExpectedOutcome:
    """How the phase must end, and nothing that names other phases or the session."""
    return ExpectedOutcome(outcome=expect.outcome, error=expect.error)
