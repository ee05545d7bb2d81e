"""A recorded request as the items that the Agents SDK's Runner takes as input."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agentrunproof.ablation.dialects import Body

Item = dict[str, Any]

_SAYING = ("user", "assistant")
#: Where there is nothing that the SDK could be given, it is given this.
_NOTHING = {"role": "user", "content": "Go on."}


def items(body: Body, dialect: str) -> list[Item]:
    """What was said, called and answered; instructions are left to the agent, and what is no
    text is left out.

    Args:
        body: of a request.
        dialect: of it.
    """
    turns = body.get("input" if dialect == "openai.responses" else "messages")
    if isinstance(turns, str):
        turns = [{"role": "user", "content": turns}]
    read = _READ[dialect]
    return [item for turn in turns or () for item in read(turn)] or [_NOTHING]


def _responses(turn: Item) -> Iterator[Item]:
    match turn.get("type") or "message":
        case "message":
            yield from _said(turn.get("role"), turn.get("content"))
        case "function_call":
            yield _call(turn.get("call_id"), turn.get("name"), turn.get("arguments"))
        case "function_call_output":
            yield _output(turn.get("call_id"), turn.get("output"))


def _chat(turn: Item) -> Iterator[Item]:
    if turn.get("role") == "tool":
        yield _output(turn.get("tool_call_id"), turn.get("content"))
        return
    yield from _said(turn.get("role"), turn.get("content"))
    for call in turn.get("tool_calls") or ():
        made = call.get("function") or {}
        yield _call(call.get("id"), made.get("name"), made.get("arguments"))


def _anthropic(turn: Item) -> Iterator[Item]:
    content = turn.get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or ():
        match block.get("type"):
            case "text":
                yield from _said(turn.get("role"), block.get("text"))
            case "tool_use":
                yield _call(block.get("id"), block.get("name"), json.dumps(block.get("input")))
            case "tool_result":
                yield _output(block.get("tool_use_id"), block.get("content"))


def _said(role: Any, content: Any) -> Iterator[Item]:
    text = _text(content)
    if role in _SAYING and text:
        yield {"role": role, "content": text}


def _call(id: Any, name: Any, arguments: Any) -> Item:
    return {"type": "function_call", "call_id": str(id), "name": str(name),
            "arguments": arguments or "{}"}


def _output(id: Any, content: Any) -> Item:
    return {"type": "function_call_output", "call_id": str(id), "output": _text(content)}


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content
                         if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


_READ = {"openai.chat": _chat, "openai.responses": _responses, "anthropic.messages": _anthropic}
