"""What a plan needs of an SDK release, by name.

The names stand in plans (`requires`), in certificates (`missing`) and in `sdk.compat`, which
probes the installed release for each of them; no version number decides whether a plan is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from agentrunproof.plan.items import is_object
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
    "handoff-enabled": "a handoff can be disabled",
    "handoff-nest-history": "a handoff can say for itself whether history is nested",
    "history-mapper": "the run can say what becomes of a nested history",
    "input-filter": "a run can filter what each model is given",
    "invalid-output-handler": "an error handler can stand in for an invalid structured output",
    "lenient-output": "a structured output can have a schema that is not strict",
    "lenient-tool": "a function tool can have a schema that is not strict",
    "llm-hooks": "lifecycle hooks around each model call",
    "mcp": "agents can have MCP servers",
    "mcp-context": "a call of an MCP server can be told from others, without the help of a span",
    "mcp-failure": "what becomes of a failing call of an MCP server can be said",
    "mcp-filter": "an MCP server can be kept to some of its tools",
    "mcp-guardrails": "guardrails on the tools of an MCP server",
    "model-retry": "the Runner can try a failed model call again",
    "nested-history": "the run can nest the history that a handoff passes on",
    "pre-approval-guardrails": "input guardrails of a tool can run before its call waits",
    "previous-response-id": "a run can go on from a response that the server keeps",
    "reasoning-items": "the openai package knows reasoning items",
    "refusal-handler": "an error handler can supply the output when a model refuses",
    "rejection-message": "a rejection can carry the message that the model sees",
    "reset-tool-choice": "an agent can keep its tool choice after a tool call",
    "run-loop-task": "a streamed run can be awaited without reading its events",
    "run-state": "runs pause for approval, and their state can be saved and resumed",
    "session": "runs keep their history in a session",
    "session-input-callback": "a run can join the session's history and its input in its own way",
    "session-limit": "a run can limit what it reads from the session",
    "setting-max-tokens": "model settings can limit the tokens of an answer",
    "setting-store": "model settings can say whether an answer is stored",
    "setting-timeout": "model settings can limit the time of an answer",
    "state-input": "input can be staged on a paused state",
    "stop-at-tools": "an agent can stop at its first tool call, or that of named tools",
    "stream-cancel": "a streamed run can be cancelled",
    "structured-output": "an agent can declare the type of its final output",
    "tool-concurrency": "a run can limit how many function tools run at once",
    "tool-context": "a tool's context tells its call, without the help of a span",
    "tool-enabled": "a function tool can be disabled",
    "tool-error-formatter": "a run can word what the model is told of failed calls",
    "tool-guardrails": "guardrails on the input and output of a tool",
    "tool-timeout": "a function tool can time out",
    "unknown-tools": "a call of an unknown tool can be told to the model",
    "unlimited-turns": "a run can have no limit of its turns",
    "usage-details": "usage tells cached and reasoning tokens",
}

#: name -> the first release that has it, as `sdk.features` found on every release from 0.0.2 on.
#: It decides nothing about a run: with it a record about a known release is checked.
SINCE: dict[str, str] = {
    "agent-tool-approval": "0.8.0", "agent-tool-failure": "0.6.4", "agent-tool-max-turns": "0.3.1",
    "auto-previous-response-id": "0.6.2", "blocking-guardrail": "0.6.0", "cancel-mode": "0.4.0",
    "conversation-id": "0.2.10", "error-handlers": "0.8.0", "error-run-data": "0.0.17",
    "handoff-enabled": "0.1.0", "handoff-nest-history": "0.6.0", "history-mapper": "0.6.0",
    "input-filter": "0.2.8", "invalid-output-handler": "0.17.8", "lenient-output": "0.0.12",
    "lenient-tool": "0.0.5", "llm-hooks": "0.2.9", "mcp": "0.0.7", "mcp-context": "0.8.0",
    "mcp-failure": "0.8.0", "mcp-filter": "0.1.0", "mcp-guardrails": "0.22.1",
    "model-retry": "0.12.0", "nested-history": "0.6.0", "pre-approval-guardrails": "0.17.6",
    "previous-response-id": "0.0.10", "reasoning-items": "0.0.3", "refusal-handler": "0.15.0",
    "rejection-message": "0.12.1", "reset-tool-choice": "0.0.7", "run-loop-task": "0.8.0",
    "run-state": "0.8.0", "session": "0.2.0", "session-input-callback": "0.3.0",
    "session-limit": "0.8.0", "setting-max-tokens": "0.0.4", "setting-store": "0.0.8",
    "setting-timeout": "0.21.1", "state-input": "0.20.0", "stop-at-tools": "0.0.5",
    "stream-cancel": "0.0.13", "structured-output": "0.0.2", "tool-concurrency": "0.16.0",
    "tool-context": "0.3.2", "tool-enabled": "0.0.17", "tool-error-formatter": "0.8.0",
    "tool-guardrails": "0.3.3", "tool-timeout": "0.9.0", "unknown-tools": "0.17.4",
    "unlimited-turns": "0.16.0", "usage-details": "0.0.16",
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
    yield from _used_by_servers(plan)
    yield from _used_by_phases(plan)
    if plan.session is not None:
        yield "session"
        if plan.session.limit is not None:
            yield "session-limit"
    if plan.run.nest_handoff_history:
        yield "nested-history"
    yield from _used_by_options(plan)
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
        if settings.timeout is not None:
            yield "setting-timeout"


def _used_by_options(plan: Plan) -> Iterator[str]:
    run = plan.run
    for name, used in (
            ("error-handlers", run.on_max_turns is not None),
            ("refusal-handler", run.on_refusal is not None),
            ("invalid-output-handler", run.on_invalid_output is not None),
            ("unlimited-turns", run.unlimited_turns),
            ("session-input-callback", run.session_input is not None),
            ("history-mapper", run.history_text is not None),
            ("tool-concurrency", run.max_tools_at_once is not None),
            ("pre-approval-guardrails", run.pre_approval_guardrails),
            ("unknown-tools", run.unknown_tools != "raise"),
            ("tool-error-formatter", run.tool_error_text is not None)):
        if used:
            yield name


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
    if any(not handoff.enabled or handoff.enabled_until is not None
           for handoff in plan.handoffs.values()):
        yield "handoff-enabled"
    if any(handoff.nest_history is not None for handoff in plan.handoffs.values()):
        yield "handoff-nest-history"


def _used_by_servers(plan: Plan) -> Iterator[str]:
    if not plan.mcp:
        return
    yield "mcp"
    if not plan.run.sensitive_traces:
        yield "mcp-context"
    for server in plan.mcp.values():
        tools = [plan.tools[name] for name in server.tools]
        if server.filters:
            yield "mcp-filter"
        if server.failure_at == "server_not_agent" or any(
                tool.failure != "default" for tool in tools):
            yield "mcp-failure"
        if any(outcome.cancel or (outcome.error is not None and server.fails_by != "result")
               for tool in tools for outcome in tool.outcomes):
            yield "mcp-failure"
        if any(tool.input_guardrails or tool.output_guardrails for tool in tools):
            yield "mcp-guardrails"
    if any(item.call in plan.served and not is_object(item.arguments or "")
           for phase in plan.phases for turns in phase.script.values() for step in turns
           for item in step.output):
        yield "mcp-failure"


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
        if phase.cancel is not None and phase.cancel.mode != "task":
            yield "cancel-mode" if phase.cancel.mode == "after_turn" else "stream-cancel"
        if phase.reader is not None and not phase.reader.events:
            yield "run-loop-task"
        if phase.probe is not None:
            yield "run-state"
        if phase.resume is not None:
            yield "run-state"
            if phase.resume.add is not None:
                yield "state-input"
            if any(decision.message is not None for decision in phase.resume.decisions):
                yield "rejection-message"
    if any(item.reasoning is not None for item in given):
        yield "reasoning-items"


def _asks(plan: Plan, agent: str, above: frozenset[str]) -> bool:
    """Whether a run of this agent may pause for approval, at any depth."""
    if agent in above:
        return False
    tools = [plan.tools[name] for name in plan.tools_of(agent)]
    return any(tool.needs_approval or (tool.agent is not None
                                       and _asks(plan, tool.agent, above | {agent}))
               for tool in tools)
