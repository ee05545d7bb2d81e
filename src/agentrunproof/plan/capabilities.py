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
    "agent-tool-failure": "an agent as a tool can say what becomes of its failure",
    "agent-tool-max-turns": "an agent as a tool can have a turn limit of its own",
    "blocking-guardrail": "input guardrails that run before the model",
    "cancel-mode": "a streamed run can be cancelled after its turn",
    "error-handlers": "an error handler can supply the output when turns run out",
    "error-run-data": "an exception tells what the run had done",
    "handoff-nest-history": "a handoff can say for itself whether history is nested",
    "lenient-output": "a structured output can have a schema that is not strict",
    "lenient-tool": "a function tool can have a schema that is not strict",
    "llm-hooks": "lifecycle hooks around each model call",
    "model-retry": "the Runner can try a failed model call again",
    "nested-history": "the run can nest the history that a handoff passes on",
    "reasoning-items": "the openai package knows reasoning items",
    "rejection-message": "a rejection can carry the message that the model sees",
    "reset-tool-choice": "an agent can keep its tool choice after a tool call",
    "run-loop-task": "a streamed run can be awaited without reading its events",
    "run-state": "runs pause for approval, and their state can be saved and resumed",
    "session": "runs keep their history in a session",
    "session-limit": "a run can limit what it reads from the session",
    "setting-max-tokens": "model settings can limit the tokens of an answer",
    "setting-store": "model settings can say whether an answer is stored",
    "stop-at-tools": "an agent can stop at its first tool call, or that of named tools",
    "stream-cancel": "a streamed run can be cancelled",
    "structured-output": "an agent can declare the type of its final output",
    "tool-context": "a tool's context tells its call, without the help of a span",
    "tool-enabled": "a function tool can be disabled",
    "tool-guardrails": "guardrails on the input and output of a tool",
    "tool-timeout": "a function tool can time out",
    "usage-details": "usage tells cached and reasoning tokens",
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
    if plan.run.retries is not None:
        yield "model-retry"
    if plan.run.hook_error is not None and plan.run.hook_error.on.startswith("on_llm"):
        yield "llm-hooks"
    if plan.tools and not plan.run.sensitive_traces:
        yield "tool-context"
    for settings in (plan.run.model_settings, *(a.model_settings for a in plan.agents.values())):
        if settings.max_tokens is not None:
            yield "setting-max-tokens"
        if settings.store is not None:
            yield "setting-store"


def _used_by_parts(plan: Plan) -> Iterator[str]:
    for tool in plan.tools.values():
        if tool.needs_approval:
            yield "run-state"
        if not tool.enabled or tool.enabled_until is not None:
            yield "tool-enabled"
        if tool.timeout is not None:
            yield "tool-timeout"
        if tool.input_guardrails or tool.output_guardrails:
            yield "tool-guardrails"
        if not tool.strict:
            yield "lenient-tool"
        if tool.agent is not None and tool.max_turns is not None:
            yield "agent-tool-max-turns"
        if tool.agent is not None and tool.failure != "default":
            yield "agent-tool-failure"
        if tool.agent is not None and _asks(plan, tool.agent, frozenset()):
            yield "agent-tool-approval"
    for agent in plan.agents.values():
        if agent.output_type is not None:
            yield "structured-output"
            if not plan.types[agent.output_type].strict:
                yield "lenient-output"
        if agent.tool_use_behavior != "run_llm_again":
            yield "stop-at-tools"
        if not agent.reset_tool_choice:
            yield "reset-tool-choice"
    if any(guardrail.blocking for guardrail in plan.guardrails.values()):
        yield "blocking-guardrail"
    if any(handoff.nest_history is not None for handoff in plan.handoffs.values()):
        yield "handoff-nest-history"


def _used_by_phases(plan: Plan) -> Iterator[str]:
    given = list(plan.session.items) if plan.session is not None else []
    for phase in plan.phases:
        steps = [step for turns in phase.script.values() for step in turns]
        given += phase.input.items if phase.input is not None else ()
        given += (item for step in steps for item in step.output)
        if any(step.usage.cached or step.usage.reasoning for step in steps):
            yield "usage-details"
        expect = phase.expect
        if expect.outcome == "raised" and (expect.last_agent is not None or expect.outputs):
            yield "error-run-data"
        if phase.cancel is not None:
            yield "cancel-mode" if phase.cancel.mode == "after_turn" else "stream-cancel"
        if phase.reader is not None and not phase.reader.events:
            yield "run-loop-task"
        if phase.probe is not None:
            yield "run-state"
        if phase.resume is not None:
            yield "run-state"
            if any(decision.message is not None for decision in phase.resume.decisions):
                yield "rejection-message"
    if any(item.reasoning is not None for item in given):
        yield "reasoning-items"


def _asks(plan: Plan, agent: str, above: frozenset[str]) -> bool:
    """Whether a run of this agent may pause for approval, at any depth."""
    if agent in above:
        return False
    tools = [plan.tools[name] for name in plan.agents[agent].tools]
    return any(tool.needs_approval or (tool.agent is not None
                                       and _asks(plan, tool.agent, above | {agent}))
               for tool in tools)
