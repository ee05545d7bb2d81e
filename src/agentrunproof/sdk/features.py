"""What the installed release can do, probed on what it offers and never guessed from its version.

The release named beside a probe is the first that has it; found by importing every release from
0.0.2 on.
"""

from __future__ import annotations

from collections.abc import Callable

import agents
from agents import Agent, FunctionTool, InputGuardrail, ModelSettings, RunConfig, Usage

from agentrunproof.sdk.compat import reasoning_item, takes, tool_context_is_whole, unheard_hooks


def _has_run_state() -> bool:
    return hasattr(agents, "RunState")


def _cancels() -> bool:
    return hasattr(agents.RunResultStreaming, "cancel")


#: capability -> whether the installed release has it; names as in `plan.capabilities`.
PROBES: dict[str, Callable[[], bool]] = {
    "agent-tool-approval": _has_run_state,  # 0.8.0
    "agent-tool-failure": lambda: takes(Agent.as_tool, "failure_error_function"),  # 0.6.4
    "agent-tool-max-turns": lambda: takes(Agent.as_tool, "max_turns"),  # 0.3.1
    "blocking-guardrail": lambda: takes(InputGuardrail, "run_in_parallel"),  # 0.6.0
    "cancel-mode": lambda: _cancels() and takes(agents.RunResultStreaming.cancel, "mode"),  # 0.4.0
    "error-handlers": lambda: takes(agents.Runner.run, "error_handlers"),  # 0.8.0
    "error-run-data": lambda: hasattr(agents, "RunErrorDetails"),  # 0.0.17
    "handoff-nest-history": lambda: takes(agents.handoff, "nest_handoff_history"),  # 0.6.0
    "lenient-output": lambda: hasattr(agents, "AgentOutputSchemaBase"),  # 0.0.12
    "lenient-tool": lambda: takes(agents.function_tool, "strict_mode"),  # 0.0.5
    "llm-hooks": lambda: not unheard_hooks(),  # 0.2.9
    "model-retry": lambda: hasattr(agents, "ModelRetrySettings"),  # 0.12.0
    "nested-history": lambda: takes(RunConfig, "nest_handoff_history"),  # 0.6.0
    "reasoning-items": lambda: reasoning_item() is not None,  # 0.0.3
    "rejection-message": lambda: _has_run_state() and takes(
        agents.RunState.reject, "rejection_message"),  # 0.12.1
    "reset-tool-choice": lambda: takes(Agent, "reset_tool_choice"),  # 0.0.7
    "run-loop-task":
        lambda: "run_loop_task" in agents.RunResultStreaming.__dataclass_fields__,  # 0.8.0
    "run-state": _has_run_state,  # 0.8.0
    "session": lambda: takes(agents.Runner.run, "session"),  # 0.2.0
    "session-limit": lambda: takes(RunConfig, "session_settings"),  # 0.8.0
    "setting-max-tokens": lambda: takes(ModelSettings, "max_tokens"),  # 0.0.4
    "setting-store": lambda: takes(ModelSettings, "store"),  # 0.0.8
    "stop-at-tools": lambda: takes(Agent, "tool_use_behavior"),  # 0.0.5
    "stream-cancel": _cancels,  # 0.0.13
    "structured-output": lambda: hasattr(agents, "AgentOutputSchema"),  # 0.0.2
    "tool-context": tool_context_is_whole,  # 0.3.2
    "tool-enabled": lambda: takes(FunctionTool, "is_enabled"),  # 0.0.17
    "tool-guardrails": lambda: takes(FunctionTool, "tool_input_guardrails"),  # 0.3.3
    "tool-timeout": lambda: takes(agents.function_tool, "timeout"),  # 0.9.0
    "usage-details": lambda: takes(Usage, "input_tokens_details"),  # 0.0.16
}


def missing(capabilities: list[str]) -> list[str]:
    """Those of `capabilities` that the installed release lacks, or that nobody knows."""
    return [name for name in capabilities if name not in PROBES or not PROBES[name]()]
