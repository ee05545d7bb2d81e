"""OpenLLMetry (Traceloop), before it took to GenAI's messages: ``gen_ai.prompt.N.role`` and so on,
``llm.*``, and ``traceloop.*`` for tools and agents.

https://www.traceloop.com/docs/openllmetry/contributing/semantic-conventions
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.importers import parts
from agentrunproof.importers.conventions import model_step, numbers, tool_step
from agentrunproof.importers.draft import SpanStep, Step
from agentrunproof.importers.source import unwrapped
from agentrunproof.importers.spans import Span

Json = dict[str, Any]

NAME = "OpenLLMetry"
_PROMPTS = ("gen_ai.prompt", "llm.prompts")
_COMPLETIONS = ("gen_ai.completion", "llm.completions")
_PARAMETERS = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens",
               "frequency_penalty": "frequency_penalty", "presence_penalty": "presence_penalty"}


def claims(span: Span) -> bool:
    """Whether a span follows this convention."""
    return "traceloop.span.kind" in span.attributes or any(
        name.startswith(("gen_ai.prompt.", "gen_ai.completion.", "llm.prompts.",
                         "llm.completions.")) for name in span.attributes)


def read(span: Span, left: Counter[str]) -> Step:
    """The step that a span tells of."""
    kind = str(span.take("traceloop.span.kind") or "")
    if not kind:
        return _model(span, left)
    name = span.take("traceloop.entity.name") or span.name
    if kind == "tool":
        return tool_step(span, name, _inputs(span.take("traceloop.entity.input")),
                         unwrapped(span.take("traceloop.entity.output")),
                         span.take("gen_ai.tool.call.id"))
    return SpanStep(type=kind, name=str(name), error=span.error)


def _inputs(told: Any) -> Any:
    """A tool's arguments: the decorators of OpenLLMetry write them with their context."""
    value = unwrapped(told)
    if isinstance(value, dict) and {"args", "kwargs"} <= value.keys():
        return value["kwargs"] if not value["args"] else {"args": value["args"], **value["kwargs"]}
    if isinstance(value, dict) and "inputs" in value:
        return value["inputs"]
    return value


def _model(span: Span, left: Counter[str]) -> Step:
    heard = [_message(row, "user", left) for prefix in _PROMPTS for row in span.indexed(prefix)]
    said = [_message(row, "assistant", left) for prefix in _COMPLETIONS
            for row in span.indexed(prefix)]
    body: Json = {"model": span.take("gen_ai.request.model", "llm.request.model")}
    for name, key in _PARAMETERS.items():
        body[key] = span.take(f"gen_ai.request.{name}", f"llm.{name}")
    rows = span.indexed("llm.request.functions")
    body["tools"] = parts.chat_tools(rows)
    reply = parts.chat_reply(said, **numbers({
        "id": span.take("gen_ai.response.id"),
        "model": span.take("gen_ai.response.model", "llm.response.model")}))
    provider = span.take("gen_ai.provider.name", "gen_ai.system", "llm.vendor")
    return model_step(span, {**numbers(body), "messages": heard}, reply, provider, left)


def _message(row: Json, role: str, left: Counter[str]) -> Json:
    content = row.pop("content", None)
    inner = unwrapped(content)
    is_parts = isinstance(inner, list) and all(
        isinstance(part, dict) and "type" in part for part in inner)
    made: Json = {"role": str(row.pop("role", role)), "content": inner if is_parts else content}
    calls: dict[int, Json] = {}
    for name in [name for name in row if name.startswith(("tool_calls.", "function_call."))]:
        number, _, key = name.split(".", 1)[1].partition(".")
        if name.startswith("function_call."):
            number, key = "0", name.split(".", 1)[1]
        if number.isdecimal():
            calls.setdefault(int(number), {})[key] = row.pop(name)
    if calls:
        made["tool_calls"] = [parts.tool_call(one.get("id"), one.get("name"), one.get("arguments"))
                              for _, one in sorted(calls.items())]
    if "tool_call_id" in row:
        made["tool_call_id"] = row.pop("tool_call_id")
    row.pop("finish_reason", None)
    for name in row:
        left[f"prompt or completion: {name}"] += 1
    return made
