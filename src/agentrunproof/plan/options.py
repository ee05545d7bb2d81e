"""The options of a plan's runs: hooks, limits, filters, what is handed on and what is told.

Fields that name other parts of the plan hold their names; `agentrunproof.plan.run_rules` checks
that they exist. Decimals are strings, because no float may enter canonical bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from agentrunproof.plan.parts import ModelSettings
from agentrunproof.shape import Count, Decimal, Name, Positive

HookName = Literal["on_agent_start", "on_agent_end", "on_llm_start", "on_llm_end",
                   "on_tool_start", "on_tool_end", "on_handoff"]


@dataclass(frozen=True, kw_only=True)
class HookError:
    """A lifecycle hook that raises ``HookFailure`` the first time it is called.

    With `cancel` it raises ``asyncio.CancelledError`` instead, from within.
    """

    on: HookName
    message: str = "hook failed"
    cancel: bool = False


@dataclass(frozen=True, kw_only=True)
class HookDelay:
    """A hook of the agent that takes this many seconds of virtual time."""

    on: HookName
    delay: Decimal


@dataclass(frozen=True, kw_only=True)
class InputFilter:
    """What ``RunConfig.call_model_input_filter`` makes of each model input, in this order.

    Args:
        keep: only so many of the last items.
        add: a user message with this text at the end.
        instructions: these instead of the agent's.
        error: it raises ``FilterFailure`` with this message.
        malformed: it returns the items alone, which the SDK must refuse.
    """

    keep: Count | None = None
    add: str | None = None
    instructions: str | None = None
    error: str | None = None
    malformed: bool = False


@dataclass(frozen=True, kw_only=True)
class SessionInput:
    """How ``RunConfig.session_input_callback`` joins what the session gave and the new input.

    Args:
        keep: only so many of the last items of the history.
        instead: a user message with this text in place of the new input.
    """

    keep: Count | None = None
    instead: str | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """Options of every run of the plan (the SDK's ``Runner.run`` arguments and ``RunConfig``).

    Args:
        unlimited_turns: the SDK's ``max_turns=None``.
        on_max_turns: the final output that an error handler supplies when turns run out.
        on_refusal: the one that it supplies when the model refuses.
        on_invalid_output: the one, as JSON text, when what the model says is not of the type.
        fallback_in_history: whether what a handler supplies is told in the history
            (``RunErrorHandlerResult.include_in_history``).
        server: by which of the SDK's options the server keeps the conversation, so that only new
            items are sent; the ids are those of `plan.items.SERVER_IDS`.
        callables: what the functions are that the plan gives to the SDK (instructions, callbacks
            and filters of handoffs): functions, objects that can be called, or such objects that
            count as false.
        retries: how often the Runner tries a failed model call again, whatever the error was (the
            SDK's ``ModelRetrySettings``).
        sensitive_traces: whether spans may tell what tools and models were given and gave
            (the SDK's ``trace_include_sensitive_data``).
        input_filter: what is made of each model input just before the model is called.
        session_input: how a session's history and the new input are joined.
        handoff_filter: the filter of handoffs that have none of their own.
        history_text: what a ``handoff_history_mapper`` makes of a nested history: a user message
            with this text.
        max_tools_at_once: how many function tools may run at once.
        pre_approval_guardrails: whether a tool's input guardrails check a call before it pauses.
        unknown_tools: whether a call of a tool that there is not raises or is told to the model
            (the SDK's ``tool_not_found_behavior``).
        tool_error_text: what a ``tool_error_formatter`` makes of each message.
    """

    max_turns: Positive | None = None
    unlimited_turns: bool = False
    context: dict[str, Any] | None = None
    hooks: Literal["both", "run", "agent", "none"] = "both"
    hook_error: HookError | None = None
    hook_delay: HookDelay | None = None
    nest_handoff_history: bool = False
    input_guardrails: tuple[Name, ...] = ()
    output_guardrails: tuple[Name, ...] = ()
    model_settings: ModelSettings = field(default_factory=ModelSettings)
    on_max_turns: str | None = None
    on_refusal: str | None = None
    on_invalid_output: str | None = None
    fallback_in_history: bool = True
    retries: Positive | None = None
    tracing: bool = True
    sensitive_traces: bool = True
    server: Literal["none", "conversation_id", "previous_response_id",
                    "auto_previous_response_id"] = "none"
    callables: Literal["function", "object", "false_object"] = "function"
    input_filter: InputFilter | None = None
    session_input: SessionInput | None = None
    handoff_filter: Literal["none", "remove_all_tools"] = "none"
    history_text: str | None = None
    max_tools_at_once: Positive | None = None
    pre_approval_guardrails: bool = False
    unknown_tools: Literal["raise", "tell"] = "raise"
    tool_error_text: str | None = None
