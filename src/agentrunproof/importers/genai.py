"""OpenTelemetry's GenAI conventions: messages as attributes, as events, and the older
``gen_ai.content.prompt``.

https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.importers import dialogs, parts
from agentrunproof.importers.conventions import model_step, numbers, tool_step
from agentrunproof.importers.draft import SpanStep, Step
from agentrunproof.importers.source import tables, unwrapped
from agentrunproof.importers.spans import Span

Json = dict[str, Any]

NAME = "GenAI"
_MODEL = ("chat", "text_completion", "generate_content", "completion")
_DETAILS = "gen_ai.client.inference.operation.details"
_PARAMETERS = {"temperature": "temperature", "top_p": "top_p", "max_tokens": "max_tokens",
               "frequency_penalty": "frequency_penalty", "presence_penalty": "presence_penalty",
               "seed": "seed", "stop_sequences": "stop"}


def claims(span: Span) -> bool:
    """Whether a span follows this convention."""
    return any(name.startswith("gen_ai.") for name in span.attributes) \
        or any(event.name.startswith("gen_ai.") for event in span.events)


def read(span: Span, left: Counter[str]) -> Step:
    """The step that a span tells of."""
    _take_details(span)
    operation = str(span.take("gen_ai.operation.name") or "")
    if operation == "execute_tool" or (not operation and "gen_ai.tool.name" in span.attributes):
        return tool_step(span, span.take("gen_ai.tool.name"),
                         span.take("gen_ai.tool.call.arguments"),
                         span.take("gen_ai.tool.call.result"), span.take("gen_ai.tool.call.id"))
    if operation in _MODEL or (not operation and ("gen_ai.request.model" in span.attributes
                                                 or _has_messages(span))):
        body, reply = _request(span, left)
        return model_step(span, body, reply, _provider(span), left)
    name = span.take("gen_ai.agent.name")
    kind = "agent" if operation in ("invoke_agent", "create_agent") else operation or "span"
    return SpanStep(type=kind, name=str(name or span.name), error=span.error)


def conversation(span: Span, left: Counter[str]) -> list[Step]:
    """The requests and tool calls of which only an agent's messages tell.

    Some tools (the Claude Agent SDK) export all that went in and all that came out of an agent
    apart; each result follows the reply that asked for it.
    """
    if not _has_messages(span):
        return []
    body, _ = _request(span, left)
    replies = parts.chat_messages(span.attributes.get("gen_ai.output.messages"), Counter())
    body["messages"] = _interleaved(body["messages"], replies)
    if "model" not in body and span.attributes.get("gen_ai.response.model"):
        body = {"model": span.attributes["gen_ai.response.model"], **body}
    dialog = dialogs.CHAT
    if parts.is_anthropic(_provider(span), body.get("model")):
        body, dialog = parts.anthropic_body(body, left), dialogs.MESSAGES
    return dialogs.steps(dialog, body, ended=True)


def _take_details(span: Span) -> None:
    for event in span.events:
        if event.name == _DETAILS:
            span.attributes = {**event.attributes, **span.attributes}
    span.events = [event for event in span.events if event.name != _DETAILS]


def _has_messages(span: Span) -> bool:
    return "gen_ai.input.messages" in span.attributes or any(
        event.name.startswith("gen_ai.") for event in span.events)


def _provider(span: Span) -> Any:
    return span.attributes.get("gen_ai.provider.name", span.attributes.get("gen_ai.system"))


def _request(span: Span, left: Counter[str]) -> tuple[Json, Json | None]:
    """The request and reply of a span, in chat form."""
    messages = parts.chat_messages(span.take("gen_ai.input.messages"), left)
    replies = parts.chat_messages(span.take("gen_ai.output.messages"), left)
    heard, said = _of_events(span)
    messages, replies = messages or heard, replies or said
    system = unwrapped(span.take("gen_ai.system_instructions"))
    if system and not any(one.get("role") == "system" for one in messages):
        texts = [str(part.get("content", "")) for part in tables(system)] or [str(system)]
        messages = [{"role": "system", "content": "\n".join(texts)}, *messages]
    body: Json = {"model": span.take("gen_ai.request.model"), "messages": messages}
    for name, key in _PARAMETERS.items():
        body[key] = span.take(f"gen_ai.request.{name}")
    body["tools"] = parts.chat_tools(span.take("gen_ai.tool.definitions"))
    reply = parts.chat_reply(replies, **numbers({
        "id": span.take("gen_ai.response.id"), "model": span.take("gen_ai.response.model")}))
    return {**numbers(body), "messages": messages}, reply


def _of_events(span: Span) -> tuple[list[Json], list[Json]]:
    """The messages that went in and came out, as events tell them; these are taken off."""
    heard: list[Json] = []
    said: list[Json] = []
    rest = []
    for event in span.events:
        told = event.attributes.get("gen_ai.event.content")
        inner = unwrapped(told)
        body = {**event.attributes, **(inner if isinstance(inner, dict) else {})}
        match event.name.split("."):
            case ["gen_ai", "system" | "user" | "assistant" | "tool" as role, "message"]:
                heard.append(_message(role, body))
            case ["gen_ai", "choice"]:
                message = unwrapped(body.get("message"))
                said.append(_message("assistant", message if isinstance(message, dict) else
                                     {"content": message, **body} if message else body))
            case ["gen_ai", "content", "prompt"]:
                heard += _content(body.get("gen_ai.prompt"), "user")
            case ["gen_ai", "content", "completion"]:
                said += _content(body.get("gen_ai.completion"), "assistant")
            case _:
                rest.append(event)
    span.events = rest
    return heard, said


def _message(role: str, body: Json) -> Json:
    made: Json = {"role": str(body.get("role") or role), "content": _text(body)}
    calls = tables(unwrapped(body.get("tool_calls")))
    if calls:
        made["tool_calls"] = [
            parts.tool_call(call.get("id"), parts.function_of(call).get("name"),
                            parts.function_of(call).get("arguments")) for call in calls]
    if role == "tool":
        made["tool_call_id"] = str(body.get("id") or body.get("tool_call_id") or "")
    return made


def _text(body: Json) -> Any:
    """The content of an event's message: a text, or the list of parts it is the JSON of."""
    content = body.get("content")
    return content if content is None or isinstance(content, str | list) \
        else parts.text_of(content)


def _content(told: Any, role: str) -> list[Json]:
    inner = unwrapped(told)
    if isinstance(inner, dict):
        inner = inner.get("messages", [inner])
    if isinstance(inner, list):
        return [{"role": role, **one} for one in tables(inner)]
    return [{"role": role, "content": str(told or "")}]


def _interleaved(heard: list[Json], said: list[Json]) -> list[Json]:
    """What went in and what came out in one order."""
    results = {one["tool_call_id"]: one for one in heard if one.get("role") == "tool"}
    turns: list[list[Json]] = []  # what the user said, up to the next results
    for message in heard:
        if message.get("role") == "tool":
            turns.append([])
        else:
            turns = turns or [[]]
            turns[-1].append(message)
    prompts = [turn for turn in turns if turn]
    made = list(prompts.pop(0)) if prompts else []
    for message in said:
        made.append(message)
        calls = tables(message.get("tool_calls"))
        made += [results.pop(call["id"]) for call in calls if call["id"] in results]
        if not calls and prompts:
            made += prompts.pop(0)
    return [*made, *results.values(), *(one for turn in prompts for one in turn)]
