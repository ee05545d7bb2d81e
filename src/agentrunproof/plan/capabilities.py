"""What a plan needs of an SDK release, by name.

The names stand in plans (`requires`), in certificates (`missing`) and in `sdk.compat`, which
probes the installed release for each of them; no version number decides whether a plan is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from agentrunproof.plan.model import Plan

#: name -> what the release must be able to do
CAPABILITIES: dict[str, str] = {
    "agent-tool-approval": "a pause inside an agent used as a tool interrupts the outer run",
    "agent-tool-failure": "an agent as a tool can say what becomes of its failure",
    "agent-tool-max-turns": "an agent as a tool can have a turn limit of its own",
    "auto-previous-response-id": "a run can chain its responses from the first one on",
    "blocking-guardrail": "input guardrails that run before the model",
    "cancel-mode": "a streamed run can be cancelled after its turn",
    "conversation-id": "a run can go on in a conversation that the server keeps",
    "error-handlers": "an error handler can supply the output when turns run out",
    "error-run-data": "an exception tells what the run had done",
    "handoff-nest-history": "a handoff can say for itself whether history is nested",
    "input-filter": "a run can filter what each model is given",
    "lenient-output": "a structured output can have a schema that is not strict",
    "lenient-tool": "a function tool can have a schema that is not strict",
    "llm-hooks": "lifecycle hooks around each model call",
    "model-retry": "the Runner can try a failed model call again",
    "nested-history": "the run can nest the history that a handoff passes on",
    "previous-response-id": "a run can go on from a response that the server keeps",
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

#: name -> the first release that has it, as `sdk.features` found on every release from 0.0.2 on.
#: It decides nothing about a run: with it a record about a known release is checked.
SINCE: dict[str, str] = {
    "agent-tool-approval": "0.8.0", "agent-tool-failure": "0.6.4", "agent-tool-max-turns": "0.3.1",
    "auto-previous-response-id": "0.6.2", "blocking-guardrail": "0.6.0", "cancel-mode": "0.4.0",
    "conversation-id": "0.2.10", "error-handlers": "0.8.0",
    "error-run-data": "0.0.17", "handoff-nest-history": "0.6.0",
    "input-filter": "0.2.8", "lenient-output": "0.0.12",
    "lenient-tool": "0.0.5", "llm-hooks": "0.2.9", "model-retry": "0.12.0",
    "nested-history": "0.6.0", "previous-response-id": "0.0.10", "reasoning-items": "0.0.3",
    "rejection-message": "0.12.1",
    "reset-tool-choice": "0.0.7", "run-loop-task": "0.8.0", "run-state": "0.8.0",
    "session": "0.2.0", "session-limit": "0.8.0", "setting-max-tokens": "0.0.4",
    "setting-store": "0.0.8", "stop-at-tools": "0.0.5", "stream-cancel": "0.0.13",
    "structured-output": "0.0.2", "tool-context": "0.3.2", "tool-enabled": "0.0.17",
    "tool-guardrails": "0.3.3", "tool-timeout": "0.9.0", "usage-details": "0.0.16",
}

#: Those that come with the openai package: a later one than the release was made with brings them
#: to earlier releases too.
OF_LIBRARIES = frozenset({"reasoning-items"})


@cache
def lacking(version: str) -> frozenset[str]:
    """Capabilities that the release of this number lacks."""
    return frozenset(name for name, first in SINCE.items() if _numbers(version) < _numbers(first))


def since(names: Iterable[str]) -> str | None:
    """The first release that has all of these capabilities; None where none is named."""
    return max((SINCE[name] for name in names), key=_numbers, default=None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


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
    if plan.run.input_filter is not None:
        yield "input-filter"
    if plan.run.retries is not None:
        yield "model-retry"
    if plan.run.server != "none":
        yield plan.run.server.replace("_", "-")
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
        if phase.expect.outcome == "raised" and phase.expect.outputs:
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
