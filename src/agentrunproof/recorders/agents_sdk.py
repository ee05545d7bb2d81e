"""Runs of the OpenAI Agents SDK: models are tapped, a trace processor tells who acts.

The models of OpenAI are recorded at the wire (`recorders.clients`); of any other model the request
is kept as the Responses API would be sent it, made of what the Runner hands to the model. Tools are
seen by their spans, which are told the arguments after they began; so a tool is recorded when it
ends. With tracing off, agents and tools are not seen, models are.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from agents import Agent, RunConfig
from agents.models.interface import Model
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from agents.tracing import add_trace_processor, get_trace_provider
from agents.tracing.processor_interface import TracingProcessor

from agentrunproof.recorders import clients
from agentrunproof.recorders.agents_spans import Spans
from agentrunproof.recorders.calls import ModelCall

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


class _Processor(TracingProcessor):
    """Hears of all spans of the process; records those while a tape listens."""

    def __init__(self) -> None:
        self._heard: dict[int, Spans] = {}

    def add(self, tape: Tape) -> None:
        """Record to `tape` until its run ends."""
        if id(tape) not in self._heard:
            spans = self._heard[id(tape)] = Spans(tape)
            tape.ask_about_scope(spans.scope)
            tape.on_close(lambda: self._heard.pop(id(tape)))

    def on_trace_start(self, trace: Any) -> None:
        """Nothing: spans name their trace."""

    def on_trace_end(self, trace: Any) -> None:
        """Nothing: spans end by themselves."""

    def on_span_start(self, span: Any) -> None:
        """Know the span, so that what happens inside has a place."""
        for spans in list(self._heard.values()):
            spans.started(span)

    def on_span_end(self, span: Any) -> None:
        """Record what the span was of."""
        for spans in list(self._heard.values()):
            spans.ended(span)

    def shutdown(self) -> None:
        """Nothing to shut down: recorders end with their blocks."""

    def force_flush(self) -> None:
        """Nothing to flush: events are written as they happen."""


_PROCESSOR = _Processor()


def _listen() -> _Processor:
    """The one processor of this process, which hears spans from now on.

    The SDK has no way to take a processor away, and none to ask for those that there are.
    """
    heard = getattr(getattr(get_trace_provider(), "_multi_processor", None), "_processors", ())
    if _PROCESSOR not in heard:
        add_trace_processor(_PROCESSOR)
    return _PROCESSOR
