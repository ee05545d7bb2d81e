"""OpenInference: ``llm.input_messages.N.message...`` and spans of kinds.

https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.importers import parts
from agentrunproof.importers.conventions import literal_step, model_step, tool_step
from agentrunproof.importers.draft import SpanStep, Step
from agentrunproof.importers.source import unwrapped
from agentrunproof.importers.spans import Span

Json = dict[str, Any]

NAME = "OpenInference"


def claims(span: Span) -> bool:
    """Whether a span follows this convention."""
    return "openinference.span.kind" in span.attributes or any(
        name.startswith(("llm.input_messages.", "llm.output_messages."))
        for name in span.attributes)


def read(span: Span, left: Counter[str]) -> Step:
    """The step that a span tells of."""
    kind = str(span.take("openinference.span.kind") or "LLM").upper()
    if kind == "LLM":
        return _model(span, left)
    if kind == "TOOL":
        given = span.take("input.value")
        told = span.take("tool.parameters") if given is None else given
        span.take("input.mime_type")
        span.take("output.mime_type")
        return tool_step(span, span.take("tool.name", "tool_call.function.name"), told,
                         unwrapped(span.take("output.value")), span.take("tool_call.id", "tool.id"))
    name = span.take("agent.name") or span.name
    return SpanStep(type=kind.lower(), name=str(name), error=span.error)


def _model(span: Span, left: Counter[str]) -> Step:
    heard = [_message(row, left) for row in span.indexed("llm.input_messages")]
    said = [_message(row, left) for row in span.indexed("llm.output_messages")]
    parameters = unwrapped(span.take("llm.invocation_parameters"))
    more = {key: value for key, value in parameters.items() if key not in ("messages", "input")} \
        if isinstance(parameters, dict) else {}
    model = span.take("llm.model_name")
    if model and "model" not in more:
        more = {"model": model, **more}
    tools = [unwrapped(row.get("tool.json_schema")) for row in span.indexed("llm.tools")]
    if tools and "tools" not in more:
        more["tools"] = parts.chat_tools(tools)
    reply = parts.chat_reply(said)
    literal = literal_step(span, span.attributes.get("input.value"),
                           span.attributes.get("output.value"), reply, {})
    if literal is not None and ("model" in literal.body or not heard):
        more.pop("tools", None) if "tools" in literal.body else None
        literal.body = {**more, **literal.body}
        _take_values(span)
        return literal
    if heard or not span.attributes.get("input.value"):
        if said:
            _take_values(span)
        provider = span.take("llm.provider", "llm.system")
        return model_step(span, {**more, "messages": heard}, reply, provider, left)
    body = {**more, "messages": [{"role": "user", "content": str(span.take("input.value"))}]}
    if reply is None and "output.value" in span.attributes:
        reply = parts.chat_reply([{"role": "assistant",
                                   "content": str(span.take("output.value"))}])
    return model_step(span, body, reply, span.take("llm.provider", "llm.system"), left)


def _take_values(span: Span) -> None:
    for name in ("input.value", "input.mime_type", "output.value", "output.mime_type"):
        span.take(name)


def _message(row: Json, left: Counter[str]) -> Json:
    """A chat message of the attributes ``message.role``, ``message.tool_calls.N...``."""
    made: Json = {"role": str(row.pop("message.role", "user"))}
    content = row.pop("message.content", None)
    contents = _rows(row, "message.contents")
    if contents and content is None:
        content = [_content(one, left) for one in contents]
    made["content"] = content
    calls = [parts.tool_call(one.get("tool_call.id"), one.get("tool_call.function.name"),
                             one.get("tool_call.function.arguments"))
             for one in _rows(row, "message.tool_calls")]
    if calls:
        made["tool_calls"] = calls
    for key in ("tool_call_id", "name"):
        if f"message.{key}" in row:
            made[key] = row.pop(f"message.{key}")
    for name in row:
        left[f"llm message: {name}"] += 1
    return made


def _content(row: Json, left: Counter[str]) -> Json:
    kind = row.get("message_content.type", "text")
    if kind == "image":
        return {"type": "image_url", "image_url": {
            "url": row.get("message_content.image.image.url", "")}}
    if kind != "text":
        left[f"message content {kind}"] += 1
    return {"type": "text", "text": str(row.get("message_content.text", ""))}


def _rows(row: Json, prefix: str) -> list[Json]:
    """The entries ``prefix.N.key`` of a table as tables, in the order of N; they are taken out."""
    rows: dict[int, Json] = {}
    for name in [name for name in row if name.startswith(prefix + ".")]:
        number, _, key = name[len(prefix) + 1:].partition(".")
        if number.isdecimal():
            rows.setdefault(int(number), {})[key] = row.pop(name)
    return [rows[number] for number in sorted(rows)]
