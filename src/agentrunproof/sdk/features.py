"""What the installed release can do, probed on what it offers and never guessed from its version.

Every release from 0.0.2 on was asked; `plan.capabilities.SINCE` holds the answers.
"""

from __future__ import annotations

from collections.abc import Callable

import agents
from agents import Agent, FunctionTool, InputGuardrail, ModelSettings, RunConfig, Usage

from agentrunproof.sdk import compat
from agentrunproof.sdk.compat import reasoning_item, takes, tool_context_is_whole, unheard_hooks


def _has_run_state() -> bool:
    return hasattr(agents, "RunState")


def _cancels() -> bool:
    return hasattr(agents.RunResultStreaming, "cancel")


def _handles(kind: str) -> bool:
    handlers = getattr(agents, "RunErrorHandlers", None)
    return kind in getattr(handlers, "__annotations__", ())


def _executes(option: str) -> bool:
    config = getattr(agents, "ToolExecutionConfig", None)
    return config is not None and takes(config, option)


#: capability -> whether the installed release has it; names as in `plan.capabilities`.
PROBES: dict[str, Callable[[], bool]] = {
    "agent-tool-approval": _has_run_state,
    "agent-tool-failure": lambda: takes(Agent.as_tool, "failure_error_function"),
    "agent-tool-max-turns": lambda: takes(Agent.as_tool, "max_turns"),
    "auto-previous-response-id":
        lambda: takes(agents.Runner.run, "auto_previous_response_id"),
    "blocking-guardrail": lambda: takes(InputGuardrail, "run_in_parallel"),
    "cancel-mode": lambda: _cancels() and takes(agents.RunResultStreaming.cancel, "mode"),
    "conversation-id": lambda: takes(agents.Runner.run, "conversation_id"),
    "error-handlers": lambda: takes(agents.Runner.run, "error_handlers"),
    "error-run-data": lambda: hasattr(agents, "RunErrorDetails"),
    "handoff-enabled": lambda: takes(agents.handoff, "is_enabled"),
    "handoff-nest-history": lambda: takes(agents.handoff, "nest_handoff_history"),
    "history-mapper": lambda: takes(RunConfig, "handoff_history_mapper"),
    "input-filter": lambda: takes(RunConfig, "call_model_input_filter"),
    "invalid-output-handler": lambda: _handles("invalid_final_output"),
    "lenient-output": lambda: hasattr(agents, "AgentOutputSchemaBase"),
    "lenient-tool": lambda: takes(agents.function_tool, "strict_mode"),
    "llm-hooks": lambda: not unheard_hooks(),
    "mcp": lambda: compat.serves("cache_tools_list"),
    "mcp-context": compat.tells_servers,
    "mcp-failure": lambda: compat.serves("failure_error_function"),
    "mcp-filter": lambda: compat.serves("tool_filter"),
    "mcp-guardrails": lambda: compat.serves("tool_input_guardrails"),
    "model-retry": lambda: hasattr(agents, "ModelRetrySettings"),
    "nested-history": lambda: takes(RunConfig, "nest_handoff_history"),
    "pre-approval-guardrails": lambda: _executes("pre_approval_tool_input_guardrails"),
    "previous-response-id": lambda: takes(agents.Runner.run, "previous_response_id"),
    "reasoning-items": lambda: reasoning_item() is not None,
    "refusal-handler": lambda: _handles("model_refusal"),
    "rejection-message": lambda: _has_run_state() and takes(
        agents.RunState.reject, "rejection_message"),
    "reset-tool-choice": lambda: takes(Agent, "reset_tool_choice"),
    "run-loop-task":
        lambda: "run_loop_task" in agents.RunResultStreaming.__dataclass_fields__,
    "run-state": _has_run_state,
    "session": lambda: takes(agents.Runner.run, "session"),
    "session-input-callback": lambda: takes(RunConfig, "session_input_callback"),
    "session-limit": lambda: takes(RunConfig, "session_settings"),
    "setting-max-tokens": lambda: takes(ModelSettings, "max_tokens"),
    "setting-store": lambda: takes(ModelSettings, "store"),
    "setting-timeout": lambda: takes(ModelSettings, "timeout"),
    "state-input": lambda: _has_run_state() and hasattr(agents.RunState, "add_input"),
    "stop-at-tools": lambda: takes(Agent, "tool_use_behavior"),
    "stream-cancel": _cancels,
    "structured-output": lambda: hasattr(agents, "AgentOutputSchema"),
    "tool-concurrency": lambda: _executes("max_function_tool_concurrency"),
    "tool-context": tool_context_is_whole,
    "tool-enabled": lambda: takes(FunctionTool, "is_enabled"),
    "tool-error-formatter": lambda: takes(RunConfig, "tool_error_formatter"),
    "tool-guardrails": lambda: takes(FunctionTool, "tool_input_guardrails"),
    "tool-timeout": lambda: takes(agents.function_tool, "timeout"),
    "unknown-tools": lambda: takes(RunConfig, "tool_not_found_behavior"),
    "unlimited-turns": lambda: compat.unlimited_turns(),
    "usage-details": lambda: takes(Usage, "input_tokens_details"),
}


def missing(capabilities: list[str]) -> list[str]:
    """Those of `capabilities` that the installed release lacks, or that nobody knows."""
    return [name for name in capabilities if name not in PROBES or not PROBES[name]()]
