"""The spans of the OpenAI Agents SDK as events of one tape: agents, tools, handoffs, guardrails.

A span is told what it was of after it began; so what it stands for is recorded when it ends. An
exception that passes through it is seen where the SDK did not note it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agents.tracing import get_current_span

from agentrunproof.recorders.calls import ModelCall, ToolCall, error_of
from agentrunproof.recorders.linking import Scope

if TYPE_CHECKING:
    from agentrunproof.recorders.tape import Tape

#: What of a response is a parameter of its request as well.
_ASKED = ("model", "instructions", "tools", "tool_choice", "temperature", "top_p",
          "max_output_tokens", "parallel_tool_calls", "previous_response_id", "text", "reasoning",
          "truncation", "metadata")
#: What of the settings in a span is a parameter of Chat Completions.
_SETTINGS = ("temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty",
             "tool_choice", "parallel_tool_calls")

Error = dict[str, str]


@dataclass(frozen=True)
class _Span:
    """What is known of a span that is not over."""

    kind: str
    name: str
    parent: str | None
    #: Of a function span, the id of its tool call.
    tool: str
    #: The exception that somebody was handling already when it began.
    handled: BaseException | None


class Spans:
    """The spans that one tape hears of.

    Args:
        tape: where they are recorded.
        models: whether model calls are recorded by their spans; else the models are tapped.
    """

    def __init__(self, tape: Tape, *, models: bool = False) -> None:
        self._tape = tape
        self._models = models
        self._open: dict[str, _Span] = {}
        #: Why the outermost agent failed, if it did.
        self.failure: Error | None = None

    def started(self, span: Any) -> None:
        """Know a span, so that what happens inside has a place."""
        if span.span_id not in self._open:
            kind = span.span_data.type
            tool = self._tape.next_id("t") if kind == "function" else ""
            self._open[span.span_id] = _Span(kind, getattr(span.span_data, "name", ""),
                                             span.parent_id, tool, sys.exc_info()[1])

    def ended(self, span: Any) -> None:
        """Record what a span was of."""
        known = self._open.get(span.span_id)
        if known is not None:
            self._tape.safely(lambda: self._ended(span, known))
            del self._open[span.span_id]

    def scope(self, outer: Scope) -> Scope:
        """Who acts here: the nearest agent around the current span, and the nearest tool."""
        span = get_current_span()
        return outer if span is None else self._scope_of(span.span_id, outer)

    def _ended(self, span: Any, known: _Span) -> None:
        data = span.span_data
        scope = self._scope_of(span.parent_id, self._tape.declared_scope())
        who: dict[str, Any] = {"agent": scope.agent, "parent": scope.parent}
        error = _error(span, known)
        if known.kind == "function":
            call = ToolCall(self._tape, data.name, _arguments(data.input), "", scope, known.tool)
            if error:
                call.failed(error, data.output)
            else:
                call.returned(data.output)
        elif known.kind == "handoff":
            self._tape.write(lambda writer: writer.event(
                "handoff", **who, **{"from": data.from_agent, "to": data.to_agent}))
        elif known.kind == "guardrail":
            self._tape.write(lambda writer: writer.event(
                "guardrail_checked", **who, guardrail=data.name, tripped=data.triggered))
        elif known.kind in ("response", "generation") and self._models:
            self._model(data, known.kind, scope, error)
        elif error and not scope.agent and not scope.parent:
            self.failure = error

    def _model(self, data: Any, kind: str, scope: Scope, error: Error | None) -> None:
        read = _responses if kind == "response" else _chat
        dialect, body, reply = read(data)
        call = ModelCall(self._tape, dialect, body, scope)
        if error:
            call.failed(error)
        elif reply is None:
            call.failed({"type": "NoReply", "message": "the trace holds no reply"})
        else:
            call.returned(reply)

    def _scope_of(self, span: str | None, outer: Scope) -> Scope:
        agent, tool = outer, ""
        while span is not None and span in self._open:
            known = self._open[span]
            if known.kind == "agent" and agent is outer:
                agent = replace(outer, agent=known.name, of=span)
            elif known.kind == "function" and not tool:
                tool = known.tool
            span = known.parent
        return replace(agent, parent=tool or agent.parent)


def _error(span: Any, known: _Span) -> Error | None:
    """Why a span failed: what the SDK noted, else the exception that passes through it."""
    if span.error:
        said = str(span.error.get("message", ""))
        data = span.error.get("data")
        details = data.get("error") if isinstance(data, Mapping) else None
        kind = {"function": "ToolError", "response": "ModelError", "generation": "ModelError"}
        return {"type": kind.get(known.kind, "AgentError"),
                "message": f"{said}: {details}" if details else said}
    return passing(known.handled)


def passing(handled: BaseException | None) -> Error | None:
    """The exception that passes through here, unless it was being handled before."""
    error = sys.exc_info()[1]
    if error is None or error is handled:
        return None
    return error_of(error)


def _responses(data: Any) -> tuple[str, dict[str, Any], Any]:
    """Dialect, request and reply of a span of the Responses API, whose reply repeats most of what
    it was asked."""
    response = data.response
    body = {name: value for name in _ASKED
            if (value := getattr(response, name, None)) not in (None, [], {})}
    return "openai.responses", {**body, "input": data.input or []}, response


def _chat(data: Any) -> tuple[str, dict[str, Any], Any]:
    """Dialect, request and reply of a span of Chat Completions; tools are not told in it."""
    settings = data.model_config or {}
    body: dict[str, Any] = {"model": data.model or "", "messages": list(data.input or ()),
                            **{name: settings[name] for name in _SETTINGS
                               if settings.get(name) is not None}}
    output = list(data.output or ())
    usage = {"usage": data.usage} if data.usage else {}
    if not output:
        return "openai.chat", body, None
    if output[0].get("object") == "response":  # of a stream, put together by the SDK
        from agentrunproof.record import dialects

        return "openai.chat", body, {**dialects.decision("openai.responses", output[0]), **usage}
    return "openai.chat", body, {"choices": [{"message": one} for one in output], **usage}


def _arguments(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text
