"""Differences between SDK releases: one small function each, with the range and how it was found.

Ranges were found by importing every release from 0.0.2 on and looking at names and signatures,
and, where that says nothing, by running. What a release lacks altogether is in `sdk.features`.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import importlib.metadata
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import agents
from agents import (
    Agent,
    AgentOutputSchema,
    ModelResponse,
    ModelSettings,
    RunConfig,
    RunHooks,
    Usage,
    get_current_span,
)


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

    Before 0.0.16 a usage holds no details. ``cache_write_tokens`` is required by openai >= 2.5x
    and unknown to older ones, which keep it as an extra field.
    """
    details: dict[str, Any] = {}
    if takes(Usage, "input_tokens_details"):
        from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

        details["input_tokens_details"] = InputTokensDetails.model_validate(
            {"cached_tokens": cached, "cache_write_tokens": 0})
        details["output_tokens_details"] = OutputTokensDetails(reasoning_tokens=reasoning)
    return Usage(requests=1, input_tokens=input, output_tokens=output,
                 total_tokens=input + output, **details)


def token_details(usage: Any) -> tuple[int, int]:
    """Cached and reasoning tokens of a usage; 0 where it holds no details, before 0.0.16.

    Plans whose scripts report such tokens need ``usage-details``, so they are 0 there.
    """
    if not hasattr(usage, "input_tokens_details"):
        return 0, 0
    return (usage.input_tokens_details.cached_tokens or 0,
            usage.output_tokens_details.reasoning_tokens or 0)


def usage_entries(usage: Any) -> int | None:
    """Number of per-request usage entries, from 0.5.0; None where there is no such list."""
    entries = getattr(usage, "request_usage_entries", None)
    return None if entries is None else len(entries)


def make_response(output: list[Any], usage: Usage, response_id: str) -> ModelResponse:
    """A model's response; its third field is named ``referenceable_id`` up to 0.0.9."""
    return ModelResponse(output, usage, response_id)


def reasoning_item() -> Any:
    """The class of a reasoning item; None with openai 1.66.0, which 0.0.2 has."""
    return getattr(importlib.import_module("openai.types.responses"),
                   "ResponseReasoningItem", None)


def output_type(type: Any, *, strict: bool) -> Any:
    """What an agent declares as its output type: a schema, or up to 0.0.11 the type itself."""
    if hasattr(agents, "AgentOutputSchemaBase"):
        return AgentOutputSchema(type, strict_json_schema=strict)
    return type


def output_type_name(schema: Any) -> str:
    """Name of a model call's output schema, ``output_type_name`` up to 0.0.11."""
    name = getattr(schema, "name", None) or schema.output_type_name
    return str(name())


def session_settings(limit: int) -> Any:
    """Session settings with a limit, from 0.8.0."""
    from agents.memory import SessionSettings

    return SessionSettings(limit=limit)


def retry_settings(retries: int) -> Any:
    """Settings by which the Runner tries a model call again after any error, from 0.12.0."""
    return agents.ModelRetrySettings(max_retries=retries, policy=lambda _: True)


def model_settings(options: dict[str, Any]) -> ModelSettings:
    """Model settings with what `options` say and nothing else.

    Up to 0.0.7 they say ``parallel_tool_calls=False`` on their own.
    """
    return ModelSettings(**{"parallel_tool_calls": None} | options)


def history_nesting(nested: bool) -> dict[str, Any]:
    """The option of a run that nests what a handoff passes on, or doesn't, from 0.6.0.

    It is given in any case, because 0.6.x nests unless told otherwise.
    """
    return {"nest_handoff_history": nested} if takes(RunConfig, "nest_handoff_history") else {}


def unlimited_turns() -> bool:
    """Whether a run takes ``max_turns=None`` for no limit, as its signature says."""
    return "None" in str(inspect.signature(agents.Runner.run).parameters["max_turns"].annotation)


def fallback(output: Any, *, in_history: bool) -> Any:
    """What an error handler returns, from 0.8.0; bare where it leaves everything as it is."""
    return output if in_history else agents.RunErrorHandlerResult(
        final_output=output, include_in_history=False)


def cancel(result: Any, mode: str) -> None:
    """Cancel a streamed run, from 0.0.13; `mode` exists from 0.4.0, before that only at once."""
    if takes(type(result).cancel, "mode"):
        result.cancel(mode=mode)
    else:
        result.cancel()


def run_loop(result: Any) -> Any:
    """The task that drives a streamed run, from 0.8.0."""
    return result.run_loop_task


def forget_agent_tool_runs() -> None:
    """Drop the results of paused agent tools that the SDK keeps for the whole process.

    From 0.8.0 they are kept in tables of ``agents.agent_tool_state``; up to 0.20.0 a later run
    with equal call ids is answered from them (openai-agents-python#4414). Each mode of a plan has
    to be a first run, or its record would depend on what ran before it.
    """
    if not hasattr(agents, "RunState"):
        return
    for name, value in vars(importlib.import_module("agents.agent_tool_state")).items():
        if name.startswith("_agent_tool_") and isinstance(value, dict):
            value.clear()


def interruptions(result: Any) -> list[Any]:
    """Calls that wait for a decision; runs pause from 0.8.0 on."""
    return list(getattr(result, "interruptions", ()))


def run_context(result: Any, heard: Any) -> Any:
    """The run's context wrapper; before 0.0.14 a result has none, and it is what a hook `heard`."""
    return getattr(result, "context_wrapper", heard)


def run_data(exc: BaseException) -> Any:
    """What the SDK says the run had done when `exc` ended it (``RunErrorDetails``), or None.

    Exceptions of the SDK have it from 0.0.17 on.
    """
    return getattr(exc, "run_data", None)


def unheard_hooks() -> tuple[str, ...]:
    """Lifecycle hooks that the release does not have: those around the model came with 0.2.9."""
    return tuple(name for name in ("on_llm_end", "on_llm_start") if not hasattr(RunHooks, name))


class _CallArguments(str):
    """The arguments of a call, which know the call they belong to."""

    call_id: str


def mark_call(item: Any) -> None:
    """Write a call's id on the text of its arguments, for `span_call`, up to 0.7.0."""
    if item.type == "function_call" and not tells_servers():
        item.arguments = _CallArguments(item.arguments)
        item.arguments.call_id = item.call_id


def tool_call(context: Any) -> tuple[str, str]:
    """Call id and arguments of the tool call for which a tool or a hook was given `context`.

    The context knows the id from 0.0.18 on and the arguments from 0.3.2 on.
    """
    call, text = ("", "") if tool_context_is_whole() else span_call()
    return getattr(context, "tool_call_id", call), getattr(context, "tool_arguments", text)


def span_call() -> tuple[str, str]:
    """Call id and arguments of the tool call within which this is called, up to 0.7.0.

    The function span which the Runner opens around a tool and its hooks holds the arguments as
    the model gave them, be tracing on or off, and `mark_call` has written the id on that text.
    """
    given: Any = getattr(getattr(get_current_span(), "span_data", None), "input", None) or ""
    return getattr(given, "call_id", ""), str(given)


@functools.cache
def serves(option: str) -> bool:
    """Whether agents can have MCP servers, from 0.0.7, and these have an option."""
    if not takes(Agent, "mcp_servers"):
        return False
    return takes(importlib.import_module("agents.mcp").MCPServerStdio, option)


def tells_servers() -> bool:
    """Whether an MCP server can be told the context of a call before it comes, from 0.8.0."""
    return serves("tool_meta_resolver")


@functools.cache
def _tool_context() -> Any:
    try:
        return importlib.import_module("agents.tool_context").ToolContext
    except ImportError:
        return None


def tool_context_is_whole() -> bool:
    """Whether a tool's context knows its call and its arguments, from 0.3.2."""
    return _tool_context() is not None and takes(_tool_context(), "tool_arguments")


@contextmanager
def traces_to(processor: Any) -> Iterator[None]:
    """Send all traces of the process to `processor` alone; on leaving, as before.

    From 0.0.19 the trace provider can be replaced. Before, it is one object that the SDK's
    modules have imported by name, so its processors are replaced.
    """
    from agents import tracing

    setup: Any = importlib.import_module("agents.tracing.setup")
    if hasattr(tracing, "set_trace_provider"):
        # not by `get_trace_provider`, which makes one, with an HTTP client, if there is none
        before = setup.GLOBAL_TRACE_PROVIDER
        provider = importlib.import_module("agents.tracing.provider").DefaultTraceProvider()
        provider.set_disabled(False)
        provider.register_processor(processor)
        tracing.set_trace_provider(provider)
        try:
            yield
        finally:
            setup.GLOBAL_TRACE_PROVIDER = before
    else:
        provider = setup.GLOBAL_TRACE_PROVIDER
        kept = provider._multi_processor, provider._disabled
        provider._multi_processor = type(provider._multi_processor)()
        provider.set_disabled(False)
        provider.register_processor(processor)
        try:
            yield
        finally:
            provider._multi_processor, provider._disabled = kept


@functools.cache
def takes(function: Callable[..., Any], parameter: str) -> bool:
    """Whether a function or a dataclass has a parameter of that name."""
    return parameter in inspect.signature(function).parameters
