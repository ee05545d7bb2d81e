"""Runs of the OpenAI Agents SDK: models are tapped, a trace processor tells who acts.

The models of OpenAI are recorded at the wire (`recorders.clients`); of any other model the request
is kept as the Responses API would be sent it, made of what the Runner hands to the model. Tools are
seen by their spans, which are told the arguments after they began; so a tool is recorded when it
ends. With tracing off, agents and tools are not seen, models are.
"""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agents import Agent, RunConfig
from agents.models.interface import Model
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from agents.tracing import add_trace_processor, get_current_span, get_trace_provider
from agents.tracing.processor_interface import TracingProcessor

from agentrunproof.recorders import clients
from agentrunproof.recorders.calls import ModelCall, ToolCall
from agentrunproof.recorders.linking import Scope

if TYPE_CHECKING:
    from agentrunproof.recorders.tape import Tape

#: What a model is handed, in this order.
_HANDED = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs",
           "tracing")
#: Settings that are parameters of the Responses API, and what they are called there.
_SETTINGS = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_output_tokens",
             "tool_choice": "tool_choice", "parallel_tool_calls": "parallel_tool_calls",
             "truncation": "truncation", "metadata": "metadata", "store": "store"}


def run_config(tape: Tape, agents: tuple[Any, ...], given: RunConfig | None) -> RunConfig:
    """Tap what the configuration and the agents name; see `Recorder.agents_sdk`."""
    config = given if given is not None else RunConfig()
    _tap_provider(tape, config.model_provider)
    if isinstance(config.model, Model):
        _tap_model(tape, config.model)
    for agent in _reachable(agents):
        if isinstance(agent.model, Model):
            _tap_model(tape, agent.model)
    _listen().add(tape)
    return config


def _reachable(agents: tuple[Any, ...]) -> list[Agent[Any]]:
    """The agents, those that they hand over to, and those that are their tools."""
    found: dict[int, Agent[Any]] = {}
    waiting = list(agents)
    while waiting:
        agent = waiting.pop()
        if not isinstance(agent, Agent) or id(agent) in found:
            continue
        found[id(agent)] = agent
        for handoff in agent.handoffs:
            reference = getattr(handoff, "_agent_ref", None)
            waiting.append(reference() if reference is not None else handoff)
        waiting += [getattr(tool, "_agent_instance", None) for tool in agent.tools]
    return list(found.values())


def _tap_provider(tape: Tape, provider: Any) -> None:
    get_model = provider.get_model

    @functools.wraps(get_model)
    def tapped(*args: Any, **kwargs: Any) -> Any:
        model = get_model(*args, **kwargs)
        _tap_model(tape, model)
        return model

    _put(tape, provider, "get_model", tapped)


def _tap_model(tape: Tape, model: Any) -> None:
    """Record a model's requests; one that can't be tapped is told and stays as it is."""
    def tap() -> None:
        client = getattr(model, "_client", None)
        if type(model) in (OpenAIResponsesModel, OpenAIChatCompletionsModel) \
                and clients.http_client(client) is not None:
            clients.tap(tape, client)
        elif getattr(vars(model).get("get_response"), "tape", None) is not tape:
            _put(tape, model, "get_response", _get_response(tape, model))
            _put(tape, model, "stream_response", _stream_response(tape, model))

    tape.safely(tap)


def _put(tape: Tape, owner: Any, name: str, value: Any) -> None:
    """Set an attribute of one object until the run ends."""
    value.recorder = tape
    before = vars(owner).get(name)
    setattr(owner, name, value)

    def undo() -> None:
        if vars(owner).get(name) is value:
            delattr(owner, name)
            if before is not None:
                setattr(owner, name, before)

    tape.on_close(undo)


def _get_response(tape: Tape, model: Any) -> Callable[..., Any]:
    get_response = model.get_response

    @functools.wraps(get_response)
    async def tapped(*args: Any, **kwargs: Any) -> Any:
        with _called(tape, model, args, kwargs) as call:
            response = await get_response(*args, **kwargs)
            tape.safely(lambda: call.returned({
                "id": response.response_id, "object": "response",
                "output": list(response.output)}))
            return response

    return tapped


def _stream_response(tape: Tape, model: Any) -> Callable[..., Any]:
    stream_response = model.stream_response

    @functools.wraps(stream_response)
    async def tapped(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        call = _called(tape, model, args, kwargs)
        try:
            async for event in stream_response(*args, **kwargs):
                if getattr(event, "type", "") == "response.completed":
                    call.returned(event.response)
                yield event
        except BaseException as error:
            call.failed(error)
            raise
        call.failed({"type": "NoReply", "message": "the stream had no response.completed"})

    return tapped


def _called(tape: Tape, model: Any, args: Any, kwargs: Any) -> ModelCall:
    handed = dict(zip(_HANDED, args, strict=False)) | kwargs
    return ModelCall(tape, "openai.responses",
                     tape.safely(lambda: _body(model, handed)) or {})


def _body(model: Any, handed: dict[str, Any]) -> dict[str, Any]:
    """The request that the Responses API would be sent."""
    body: dict[str, Any] = {"model": str(getattr(model, "model", type(model).__name__))}
    if handed.get("system_instructions"):
        body["instructions"] = handed["system_instructions"]
    body["input"] = handed.get("input", [])
    settings = handed.get("model_settings")
    for name, parameter in _SETTINGS.items():
        value = getattr(settings, name, None)
        if value is not None:
            body[parameter] = value
    tools = [_tool(tool) for tool in handed.get("tools") or ()]
    tools += [_handoff(handoff) for handoff in handed.get("handoffs") or ()]
    if tools:
        body["tools"] = tools
    output = handed.get("output_schema")
    if output is not None and not output.is_plain_text():
        body["text"] = {"format": {"type": "json_schema", "name": "final_output",
                                   "schema": output.json_schema(),
                                   "strict": output.is_strict_json_schema()}}
    if handed.get("previous_response_id"):
        body["previous_response_id"] = handed["previous_response_id"]
    return body


def _tool(tool: Any) -> dict[str, Any]:
    if hasattr(tool, "params_json_schema"):
        return {"type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.params_json_schema, "strict": tool.strict_json_schema}
    return {"type": tool.name}  # a tool that the API hosts


def _handoff(handoff: Any) -> dict[str, Any]:
    return {"type": "function", "name": handoff.tool_name,
            "description": handoff.tool_description, "parameters": handoff.input_json_schema,
            "strict": getattr(handoff, "strict_json_schema", True)}


@dataclass(frozen=True)
class _Span:
    """What is known of a span that is not over: what of, and what it is in."""

    kind: str
    name: str
    parent: str | None
    #: For a function span of each tape: the id of its tool call.
    tools: dict[int, str]


class _Processor(TracingProcessor):
    """Hears of all spans of the process; records those while a tape listens."""

    def __init__(self) -> None:
        self._tapes: list[Tape] = []
        self._spans: dict[str, _Span] = {}

    def add(self, tape: Tape) -> None:
        """Record to `tape` until its run ends."""
        if tape not in self._tapes:
            self._tapes.append(tape)
            tape.ask_about_scope(lambda scope: self._scope(tape, scope))
            tape.on_close(lambda: self._tapes.remove(tape))

    def on_trace_start(self, trace: Any) -> None:
        """Nothing: spans name their trace."""

    def on_trace_end(self, trace: Any) -> None:
        """Nothing: spans end by themselves."""

    def on_span_start(self, span: Any) -> None:
        """Know the span, so that what happens inside has a place."""
        if not self._tapes or span.span_id in self._spans:
            return
        data = span.span_data
        tools = {id(one): one.next_id("t") for one in self._tapes if data.type == "function"}
        self._spans[span.span_id] = _Span(data.type, getattr(data, "name", ""), span.parent_id,
                                          tools)

    def on_span_end(self, span: Any) -> None:
        """Record what the span was of."""
        known = self._spans.get(span.span_id)
        if known is None:
            return
        for tape in list(self._tapes):
            tape.safely(functools.partial(self._ended, tape, span, known))
        del self._spans[span.span_id]

    def shutdown(self) -> None:
        """Nothing to shut down: recorders end with their blocks."""

    def force_flush(self) -> None:
        """Nothing to flush: events are written as they happen."""

    def _ended(self, tape: Tape, span: Any, known: _Span) -> None:
        data = span.span_data
        scope = self._scope_of(tape, span.parent_id, tape.declared_scope())
        who: dict[str, Any] = {"agent": scope.agent, "parent": scope.parent}
        if known.kind == "function" and id(tape) in known.tools:
            call = ToolCall(tape, data.name, _arguments(data.input), "", scope,
                            known.tools[id(tape)])
            if span.error:
                call.failed({"type": "ToolError", "message": str(span.error.get("message", ""))},
                            data.output)
            else:
                call.returned(data.output)
        elif known.kind == "handoff":
            tape.write(lambda writer: writer.event(
                "handoff", **who, **{"from": data.from_agent, "to": data.to_agent}))
        elif known.kind == "guardrail":
            tape.write(lambda writer: writer.event(
                "guardrail_checked", **who, guardrail=data.name, tripped=data.triggered))

    def _scope(self, tape: Tape, outer: Scope) -> Scope:
        span = get_current_span()
        return outer if span is None else self._scope_of(tape, span.span_id, outer)

    def _scope_of(self, tape: Tape, span: str | None, outer: Scope) -> Scope:
        """The nearest agent around a span, and the nearest tool."""
        agent, tool = outer, ""
        while span is not None and span in self._spans:
            known = self._spans[span]
            if known.kind == "agent" and agent is outer:
                agent = replace(outer, agent=known.name, of=span)
            elif known.kind == "function" and not tool:
                tool = known.tools.get(id(tape), "")
            span = known.parent
        return replace(agent, parent=tool or agent.parent)


def _arguments(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


_PROCESSOR = _Processor()


def _listen() -> _Processor:
    """The one processor of this process, which hears spans from now on.

    The SDK has no way to take a processor away, and none to ask for those that there are.
    """
    heard = getattr(getattr(get_trace_provider(), "_multi_processor", None), "_processors", ())
    if _PROCESSOR not in heard:
        add_trace_processor(_PROCESSOR)
    return _PROCESSOR
