"""What a plan needs of an SDK release, by name.

The names stand in plans (`requires`), in certificates (`missing`) and in `sdk.compat`, which
probes the installed release for each of them; no version number decides anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.plan.model import Plan

#: name -> what the release must be able to do
CAPABILITIES: dict[str, str] = {
    "agent-tool-approval": "a pause inside an agent used as a tool interrupts the outer run",
    "blocking-guardrail": "input guardrails that run before the model",
    "cancel-mode": "a streamed run can be cancelled at once or after its turn",
    "error-handlers": "an error handler can supply the output when turns run out",
    "handoff-nest-history": "a handoff can say for itself whether history is nested",
    "nested-history": "the run can nest the history that a handoff passes on",
    "rejection-message": "a rejection can carry the message that the model sees",
    "run-state": "runs pause for approval, and their state can be saved and resumed",
    "session": "runs keep their history in a session",
    "session-limit": "a run can limit what it reads from the session",
    "stop-at-tools": "an agent can stop at the first call of named tools",
    "structured-output": "an agent can declare the type of its final output",
    "tool-enabled": "a function tool can be disabled",
    "tool-guardrails": "guardrails on the input and output of a tool",
    "tool-timeout": "a function tool can time out",
}


def needed(plan: Plan) -> tuple[str, ...]:
    """Names of the capabilities that a plan needs, sorted: those it requires and those it uses."""
    return tuple(sorted({*plan.requires, *_used(plan)}))


def _used(plan: Plan) -> Iterator[str]:
    """Capabilities that follow from what the plan declares; repeats are fine."""
    yield from _used_by_parts(plan)
    yield from _used_by_phases(plan)
    if plan.session is not None:
        yield "session"
        if plan.session.limit is not None:
            yield "session-limit"
    if plan.run.nest_handoff_history:
        yield "nested-history"
    if plan.run.on_max_turns is not None:
        yield "error-handlers"


def _used_by_parts(plan: Plan) -> Iterator[str]:
    for tool in plan.tools.values():
        if tool.needs_approval:
            yield "run-state"
        if not tool.enabled:
            yield "tool-enabled"
        if tool.timeout is not None:
            yield "tool-timeout"
        if tool.input_guardrails or tool.output_guardrails:
            yield "tool-guardrails"
        if tool.agent is not None and _asks(plan, tool.agent, frozenset()):
            yield "agent-tool-approval"
    for agent in plan.agents.values():
        if agent.output_type is not None:
            yield "structured-output"
        if agent.stop_at_tools:
            yield "stop-at-tools"
    if any(guardrail.blocking for guardrail in plan.guardrails.values()):
        yield "blocking-guardrail"
    if any(handoff.nest_history is not None for handoff in plan.handoffs.values()):
        yield "handoff-nest-history"


def _used_by_phases(plan: Plan) -> Iterator[str]:
    for phase in plan.phases:
        if phase.cancel is not None:
            yield "cancel-mode"
        if phase.probe is not None:
            yield "run-state"
        if phase.resume is not None:
            yield "run-state"
            if any(decision.message is not None for decision in phase.resume.decisions):
                yield "rejection-message"


def _asks(plan: Plan, agent: str, above: frozenset[str]) -> bool:
    """Whether a run of this agent may pause for approval, at any depth."""
    if agent in above:
        return False
    tools = [plan.tools[name] for name in plan.agents[agent].tools]
    return any(tool.needs_approval or (tool.agent is not None
                                       and _asks(plan, tool.agent, above | {agent}))
               for tool in tools)
