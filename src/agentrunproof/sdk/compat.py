"""Differences between SDK releases: one small function each, with the range and how it was found.

Capabilities are probed on what the installed release offers, never guessed from its version.
Ranges were found by importing every release from 0.8.0 on and looking at the signatures.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import agents
from agents import FunctionTool, ModelResponse, RunConfig, Usage, agent_tool_state


def sdk_version() -> str:
    return importlib.metadata.version("openai-agents")


def sdk_files_digest() -> str:
    """SHA-256 over one line per Python file of the SDK: path, digest and size as in a RECORD.

    The files themselves are read, so a patched SDK is told from a released one, and an editable
    installation of a release's very sources gives that release's digest.
    Source: the RECORD format of the binary distribution specification (PyPA).
    """
    package = Path(agents.__file__).parent
    lines = []
    for file in package.rglob("*.py"):
        data = file.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"agents/{file.relative_to(package).as_posix()},sha256={digest},{len(data)}")
    return "sha256:" + hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def make_usage(input: int, output: int, cached: int, reasoning: int) -> Usage:
    """Usage of one request.

    ``cache_write_tokens`` is required by openai >= 2.5x and unknown to older ones, which keep it
    as an extra field.
    """
    from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

    return Usage(
        requests=1, input_tokens=input, output_tokens=output, total_tokens=input + output,
        input_tokens_details=InputTokensDetails.model_validate(
            {"cached_tokens": cached, "cache_write_tokens": 0}),
        output_tokens_details=OutputTokensDetails(reasoning_tokens=reasoning))


def make_response(output: list[Any], usage: Usage, response_id: str) -> ModelResponse:
    return ModelResponse(output=output, usage=usage, response_id=response_id)


def session_settings(limit: int) -> Any:
    """Session settings with a limit, from 0.8.0."""
    from agents.memory import SessionSettings

    return SessionSettings(limit=limit)


def cancel(result: Any, mode: str) -> None:
    """Cancel a streamed run; ``mode`` exists from 0.3.1, before that only at once."""
    if _takes(type(result).cancel, "mode"):
        result.cancel(mode=mode)
    else:
        result.cancel()


def forget_agent_tool_runs() -> None:
    """Drop the results of paused agent tools that the SDK keeps for the whole process.

    From 0.8.0 they are kept in tables of ``agents.agent_tool_state``; up to 0.20.0 a later run
    with equal call ids is answered from them (openai-agents-python#4414). Each mode of a plan has
    to be a first run, or its record would depend on what ran before it.
    """
    for name, value in vars(agent_tool_state).items():
        if name.startswith("_agent_tool_") and isinstance(value, dict):
            value.clear()


def run_data(exc: BaseException) -> Any:
    """What the SDK says the run had done when `exc` ended it (``RunErrorDetails``), or None."""
    return getattr(exc, "run_data", None)


def usage_entries(usage: Any) -> int | None:
    """Number of per-request usage entries, from 0.5.0; None where there is no such list."""
    entries = getattr(usage, "request_usage_entries", None)
    return None if entries is None else len(entries)


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    return parameter in inspect.signature(function).parameters


#: capability -> whether the installed release has it; names as in `plan.capabilities`.
PROBES: dict[str, Callable[[], bool]] = {
    "run-state": lambda: hasattr(agents, "RunState"),
    "agent-tool-approval": lambda: hasattr(agents, "RunState"),
    "rejection-message": lambda: hasattr(agents, "RunState") and _takes(
        agents.RunState.reject, "rejection_message"),
    "tool-timeout": lambda: _takes(agents.function_tool, "timeout"),
    "tool-guardrails": lambda: _takes(agents.function_tool, "tool_input_guardrails"),
    "nested-history": lambda: _takes(RunConfig, "nest_handoff_history"),
    "handoff-nest-history": lambda: _takes(agents.handoff, "nest_handoff_history"),
    "session": lambda: hasattr(agents, "SQLiteSession"),
    "session-limit": lambda: _takes(RunConfig, "session_settings"),
    "error-handlers": lambda: _takes(agents.Runner.run, "error_handlers"),
    "cancel-mode": lambda: _takes(agents.RunResultStreaming.cancel, "mode"),
    "blocking-guardrail": lambda: _takes(agents.InputGuardrail, "run_in_parallel"),
    "structured-output": lambda: hasattr(agents, "AgentOutputSchema"),
    "stop-at-tools": lambda: hasattr(agents, "StopAtTools"),
    "tool-enabled": lambda: _takes(FunctionTool, "is_enabled"),
}


def missing(capabilities: list[str]) -> list[str]:
    """Those of `capabilities` that the installed release lacks, or that nobody knows."""
    return [name for name in capabilities if name not in PROBES or not PROBES[name]()]
