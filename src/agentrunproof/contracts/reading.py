"""Reading a run: what more than one contract asks of a plan and its events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agentrunproof.plan.items import block_text, item_text, label, transfer_name
from agentrunproof.plan.model import Cancel, Decision, Phase, Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Item = dict[str, Any]

#: What a declared failure of a tool is raised as: itself, or what the SDK or an MCP server makes of
#: it, which tells its message.
FAILURE_TYPES = ("ToolFailure", "UserError", "AgentsException", "McpError", "MCPError")

#: Outcomes after which nothing more is promised about what the run left behind.
CUT_SHORT = frozenset({"cancelled", "timeout"})


@dataclass(frozen=True)
class Turn:
    """One model call and its answer; `output` is None when the model failed or never answered."""

    agent: str
    parent: str
    input: tuple[Item, ...]
    output: tuple[Item, ...] | None


def so_far(seen: Observation, run: PhaseRun) -> tuple[PhaseRun, ...]:
    """The run and those before it in its mode: what they leave behind is what it starts from."""
    runs = seen.in_mode(run.mode)
    return runs[:runs.index(run) + 1]


def lineage(plan: Plan, seen: Observation, run: PhaseRun) -> tuple[PhaseRun, ...]:
    """The run and those that it continues, oldest first: what paused, and what could not write.

    A state in memory that was run and whose session failed to write holds what that run did: "The
    SDK does not execute completed tools, tool guardrails, hooks, or handoffs again."
    (https://openai.github.io/openai-agents-python/results/#recover-a-failed-resumed-session-write)
    """
    chain = [run]
    phase = plan.phase(run.phase)
    while phase.resume is not None:
        chain[:0] = [other for other in seen.in_mode(run.mode) if other.of("session_failed")
                     and recovers(plan, phase, plan.phase(other.phase))]
        phase = plan.phase(phase.resume.from_)
        chain[:0] = [other for other in seen.in_mode(run.mode) if other.phase == phase.id]
    return tuple(chain)


def recovers(plan: Plan, phase: Phase, earlier: Phase) -> bool:
    """Whether a phase runs the very state that an earlier one has run."""
    a, b = phase.resume, earlier.resume
    return a is not None and b is not None and a.via == "memory" and (
        (a.from_, a.branch) == (b.from_, b.branch)
        and plan.phases.index(earlier) < plan.phases.index(phase))


def turns(run: PhaseRun) -> list[Turn]:
    """The model calls of a run with their answers, in the order of the calls."""
    found: list[Turn] = []
    waiting: dict[tuple[str, str], int] = {}
    for event in run.of("model_called", "model_responded"):
        lane = (event["agent"], event["parent"])
        if event["kind"] == "model_called":
            waiting[lane] = len(found)
            found.append(Turn(*lane, tuple(event["input"]), None))
        elif lane in waiting:
            position = waiting.pop(lane)
            found[position] = Turn(*lane, found[position].input, tuple(event["output"]))
    return found


def retries(plan: Plan, run: PhaseRun) -> list[Event]:
    """Model calls with which the Runner tries a failed one again, as the plan lets it."""
    found: list[Event] = []
    failed: dict[tuple[str, str], bool] = {}
    for event in run.of("model_called", "model_failed"):
        lane = (event["agent"], event["parent"])
        if plan.run.retries is not None and event["kind"] == "model_called" and failed.get(lane):
            found.append(event)
        failed[lane] = event["kind"] == "model_failed"
    return found


def told_too_much(plan: Plan, run: PhaseRun, agent: str) -> bool:
    """Whether a model call of the agent may fail when its stream has told something.

    Nobody can take that back, so the Runner does not try such a call again.
    """
    steps = plan.phase(run.phase).script.get(agent, ())
    return any(step.error is not None and step.output for step in steps)


def made_call(runs: Iterable[PhaseRun], call: str) -> Event | None:
    """The answer in which a model made the call `call`."""
    for run in runs:
        for event in run.of("model_responded"):
            if any(item.get("call_id") == call for item in event["output"]):
                return event
    return None


def finished_calls(runs: Iterable[PhaseRun]) -> set[str]:
    """Ids of the outermost calls whose tool has ended and given an output that may be told."""
    return {event["call"] for run in runs for event in run.of("tool_finished")
            if not event["parent"] and event["call"] not in refused_outputs(run)}


def refused_outputs(run: PhaseRun) -> set[str]:
    """Ids of the calls whose output a guardrail of the tool refused by raising.

    "raise_exception: Halt execution by raising a ToolGuardrailTripwireTriggered exception"
    (https://openai.github.io/openai-agents-python/ref/tool_guardrails/)
    """
    return {event["call"] for event in run.of("guardrail_checked")
            if event["stage"] == "tool_output" and event["behavior"] == "raise_exception"}


def refused_input(run: PhaseRun) -> bool:
    """Whether a guardrail refused what the run was to work on, a tool beside it may have ended.

    One that fails and so ends the run has not let the input pass either.
    """
    raised = run.last("raised")
    return raised is not None and (
        raised["error"].get("type") == "InputGuardrailTripwireTriggered"
        or any(event["stage"] == "input" and not event["parent"]
               and event["error"] == raised["error"] for event in run.of("guardrail_checked")))


def out_of_turns(plan: Plan, run: PhaseRun) -> bool:
    """Whether the run raised because its own turns ran out, not those of an agent tool in it."""
    raised = run.last("raised")
    return raised is not None and raised["error"].get("type") == "MaxTurnsExceeded" and not any(
        event["error"] == raised["error"] and event["tool"] in plan.tools
        and plan.tools[event["tool"]].failure == "raise" for event in run.of("tool_failed"))


def pending(run: PhaseRun) -> tuple[str, ...]:
    """Call ids that wait for a decision when the run ends, in order."""
    return tuple(event["call"] for event in run.of("interruption"))


def decisions(plan: Plan, phase: Phase) -> list[Decision]:
    """Every decision declared up to this phase on its way from the first pause, oldest first.

    Phases that resume the same branch of the same pause share a state, so their decisions add up.
    """
    if phase.resume is None:
        return []
    found = decisions(plan, plan.phase(phase.resume.from_))
    for other in plan.phases:
        if other.resume is not None and (other.resume.from_, other.resume.branch) == (
                phase.resume.from_, phase.resume.branch):
            found.extend(other.resume.decisions)
        if other is phase:
            break
    return found


def decided(plan: Plan, runs: tuple[PhaseRun, ...], call: str, tool: str) -> bool | None:
    """The declared decision on a call in the last of a lineage's runs, None for none.

    A decision on the call itself goes before one that was made for `always` of its tool
    (openai-agents-python#4447), which is one on the tool of the agent that asked, not on another
    agent's of that name (from SDK 0.23.1).
    """
    made = decisions(plan, plan.phase(runs[-1].phase))
    exact = [decision.approve for decision in made if decision.call == call]
    if exact:
        return exact[-1]
    tools = {event["call"]: event["tool"] for run in runs for event in run.of("interruption")}
    sticky = [decision.approve for decision in made
              if decision.always and tools.get(decision.call) == tool
              and _asker(runs, decision.call) == _asker(runs, call)]
    return sticky[-1] if sticky else None


def _asker(runs: Iterable[PhaseRun], call: str) -> str | None:
    """The agent whose model made the call."""
    answer = made_call(runs, call)
    return str(answer["agent"]) if answer is not None else None


def new_items(event: Event | None) -> list[Item] | None:
    """The conversation items among the new items of a result or an exception."""
    if event is None or event["new_items"] is None:
        return None
    return [entry["item"] for entry in event["new_items"]
            if "item" in entry and entry.get("type") != "tool_approval_item"]


def model_said(run: PhaseRun, text: str | None) -> bool:
    """Whether a model happened to say what an error handler would."""
    return any(label(item) == f"assistant:{text}" for event in run.of("model_responded")
               for item in event["output"])


def among_new_items(result: Event | None, text: str | None) -> bool:
    """Whether the new items of a result hold what an error handler supplied."""
    return f"assistant:{text}" in map(label, new_items(result) or ())


def races(plan: Plan, run: PhaseRun) -> bool:
    """Whether a guardrail beside the first model call stopped the run.

    How far the model and its hooks had come by then is for the scheduler to choose.
    """
    return any(event["stage"] == "input" and (event["tripped"] or event["error"])
               and not blocks(plan, event["guardrail"])
               for event in run.of("guardrail_checked"))


def stream_name(event: Event) -> str:
    """The name by which a plan tells at which event of its stream a consumer cancels."""
    return "agent_updated_stream_event" if event["type"] == "agent" else str(event["name"])


def turns_seen(run: PhaseRun, cancel: Cancel, at_once: bool = True) -> int | None:
    """How many turns the consumer had seen begin when it cancelled; None if it never did.

    `at_once`: the first turn began with the run, not with its response.
    """
    begun = seen = 0
    for event in run.of("stream_event"):
        begun += event["count"] if event["name"] == "response.created" else 0
        seen += event["count"] if stream_name(event) == cancel.when else 0
        if seen >= cancel.count:
            return max(begun, 1) if at_once else begun
    return None


def server_keeps(plan: Plan) -> bool:
    """Whether the server keeps the conversation, so that models are given its new items only."""
    return plan.run.server != "none"


def blocks(plan: Plan, guardrail: str) -> bool:
    """Whether this input guardrail runs before the model."""
    return guardrail in plan.guardrails and plan.guardrails[guardrail].blocking


def handoffs_of(plan: Plan, agent: str) -> tuple[str, ...]:
    """The names under which an agent declares its handoffs."""
    return plan.agents[agent].handoffs if agent in plan.agents else ()


def handoff_tools(plan: Plan, agent: str) -> dict[str, str]:
    """The transfer functions of an agent, those of disabled handoffs left out, and their agents."""
    found = {}
    for name in handoffs_of(plan, agent):
        handoff = plan.handoffs.get(name)
        target = handoff.to if handoff is not None else name
        own = handoff.tool_name if handoff is not None else None
        if handoff is None or handoff.enabled:
            found[own or transfer_name(target)] = target
    return found


def rewrites(plan: Plan, source: str, target: str) -> tuple[bool, bool]:
    """Whether the handoff's filter or nesting rewrites the history."""
    filtered, nests = plan.run.handoff_filter != "none", plan.run.nest_handoff_history
    for name in handoffs_of(plan, source):
        handoff = plan.handoffs.get(name)
        if handoff is not None and handoff.to == target:
            filtered = filtered or handoff.filter != "none"
            nests = nests if handoff.nest_history is None else handoff.nest_history
            break
    return filtered, nests and not filtered


def filters_handoff(plan: Plan, runs: Iterable[PhaseRun]) -> bool:
    """Whether one of the runs hands over by a filter, which may take from what was made so far."""
    return any(rewrites(plan, event["from"], event["to"])[0] and hands_over(plan, event)
               for run in runs for event in run.of("handoff"))


def hands_over(plan: Plan, event: Event) -> bool:
    """Whether the callback that is declared for the handoff lets it happen."""
    declared = (plan.handoffs.get(name) for name in handoffs_of(plan, event["from"]))
    return not any(handoff is not None and handoff.to == event["to"] and handoff.error is not None
                   for handoff in declared)


def is_covered(text: str) -> bool:
    """Whether a text, or that of a label, is the digest for which it stands in a private record."""
    return "sha256:" in text


def staged(run: PhaseRun) -> list[Item]:
    """The input that was staged on the state which the run resumes."""
    event = run.last("input_staged")
    return list(event["items"]) if event is not None else []


def output_text(item: Item) -> str:
    """The text of a function call output."""
    output = item.get("output")
    if isinstance(output, list):
        return "".join(part.get("text", "") for part in output)
    return block_text(str(output))


def refuses(items: Iterable[Item]) -> bool:
    """Whether one of the messages is a refusal of the model's."""
    return any(part.get("type") == "refusal" for item in items if item.get("type") == "message"
               for part in item.get("content") or () if isinstance(part, dict))


def message_text(item: Item) -> str | None:
    """All that a message says; None where it has several parts that the record covers."""
    text = item_text(item)
    return None if len(item.get("content") or ()) > 1 and text.startswith("sha256:") else text


def essence(item: Any) -> tuple[str, ...]:
    """What an item says, without ids and states that a store may leave out."""
    if not isinstance(item, dict):  # a record made by hand may hold anything there
        return (str(item),)
    kind = item.get("type")
    if kind == "function_call":
        return label(item), str(item.get("name")), str(item.get("arguments"))
    if kind == "function_call_output":
        return label(item), output_text(item)
    return (label(item),)


def essences(items: Iterable[Item]) -> list[tuple[str, ...]]:
    return [essence(item) for item in items]


def words(labels: Iterable[Any]) -> str:
    """A list of names for a message; ``nothing`` for none."""
    return ", ".join(str(name) for name in labels) or "nothing"
