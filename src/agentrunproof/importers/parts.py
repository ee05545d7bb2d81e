"""Messages that a trace holds in a form of its own, as those of an API.

GenAI messages (`parts`) and OpenInference messages become chat messages first; for a model of
Anthropic's these become messages of its API, so that the request can be sent again.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from agentrunproof.importers.source import tables, unwrapped

Json = dict[str, Any]


def text_of(value: Any) -> str:
    """A text as it is, anything else as its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tool_call(id: Any, name: Any, arguments: Any) -> Json:
    """A tool call as chat messages hold it."""
    return {"id": str(id or ""), "type": "function",
            "function": {"name": str(name or ""), "arguments": text_of(
                {} if arguments is None else arguments)}}


def function_of(call: Json) -> Json:
    """The part of a tool call that has its name and arguments."""
    made = call.get("function")
    return made if isinstance(made, dict) else call


def chat_messages(messages: Any, left: Counter[str]) -> list[Json]:
    """GenAI messages (``role``, ``parts``) as chat messages; others as they are.

    Args:
        messages: the list, or its JSON text.
        left: where parts that have no place in chat messages are counted.
    """
    found: list[Json] = []
    for message in tables(unwrapped(messages)):
        if "parts" in message:
            found += _of_parts(message, left)
        else:
            found.append({key: value for key, value in message.items() if key != "finish_reason"})
    return found


def _of_parts(message: Json, left: Counter[str]) -> list[Json]:
    role = str(message.get("role") or "user")
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[Json] = []
    results: list[Json] = []
    for part in tables(message["parts"]):
        match part.get("type"):
            case "text":
                texts.append(text_of(part.get("content", "")))
            case "tool_call":
                calls.append(tool_call(part.get("id"), part.get("name"), part.get("arguments")))
            case "tool_call_response":
                output = part.get("response", part.get("result"))
                results.append({"role": "tool", "tool_call_id": str(part.get("id") or ""),
                                "content": _joined(output)})
            case "reasoning" | "thinking":
                reasoning.append(text_of(part.get("content", "")))
            case kind:
                left[f"message part {kind!s:.40}"] += 1
    if not (texts or calls or reasoning):
        if not results:
            left["message without content"] += 1
        return results
    made: Json = {"role": role, "content": "\n".join(texts) if texts else None}
    if reasoning:
        made["reasoning_content"] = "\n".join(reasoning)
    if calls:
        made["tool_calls"] = calls
    if "name" in message:
        made["name"] = message["name"]
    return [*results, made]


def _joined(output: Any) -> str:
    """A tool's output as text: parts that are texts alone are joined."""
    parts = tables(output)
    if parts and len(parts) == len(output) and all(
            part.get("type") == "text" and isinstance(part.get("text"), str) for part in parts):
        return "".join(part["text"] for part in parts)
    return text_of(output)


def chat_tools(definitions: Any) -> list[Json]:
    """Tool definitions, as any API or trace has them, as chat requests hold them."""
    found = []
    for tool in tables(unwrapped(definitions)):
        if isinstance(tool.get("function"), dict):
            found.append(tool)
            continue
        made: Json = {key: tool[key] for key in ("name", "description") if key in tool}
        schema = tool.get("parameters", tool.get("input_schema"))
        if schema is not None:
            made["parameters"] = unwrapped(schema)
        found.append({"type": "function", "function": made})
    return found


def chat_reply(messages: list[Json], **fields: Any) -> Json | None:
    """A chat reply of a model's messages; None if there are none.

    Several are alternatives of one request; the first is what the run went on with.
    """
    if not messages:
        return None
    return {**fields, "choices": [{"index": number, "message": message}
                                  for number, message in enumerate(messages)]}


def is_anthropic(provider: Any, model: Any) -> bool:
    """Whether a request went to a model of Anthropic's by its API."""
    return str(provider or "").lower() == "anthropic" \
        or (not provider and str(model or "").startswith("claude"))


def anthropic_body(body: Json, left: Counter[str]) -> Json:
    """A chat request as one of Anthropic's API: system apart, results in user messages.

    Args:
        body: the chat request.
        left: where reasoning is counted: that API takes none without its signature.
    """
    made = {key: value for key, value in body.items() if key not in ("messages", "tools")}
    system = [text_of(message.get("content") or "") for message in body["messages"]
              if message.get("role") in ("system", "developer")]
    if system:
        made["system"] = "\n\n".join(system)
    messages: list[Json] = []
    for message in body["messages"]:
        if message.get("role") not in ("system", "developer"):
            turn = _anthropic_message(message, left)
            if messages and messages[-1]["role"] == turn["role"]:
                messages[-1]["content"] = [*messages[-1]["content"], *turn["content"]]
            else:
                messages.append(turn)
    made["messages"] = messages
    if "tools" in body:
        made["tools"] = [_anthropic_tool(tool["function"]) for tool in body["tools"]]
    return made


def anthropic_reply(reply: Json | None, left: Counter[str]) -> Json | None:
    """A chat reply as one of Anthropic's API."""
    if reply is None:
        return None
    rest = {key: value for key, value in reply.items() if key != "choices"}
    message = _anthropic_message(reply["choices"][0]["message"], left)
    return {**rest, "type": "message", **message}


def _anthropic_message(message: Json, left: Counter[str]) -> Json:
    if message.get("role") == "tool":
        return {"role": "user", "content": [{
            "type": "tool_result", "tool_use_id": message.get("tool_call_id", ""),
            "content": message.get("content")}]}
    content = message.get("content")
    blocks = list(content) if isinstance(content, list) else \
        [{"type": "text", "text": content}] if content else []
    for call in tables(message.get("tool_calls")):
        made = function_of(call)
        blocks.append({"type": "tool_use", "id": call.get("id", ""), "name": made.get("name", ""),
                       "input": unwrapped(made.get("arguments", "{}"))})
    if "reasoning_content" in message:
        left["reasoning without its signature"] += 1
    return {"role": "assistant" if message.get("role") == "assistant" else "user",
            "content": blocks}


def _anthropic_tool(tool: Json) -> Json:
    made = {key: value for key, value in tool.items() if key != "parameters"}
    return {**made, "input_schema": tool.get("parameters", {"type": "object"})}
