"""Where the texts of a request stand, for each API whose requests are recorded.

A dialect is known by the walk that finds its *slots*: the strings that the model reads, each
with its place in the JSON body. Everything else is done once, for all dialects
(`agentrunproof.ablation.pieces`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentrunproof.ablation.subject import AblationError, Kind

Body = dict[str, Any]
Path = tuple[str | int, ...]


class Slot(NamedTuple):
    """One text of a request.

    Args:
        path: where its value stands in the body.
        id: as users type it.
        kind: what it is.
        place: where it stands, for people.
        text: the string, or the JSON of another value.
        literal: whether the value is no string.
        unit: the list item that goes when all of the text goes; nothing if only the text goes.
        call: id of the tool call that it answers or makes.
        name: of the tool that is called or described.
    """

    path: Path
    id: str
    kind: Kind
    place: str
    text: str
    literal: bool = False
    unit: Path = ()
    call: str = ""
    name: str = ""


class ToolCall(NamedTuple):
    """A tool call in a request: its id, name and arguments, and the list item that makes it."""

    id: str
    name: str
    arguments: Any
    unit: Path


@dataclass(frozen=True)
class Dialect:
    """One API.

    Args:
        name: as it stands in records.
        turns: key of the list of messages or items.
        slots: finds the texts of a body, in the order in which they are read.
        calls: finds the tool calls of a body.
    """

    name: str
    turns: str
    slots: Callable[[Body], Iterator[Slot]]
    calls: Callable[[Body], Iterator[ToolCall]]


def dialect(name: str) -> Dialect:
    """The dialect of that name.

    Raises:
        AblationError: ``DIALECT_UNKNOWN``.
    """
    if name not in _DIALECTS:
        raise AblationError("DIALECT_UNKNOWN", f"dialect {name!r} is not known",
                            "known: " + ", ".join(_DIALECTS))
    return _DIALECTS[name]


_ROLES: dict[str, Kind] = {"system": "system", "developer": "developer", "user": "user",
                           "assistant": "assistant", "tool": "tool_result",
                           "function": "tool_result"}
_WORDS = {"system": "system text", "developer": "developer text", "user": "user text",
          "assistant": "assistant text", "reasoning": "reasoning", "tool_result": "tool result"}


def _contents(content: Any, path: Path, id: str, kind: Kind, place: str, **more: Any
              ) -> Iterator[Slot]:
    """The texts of a content: a string, or a list of parts that may hold a ``text``."""
    if isinstance(content, str):
        if content:
            yield Slot(path, id, kind, place, content, **more)
    elif isinstance(content, list):
        texts = [(n, part["text"]) for n, part in enumerate(content)
                 if isinstance(part, dict) and isinstance(part.get("text"), str) and part["text"]]
        for count, (n, text) in enumerate(texts, 1):
            several = len(texts) > 1
            yield Slot((*path, n, "text"), f"{id} part {count}" if several else id, kind,
                       f"{place}, part {count}" if several else place, text,
                       **({"unit": (*path, n)} | more))


def _values(value: Any, path: Path, id: str, kind: Kind, place: str, **more: Any
            ) -> Iterator[Slot]:
    """Each string, number, true and false in a JSON value."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            step = f".{key}" if isinstance(value, dict) else f"[{key}]"
            yield from _values(item, (*path, key), id + step, kind,
                               f"{place}, {step.lstrip('.')}", **more)
    elif isinstance(value, str):
        if value:
            yield Slot(path, id, kind, place, value, **more)
    elif value is not None:
        yield Slot(path, id, kind, place, json.dumps(value), literal=True, **more)


def _descriptions(tools: Any, inner: str, schema: str) -> Iterator[Slot]:
    """The descriptions of tools and of their parameters."""
    for n, tool in _tables(tools):
        path: Path = ("tools", n, inner) if inner and isinstance(tool.get(inner), dict) \
            else ("tools", n)
        function = tool[inner] if len(path) == 3 else tool
        name = str(function.get("name") or function.get("type") or n + 1)
        yield from _described(function, path, f"tools.{name}", f"tool {name}", name)
        yield from _parameters(function.get(schema), (*path, schema), f"tools.{name}",
                               f"tool {name}", name)


def _described(value: Any, path: Path, id: str, place: str, name: str) -> Iterator[Slot]:
    if isinstance(value.get("description"), str) and value["description"]:
        yield Slot((*path, "description"), f"{id}.description", "tool_description",
                   f"{place}, description", value["description"], name=name)


def _parameters(schema: Any, path: Path, id: str, place: str, name: str) -> Iterator[Slot]:
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in ("properties", "$defs") and isinstance(value, dict):
            for inner, item in value.items():
                if isinstance(item, dict):
                    here = ((*path, key, inner), f"{id}.{inner}", f"{place}, parameter {inner}")
                    yield from _described(item, *here, name)
                    yield from _parameters(item, *here, name)
        elif key in ("items", "additionalProperties"):
            yield from _parameters(value, (*path, key), id, place, name)
        elif key in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            for n, item in enumerate(value):
                yield from _parameters(item, (*path, key, n), id, place, name)


def _tables(items: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The tables of a list with their places; a recorded request may be one that is no good."""
    for n, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield n, item


def _result_place(n: int, name: str) -> str:
    return f"message {n + 1}, result of {name}" if name else f"message {n + 1}, tool result"


# openai.chat: messages with a role; an assistant's calls stand in its message.

def _chat_slots(body: Body) -> Iterator[Slot]:
    yield from _descriptions(body.get("tools"), "function", "parameters")
    names = {call.id: call.name for call in _chat_calls(body)}
    for n, message in _tables(body.get("messages")):
        role = message.get("role")
        kind = _ROLES.get(str(role), "user")
        path: Path = ("messages", n)
        call = str(message.get("tool_call_id") or "")
        place = (_result_place(n, names.get(call, "")) if kind == "tool_result"
                 else f"message {n + 1}, {_WORDS[kind]}")
        for key in ("reasoning_content", "reasoning"):
            if isinstance(message.get(key), str) and message[key]:
                yield Slot((*path, key), f"{n + 1}.reasoning", "reasoning",
                           f"message {n + 1}, reasoning", message[key])
        id = "system" if n == 0 and kind == "system" else str(n + 1)
        has_calls = bool(message.get("tool_calls"))
        more = {"call": call, "name": names.get(call, "")} if call else {}
        if call or not (has_calls or isinstance(message.get("content"), list)):
            more["unit"] = path  # type: ignore[assignment]
        yield from _contents(message.get("content"), (*path, "content"), id, kind, place, **more)
        yield from _chat_arguments(message, n)


def _chat_arguments(message: dict[str, Any], n: int) -> Iterator[Slot]:
    calls = list(_functions(message))
    for m, call, function in calls:
        if isinstance(function.get("arguments"), str) and function["arguments"]:
            name = str(function.get("name"))
            suffix = f" call {m + 1}" if len(calls) > 1 else ""
            yield Slot(("messages", n, "tool_calls", m, "function", "arguments"),
                       f"{n + 1}.arguments{suffix}", "arguments",
                       f"message {n + 1}, arguments of {name}", function["arguments"],
                       call=str(call.get("id") or ""), name=name)


def _functions(message: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """The calls of functions in a message: where in its list each stands, it, what it calls."""
    for m, call in _tables(message.get("tool_calls")):
        if isinstance(call.get("function"), dict):
            yield m, call, call["function"]


def _chat_calls(body: Body) -> Iterator[ToolCall]:
    for n, message in _tables(body.get("messages")):
        for m, call, function in _functions(message):
            yield ToolCall(str(call.get("id") or ""), str(function.get("name")),
                           function.get("arguments"), ("messages", n, "tool_calls", m))


# openai.responses: one list of items; calls and results are items of their own.

def _responses_slots(body: Body) -> Iterator[Slot]:
    yield from _descriptions(body.get("tools"), "", "parameters")
    yield from _contents(body.get("instructions"), ("instructions",), "system", "system",
                         "instructions")
    if isinstance(body.get("input"), str):
        yield from _contents(body["input"], ("input",), "1", "user", "message 1, user text")
    names = {call.id: call.name for call in _responses_calls(body)}
    for n, item in _tables(body.get("input")):
        path: Path = ("input", n)
        call = str(item.get("call_id") or "")
        match item.get("type") or "message":
            case "message":
                kind = _ROLES.get(str(item.get("role")), "user")
                more = {} if isinstance(item.get("content"), list) else {"unit": path}
                yield from _contents(item.get("content"), (*path, "content"), str(n + 1), kind,
                                     f"message {n + 1}, {_WORDS[kind]}", **more)
            case "function_call" if isinstance(item.get("arguments"), str):
                yield Slot((*path, "arguments"), f"{n + 1}.arguments", "arguments",
                           f"message {n + 1}, arguments of {item.get('name')}",
                           item["arguments"], call=call, name=str(item.get("name")))
            case "function_call_output":
                name = names.get(call, "")
                yield from _contents(item.get("output"), (*path, "output"), str(n + 1),
                                     "tool_result", _result_place(n, name), unit=path, call=call,
                                     name=name)
            case "reasoning":
                for key in ("summary", "content"):
                    yield from _contents(item.get(key), (*path, key), f"{n + 1}.reasoning",
                                         "reasoning", f"message {n + 1}, reasoning")


def _responses_calls(body: Body) -> Iterator[ToolCall]:
    for n, item in _tables(body.get("input")):
        if item.get("type") == "function_call":
            yield ToolCall(str(item.get("call_id") or ""), str(item.get("name")),
                           item.get("arguments"), ("input", n))


# anthropic.messages: messages of blocks; calls are blocks of the assistant, results of the user.

def _anthropic_slots(body: Body) -> Iterator[Slot]:
    yield from _descriptions(body.get("tools"), "", "input_schema")
    yield from _contents(body.get("system"), ("system",), "system", "system", "system text")
    names = {call.id: call.name for call in _anthropic_calls(body)}
    for n, message in _tables(body.get("messages")):
        content = message.get("content")
        kind = _ROLES.get(str(message.get("role")), "user")
        path: Path = ("messages", n, "content")
        if isinstance(content, str):
            yield from _contents(content, path, str(n + 1), kind,
                                 f"message {n + 1}, {_WORDS[kind]}", unit=("messages", n))
            continue
        blocks = content if isinstance(content, list) else []
        for m, block in enumerate(blocks):
            if isinstance(block, dict):
                id = f"{n + 1}-{m + 1}" if len(blocks) > 1 else str(n + 1)
                yield from _block(block, (*path, m), id, kind, n, names)


def _block(block: dict[str, Any], path: Path, id: str, kind: Kind, n: int,
           names: dict[str, str]) -> Iterator[Slot]:
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str) and block["text"]:
            yield Slot((*path, "text"), id, kind, f"message {n + 1}, {_WORDS[kind]}",
                       block["text"], unit=path)
        case "thinking" if isinstance(block.get("thinking"), str) and block["thinking"]:
            yield Slot((*path, "thinking"), f"{id}.reasoning", "reasoning",
                       f"message {n + 1}, reasoning", block["thinking"], unit=path)
        case "tool_use":
            yield from _values(block.get("input"), (*path, "input"), f"{id}.arguments",
                               "arguments", f"message {n + 1}, arguments of {block.get('name')}",
                               call=str(block.get("id")), name=str(block.get("name")))
        case "tool_result":
            call = str(block.get("tool_use_id") or "")
            name = names.get(call, "")
            yield from _contents(block.get("content"), (*path, "content"), id, "tool_result",
                                 _result_place(n, name), unit=path, call=call, name=name)


def _anthropic_calls(body: Body) -> Iterator[ToolCall]:
    for n, message in _tables(body.get("messages")):
        content = message.get("content")
        for m, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict) and block.get("type") == "tool_use":
                yield ToolCall(str(block.get("id") or ""), str(block.get("name")),
                               block.get("input"), ("messages", n, "content", m))


_DIALECTS = {each.name: each for each in (
    Dialect("openai.chat", "messages", _chat_slots, _chat_calls),
    Dialect("openai.responses", "input", _responses_slots, _responses_calls),
    Dialect("anthropic.messages", "messages", _anthropic_slots, _anthropic_calls))}
