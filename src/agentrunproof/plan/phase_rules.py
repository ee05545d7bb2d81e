"""Rules about phases: their order, their scripts, their decisions and what they expect."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from agentrunproof.plan.items import ITEM_LABELS, phase_input, script_items, session_items
from agentrunproof.plan.model import (
    ITEM_KINDS,
    MODEL_ITEM_KINDS,
    Item,
    ModelStep,
    Phase,
    Plan,
    Reader,
    ResumeInput,
)
from agentrunproof.plan.problem import Problem, repeated, seconds_problems, unknown
from agentrunproof.shape import encode

MAX_PHASES = 64
MAX_STEPS = 500
MAX_ITEMS = 200

#: Names of the SDK's stream events: `RunItemStreamEvent.name`, and the update of the agent.
STREAM_EVENTS = frozenset({
    "message_output_created", "handoff_requested", "handoff_occured", "tool_called",
    "tool_search_called", "tool_search_output_created", "tool_output",
    "reasoning_item_created", "mcp_approval_requested", "mcp_approval_response",
    "mcp_list_tools", "agent_updated_stream_event"})

_MESSAGE_INPUTS = frozenset({"user", "system", "developer"})


def history_problems(plan: Plan) -> Iterator[Problem]:
    """Problems of the session as it is declared."""
    if plan.session is None:
        return
    if (plan.session.kind == "python") != (plan.session.python is not None):
        yield Problem("PLAN_CONTRADICTION", "session.python", "goes with kind = \"python\"")
    yield from seconds_problems(plan.session, ("delay",), "session")
    for n, item in enumerate(plan.session.items):
        yield from _item_problems(item, ITEM_KINDS, f"session.items[{n}]")


def phase_problems(plan: Plan) -> Iterator[Problem]:
    """Problems of the phases, in their order."""
    if not plan.phases:
        yield Problem("PLAN_EMPTY", "phases", "a plan has at least one phase")
    if len(plan.phases) > MAX_PHASES:
        yield Problem("PLAN_LIMIT", "phases", f"more than {MAX_PHASES}")
    yield from repeated("phases", (phase.id for phase in plan.phases), "the id")
    for n, phase in enumerate(plan.phases):
        place = f"phases[{n}]"
        earlier = {before.id: before for before in plan.phases[:n]}
        yield from _start_problems(plan, phase, earlier, place)
        yield from _script_problems(plan, phase, f"{place}.script")
        calls = lineage_calls(plan, phase)
        yield from repeated(f"{place}.script", _calls(plan, _chain(plan, phase)),
                            "lets one run make call")
        yield from _decision_problems(plan, phase, earlier, place)
        yield from _expect_problems(plan, phase, calls, f"{place}.expect")


def lineage(plan: Plan, phase: Phase) -> list[Phase]:
    """The phases whose items a phase carries, itself last: what it resumes, what it follows.

    A session carries the items of every phase before.
    """
    if plan.session is not None:
        branch = _chain(plan, phase)
        rest = [before for before in plan.phases[:plan.phases.index(phase)]
                if before not in branch and before.resume is None]
        return [*rest, *branch]
    return _chain(plan, phase)


def _chain(plan: Plan, phase: Phase) -> list[Phase]:
    found = [phase]
    before = {item.id: item for item in plan.phases[:plan.phases.index(phase)]}
    while True:
        at = found[0]
        source = at.resume.from_ if at.resume else at.input.follow if at.input else None
        if source is None or source not in before or before[source] in found:
            return found
        found.insert(0, before[source])


def lineage_calls(plan: Plan, phase: Phase) -> list[str]:
    """Ids of all calls in the history of a phase and in its script, in order."""
    return _calls(plan, lineage(plan, phase))


def _calls(plan: Plan, parts: list[Phase]) -> list[str]:
    """Ids of all calls in the session's first items and in these phases, in order.

    An input may repeat a call word for word, as whoever sends a history twice does. A run that
    merely finds another one in its session may use its ids again: the SDK wants them unique "for
    the lifetime of the run and its serialized resume lineage" (agents.Model).
    """
    items = session_items(plan)
    for part in parts:
        for item in phase_input(part) if part.input is not None else ():
            if item not in items:
                items.append(item)
        for agent, steps in part.script.items():
            for step in range(len(steps)):
                items += script_items(plan, part, agent, step)
    return [item["call_id"] for item in items if item.get("type") == "function_call"]


def _start_problems(plan: Plan, phase: Phase, earlier: dict[str, Phase],
                    place: str) -> Iterator[Problem]:
    if sum(given is not None for given in (phase.input, phase.resume, phase.call)) != 1:
        yield Problem("PLAN_CONTRADICTION", place, "a phase has either input or resume or call")
    if phase.agent is not None and phase.agent not in plan.agents:
        yield unknown(f"{place}.agent", "agent", phase.agent, plan.agents)
    if phase.input is not None:
        given = [key for key in ("text", "items") if encode(phase.input).get(key) is not None]
        if len(given) > 1 or (not given and phase.input.follow is None):
            yield Problem("PLAN_CONTRADICTION", f"{place}.input", "is either a text or items")
        for n, item in enumerate(phase.input.items):
            yield from _item_problems(item, ITEM_KINDS, f"{place}.input.items[{n}]")
        yield from _source_problems(phase.input.follow, earlier, f"{place}.input.follow",
                                    ("completed", "interrupted", "cancelled"))
    if phase.resume is not None:
        yield from _source_problems(phase.resume.from_, earlier, f"{place}.resume.from",
                                    ("interrupted",))
        yield from _branch_problems(phase.resume, earlier, f"{place}.resume.via")
    if phase.probe is not None:
        if phase.expect.outcome != "interrupted":
            yield Problem("PLAN_CONTRADICTION", f"{place}.probe",
                          "only an interrupted phase has a state to probe",
                          "expect = { outcome = \"interrupted\" }")
        yield from repeated(f"{place}.probe.via", phase.probe.via)
    if phase.failing_write is not None and plan.session is None:
        yield Problem("PLAN_CONTRADICTION", f"{place}.failing_write", "the plan has no session")
    if phase.cancel is not None:
        yield from _cancel_problems(plan, phase.cancel.when, f"{place}.cancel")
        if phase.cancel.mode == "task" and any(
                guardrail.cleanup is not None for guardrail in plan.guardrails.values()):
            yield Problem("PLAN_CONTRADICTION", f"{place}.cancel.mode", "nobody waits for a "
                          "guardrail that takes its time to stop when a task is cancelled",
                          "leave the cleanup out")
    if phase.reader is not None:
        yield from _reader_problems(plan, phase, phase.reader, f"{place}.reader")


def _source_problems(name: str | None, earlier: dict[str, Phase], place: str,
                     outcomes: tuple[str, ...]) -> Iterator[Problem]:
    if name is None:
        return
    if name not in earlier:
        yield unknown(place, "earlier phase", name, earlier)
    elif earlier[name].expect.outcome not in outcomes:
        yield Problem("PLAN_CONTRADICTION", place,
                      f"phase {name!r} is expected to be {earlier[name].expect.outcome}",
                      f"its expect must say outcome = \"{outcomes[0]}\"")


def _branch_problems(resume: ResumeInput, earlier: dict[str, Phase],
                     place: str) -> Iterator[Problem]:
    for other in earlier.values():
        same = other.resume
        if same is not None and (same.from_, same.branch) == (resume.from_, resume.branch) \
                and same.via != resume.via:
            yield Problem("PLAN_CONTRADICTION", place,
                          f"branch {resume.branch!r} of {resume.from_!r} travels via "
                          f"{same.via!r} in phase {other.id!r}", "use another branch name")


def _cancel_problems(plan: Plan, when: str, place: str) -> Iterator[Problem]:
    if plan.modes != ("run_streamed",):
        yield Problem("PLAN_CONTRADICTION", place, "only a streamed run can be cancelled",
                      "modes = [\"run_streamed\"]")
    if when not in STREAM_EVENTS and not when.startswith("response."):
        yield unknown(f"{place}.when", "stream event", when, STREAM_EVENTS)


def _reader_problems(plan: Plan, phase: Phase, reader: Reader, place: str) -> Iterator[Problem]:
    if "run_streamed" not in plan.modes:
        yield Problem("PLAN_CONTRADICTION", place, "only a streamed run is read",
                      "modes = [\"run_streamed\"]")
    waits = reader.begins_after is not None or reader.delay is not None
    if reader.events != waits:
        yield Problem("PLAN_CONTRADICTION", place,
                      "is for a consumer that waits, or one that reads no events",
                      "begins_after or delay in seconds, or events = false")
    if phase.cancel is not None and phase.cancel.mode == "task" and reader.delay is not None:
        yield Problem("PLAN_CONTRADICTION", f"{place}.delay", "a task that is cancelled while it "
                      "deals with an event does not tell the stream", "leave the delay out")
    if phase.cancel is not None and not reader.events:
        yield Problem("PLAN_CONTRADICTION", f"{place}.events",
                      "a consumer that sees no event cannot cancel at one")
    yield from seconds_problems(reader, ("begins_after", "delay"), place)


def _script_problems(plan: Plan, phase: Phase, place: str) -> Iterator[Problem]:
    for agent, steps in phase.script.items():
        here = f"{place}.{agent}"
        if agent not in plan.agents:
            yield unknown(here, "agent", agent, plan.agents)
            continue
        if len(steps) > MAX_STEPS:
            yield Problem("PLAN_LIMIT", here, f"more than {MAX_STEPS} steps")
        for n, step in enumerate(steps):
            yield from _step_problems(plan, agent, step, f"{here}[{n}]")


def _step_problems(plan: Plan, agent: str, step: ModelStep, place: str) -> Iterator[Problem]:
    if len(step.output) > MAX_ITEMS:
        yield Problem("PLAN_LIMIT", f"{place}.output", f"more than {MAX_ITEMS} items")
    if step.hang and (step.output or step.error is not None):
        yield Problem("PLAN_CONTRADICTION", f"{place}.hang",
                      "a model that never answers has neither output nor error")
    targets = {plan.handoffs[name].to if name in plan.handoffs else name
               for name in plan.agents[agent].handoffs}
    for n, item in enumerate(step.output):
        here = f"{place}.output[{n}]"
        yield from _item_problems(item, MODEL_ITEM_KINDS, here)
        if item.handoff is not None and item.handoff not in targets:
            known = unknown(f"{here}.handoff", f"handoff of {agent!r} to", item.handoff, targets)
            yield known._replace(hint=known.hint + "; a call of an unknown transfer function is "
                                                   "written call = \"transfer_to_...\"")


def _item_problems(item: Item, kinds: Collection[str], place: str) -> Iterator[Problem]:
    given = item.kinds
    if len(given) != 1:
        found = " and ".join(given) or "none"
        yield Problem("PLAN_ITEM", place, f"an item is one of {', '.join(ITEM_KINDS)}; "
                                          f"found {found}")
        return
    kind = given[0]
    if kind not in kinds:
        yield Problem("PLAN_ITEM", f"{place}.{kind}", "is not something a model outputs",
                      "a model's item is " + ", ".join(sorted(kinds)))
    calls = kind in ("call", "handoff")
    if item.more and kind != "say":
        yield Problem("PLAN_ITEM", f"{place}.more", "goes with say: texts of its further parts")
    if item.arguments is not None and not calls:
        yield Problem("PLAN_ITEM", f"{place}.arguments", "goes with call or handoff")
    if (item.of is not None) != (kind == "output"):
        yield Problem("PLAN_ITEM", f"{place}.of", "goes with output: the id of the call it answers")
    if item.id is not None and kind in (*_MESSAGE_INPUTS, "output"):
        yield Problem("PLAN_ITEM", f"{place}.id", f"a {kind} item has no id", "leave it out")


def _decision_problems(plan: Plan, phase: Phase, earlier: dict[str, Phase],
                       place: str) -> Iterator[Problem]:
    resume = phase.resume
    if resume is None or resume.from_ not in earlier:
        return
    here = f"{place}.resume.decisions"
    source = earlier[resume.from_]
    waiting = source.expect.pending or lineage_calls(plan, source)
    for n, decision in enumerate(resume.decisions):
        if decision.call not in waiting:
            yield unknown(f"{here}[{n}].call", "pending call", decision.call, waiting)
        if decision.message is not None and decision.approve:
            yield Problem("PLAN_CONTRADICTION", f"{here}[{n}].message",
                          "is for a rejection", "approve = false")


def _expect_problems(plan: Plan, phase: Phase, calls: list[str], place: str) -> Iterator[Problem]:
    expect = phase.expect
    for key, outcomes in (("error", ("raised",)), ("pending", ("interrupted",)),
                          ("final_output", ("completed",)),
                          ("last_agent", ("completed", "interrupted", "cancelled"))):
        if getattr(expect, key) is not None and expect.outcome not in outcomes:
            yield Problem("PLAN_CONTRADICTION", f"{place}.{key}",
                          f"cannot be with outcome {expect.outcome!r}",
                          f"it goes with {' or '.join(outcomes)}")
    if expect.session is not None and plan.session is None:
        yield Problem("PLAN_CONTRADICTION", f"{place}.session", "the plan has no session")
    for key, what, names, known in (
            ("last_agent", "agent", (expect.last_agent,), plan.agents),
            ("tool_calls", "tool", expect.tool_calls, plan.tools),
            ("model_calls", "agent", expect.model_calls, plan.agents),
            ("pending", "call", expect.pending, calls),
            ("outputs", "call", expect.outputs, calls),
            ("sees", "agent", [seen.agent for seen in expect.sees], plan.agents)):
        for name in names or ():
            if name is not None and name not in known:
                yield unknown(f"{place}.{key}", what, name, known)
    yield from repeated(f"{place}.pending", expect.pending or (), "call")
    yield from repeated(f"{place}.sees", (f"{seen.agent}[{seen.call}]" for seen in expect.sees))
    for n, seen in enumerate(expect.sees):
        yield from _label_problems(seen.items, f"{place}.sees[{n}].items")
    yield from _label_problems(expect.session or (), f"{place}.session")


def _label_problems(labels: tuple[str, ...], place: str) -> Iterator[Problem]:
    for n, text in enumerate(labels):
        if text.partition(":")[0] not in ITEM_LABELS or ":" not in text:
            yield Problem("PLAN_LABEL", f"{place}[{n}]", f"{text!r} is not an item's label",
                          "such as " + ", ".join(f"{word}:..." for word in ITEM_LABELS))
