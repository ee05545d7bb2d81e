"""What a request holds, the same for every dialect: messages and tools as blocks of text.

Each block knows the way to its text within its message, so that a place in a request can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Path = tuple[str | int, ...]
Kind = Literal["text", "call", "result", "reasoning", "other"]


@dataclass(frozen=True)
class Block:
    """One text of a message.

    Args:
        kind: what it is; ``other`` is an image or the like.
        text: what it says; of a call, its arguments.
        path: where it stands in its message.
        name: of the tool that is called.
        id: of the call that is made or answered.
    """

    kind: Kind
    text: str
    path: Path = ()
    name: str = ""
    id: str = ""


@dataclass(frozen=True)
class Message:
    """Who speaks, and the texts of it."""

    role: str
    blocks: tuple[Block, ...]


def message(value: Any) -> Message:
    """A message or item of a request in any dialect."""
    if not isinstance(value, dict):
        return Message("?", (Block("other", compact(value)),))
    role = str(value.get("role") or value.get("type") or "?")
    return Message(role, tuple(_blocks(value)))


def head(key: str, value: Any) -> Message:
    """A text that stands beside the messages: ``system`` or ``instructions``, or a whole input."""
    return Message("user" if key == "input" else "system", tuple(_content(value, (), "text", "")))


def tool(value: Any) -> tuple[str, tuple[Block, ...]]:
    """A tool that a request offers: its name, its description, and the schema of its arguments."""
    if not isinstance(value, dict):
        return "?", (Block("other", compact(value)),)
    inner: Path = ("function",) if isinstance(value.get("function"), dict) else ()
    made = value["function"] if inner else value
    blocks = [Block("text", str(made["description"]), (*inner, "description"))] \
        if made.get("description") else []
    blocks += [Block("other", compact(made[key]), (*inner, key))
               for key in ("parameters", "input_schema") if made.get(key)]
    return str(made.get("name") or made.get("type") or "?"), tuple(blocks)


def _blocks(value: dict[str, Any]) -> Iterator[Block]:
    kind: Kind = "text"
    id = str(value.get("tool_call_id") or value.get("call_id") or "")
    if value.get("role") in ("tool", "function") or str(value.get("type")).endswith("_output"):
        kind = "result"
    for key in ("reasoning_content", "reasoning"):
        if isinstance(value.get(key), str):
            yield Block("reasoning", value[key], (key,))
    for key in ("content", "output", "summary"):
        if value.get(key) is not None:
            kind = "reasoning" if value.get("type") == "reasoning" else kind
            yield from _content(value[key], (key,), kind, id)
    for n, call in tables(value.get("tool_calls")):
        inner: Path = ("function",) if isinstance(call.get("function"), dict) else ()
        made = call["function"] if inner else call
        yield Block("call", compact(made.get("arguments", "")),
                    ("tool_calls", n, *inner, "arguments"), str(made.get("name")),
                    str(call.get("id") or ""))
    for key in ("arguments", "input"):
        if key in value and value.get("name"):
            yield Block("call", compact(value[key]), (key,), str(value["name"]), id)


def _content(content: Any, path: Path, kind: Kind, id: str) -> Iterator[Block]:
    if not isinstance(content, list):
        yield Block(kind, compact(content), path, id=id)
        return
    for n, part in enumerate(content):
        yield from _part(part, (*path, n), kind, id)


def _part(part: Any, path: Path, kind: Kind, id: str) -> Iterator[Block]:
    if not isinstance(part, dict):
        yield Block(kind, compact(part), path, id=id)
    elif part.get("type") == "tool_use":
        yield Block("call", compact(part.get("input")), (*path, "input"), str(part.get("name")),
                    str(part.get("id") or ""))
    elif part.get("type") == "tool_result":
        yield from _content(part.get("content"), (*path, "content"), "result",
                            str(part.get("tool_use_id") or ""))
    elif isinstance(part.get("thinking"), str):
        yield Block("reasoning", part["thinking"], (*path, "thinking"))
    elif isinstance(part.get("text"), str):
        yield Block(kind, part["text"], (*path, "text"), id=id)
    else:
        yield Block("other", compact(part), path, id=id)


def tables(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The tables in a list, with their places; of anything else none."""
    return [(n, one) for n, one in enumerate(value if isinstance(value, list) else ())
            if isinstance(one, dict)]


def compact(value: Any) -> str:
    """A text as it is, anything else as JSON on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
