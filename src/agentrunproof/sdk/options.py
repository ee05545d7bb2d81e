"""The options of a run that say what is handed on, what is told and what stands in for an answer.

Each is handed to the SDK only where the plan says so, so that releases without it take the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import agents
from agents.extensions import handoff_filters

from agentrunproof.plan.items import joined
from agentrunproof.plan.model import Run, SessionInput
from agentrunproof.sdk import compat


def config(run: Run) -> dict[str, Any]:
    """Those of a ``RunConfig``."""
    options: dict[str, Any] = {}
    if run.session_input is not None:
        options["session_input_callback"] = _joining(run.session_input)
    if run.handoff_filter == "remove_all_tools":
        options["handoff_input_filter"] = handoff_filters.remove_all_tools
    if run.history_text is not None:
        text = run.history_text
        options["handoff_history_mapper"] = lambda _: [{"role": "user", "content": text}]
    if run.unknown_tools == "tell":
        options["tool_not_found_behavior"] = "return_error_to_model"
    if run.tool_error_text is not None:
        options["tool_error_formatter"] = lambda _: run.tool_error_text
    execution: dict[str, Any] = {}
    if run.max_tools_at_once is not None:
        execution["max_function_tool_concurrency"] = run.max_tools_at_once
    if run.pre_approval_guardrails:
        execution["pre_approval_tool_input_guardrails"] = True
    if execution:
        options["tool_execution"] = agents.ToolExecutionConfig(**execution)
    return options


def handlers(run: Run) -> dict[str, Callable[[Any], Any]]:
    """Error handlers, by the kind of error."""
    outputs = {"max_turns": run.on_max_turns, "model_refusal": run.on_refusal,
               "invalid_final_output": (None if run.on_invalid_output is None
                                        else json.loads(run.on_invalid_output))}
    return {kind: _supplying(output, run.fallback_in_history)
            for kind, output in outputs.items() if output is not None}


def _supplying(output: Any, in_history: bool) -> Callable[[Any], Any]:
    return lambda _: compat.fallback(output, in_history=in_history)


def _joining(spec: SessionInput) -> Callable[[list[Any], list[Any]], list[Any]]:
    """A callback that changes the lists it is given, as it may: the SDK gives copies away."""
    def callback(history: list[Any], new: list[Any]) -> list[Any]:
        made = joined(spec, list(history), list(new))
        history.clear()
        new.clear()
        return made

    return callback
