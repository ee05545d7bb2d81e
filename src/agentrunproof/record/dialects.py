"""The APIs whose requests and replies a run holds literally, and what a reply decided.

========================  =======================================================
``openai.chat``           POST .../chat/completions, and compatible servers
``openai.responses``      POST .../responses
``anthropic.messages``    POST .../messages
========================  =======================================================

A *decision* is what the model did, the same for all of them::

    {"tool_calls": [{"id": "call_1", "name": "search", "arguments": {"q": "x"}}], "text": "..."}

Arguments are the parsed JSON, or the text itself where a model wrote no JSON. A reply that has this
form already (of a rule or a model of one's own) is its own decision in every dialect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.record import json_lines
from agentrunproof.shape import nearest

#: No reply has more parallel parts.
_MANY = 1000

Decision = dict[str, Any]
Json = dict[str, Any]


def check(dialect: object) -> None:
    """Refuse the name of a dialect that there isn't.

    Raises:
        RecordError: ``RUN_DIALECT``.
    """
    if dialect not in NAMES:
        raise RecordError("RUN_DIALECT", f"there is no dialect {dialect!r:.60}",
                          nearest(dialect, NAMES) or "dialects: " + ", ".join(NAMES))


def decision(dialect: str, reply: Any) -> Decision:
    """What a literal reply decided; of a reply that is none of the dialect, nothing.

    Args:
        dialect: one of `NAMES`.
        reply: the reply's JSON table, or a text.
    """
    if isinstance(reply, str):
        return {"tool_calls": [], "text": reply}
    calls: list[Json] = []
    texts: list[str] = []
    if isinstance(reply, dict):
        # By what holds its parts: a response of the API has a key of its own called text.
        read = _READ[dialect] if _PARTS[dialect] in reply else _plain
        for kind, value in read(reply):
            if kind == "text" and isinstance(value, str):
                texts.append(value)
            elif kind == "call" and isinstance(value, dict):
                calls.append(value)
    return {"tool_calls": calls, "text": "".join(texts)}


def of_path(path: str) -> str | None:
    """The dialect of a request by the path of its URL, if it is one to a model."""
    return next((name for name, ending in _PATHS.items() if path.rstrip("/").endswith(ending)),
                None)


def path_of(dialect: str) -> str:
    """How the path of a request's URL ends."""
    return _PATHS[dialect]


def replied(dialect: str, events: Iterable[Json]) -> tuple[Json, bool]:
    """The reply that a stream of events gave, in the form of one that was not streamed.

    Returns:
        The reply, and whether the stream came to its end.
    """
    return _GATHER[dialect](events)


def events_of(stream: bytes) -> Iterator[Json]:
    """The JSON tables in the data of server-sent events."""
    for block in stream.replace(b"\r\n", b"\n").split(b"\n\n"):
        data = b"\n".join(line[5:].strip() for line in block.split(b"\n")
                          if line.startswith(b"data:"))
        if data == b"[DONE]":
            yield {"done": True}
        elif data.startswith(b"{"):
            try:
                yield json.loads(data)
            except ValueError:  # the stream broke off inside of it
                return


def _call(id: Any, name: Any, arguments: Any) -> tuple[str, Json]:
    if isinstance(arguments, str):
        arguments = _parsed(arguments) if arguments else {}
    return "call", {"id": str(id or ""), "name": str(name or ""), "arguments": arguments}


def _parsed(text: str) -> Any:
    try:
        return json_lines.load(text.encode("utf-8"))
    except ValueError:  # also of what can't be encoded
        return text


def _plain(reply: Json) -> Iterator[tuple[str, Any]]:
    for call in _tables(reply.get("tool_calls")):
        yield _call(call.get("id"), call.get("name"), call.get("arguments", {}))
    yield "text", reply.get("text")


def _chat(reply: Json) -> Iterator[tuple[str, Any]]:
    for choice in _tables(reply.get("choices"))[:1]:
        message = choice.get("message")
        if not isinstance(message, dict):
            return
        content = message.get("content")
        yield "text", content
        for part in _tables(content):
            yield "text", part.get("text")
        yield "text", message.get("refusal")
        for call in _tables(message.get("tool_calls")):
            made = _table(call.get("function")) or _table(call.get("custom"))
            yield _call(call.get("id"), made.get("name"), made.get("arguments", made.get("input")))
        older = message.get("function_call")
        if isinstance(older, dict):
            yield _call("", older.get("name"), older.get("arguments"))


def _responses(reply: Json) -> Iterator[tuple[str, Any]]:
    for item in _tables(reply.get("output")):
        kind = item.get("type")
        if kind == "message":
            for part in _tables(item.get("content")):
                yield "text", part.get("text")
                yield "text", part.get("refusal")
        elif kind == "function_call":
            yield _call(item.get("call_id"), item.get("name"), item.get("arguments"))
        elif kind == "custom_tool_call":
            yield "call", {"id": str(item.get("call_id") or ""),
                           "name": str(item.get("name") or ""), "arguments": item.get("input")}


def _messages(reply: Json) -> Iterator[tuple[str, Any]]:
    for block in _tables(reply.get("content")):
        if block.get("type") == "tool_use":
            yield _call(block.get("id"), block.get("name"), block.get("input"))
        elif block.get("type") == "text":
            yield "text", block.get("text")


def _table(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _tables(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _gather_chat(events: Iterable[Json]) -> tuple[Json, bool]:
    reply: Json = {}
    choices: dict[int, Json] = {}
    done = False
    for event in events:
        done |= "done" in event
        for key, value in event.items():
            if key not in ("choices", "done") and value is not None:
                reply[key] = "chat.completion" if key == "object" else value
        for part in _tables(event.get("choices")):
            index = part.get("index") or 0
            choice = choices.setdefault(index, {"index": index, "message": {}})
            _merge(choice["message"], part.get("delta") or {})
            if part.get("finish_reason"):
                choice["finish_reason"] = part["finish_reason"]
    reply["choices"] = [choices[index] for index in sorted(choices)]
    return reply, done or any("finish_reason" in choice for choice in choices.values())


def _merge(message: Json, delta: Json) -> None:
    """Add a chunk's delta: texts are continued, parts of lists are told apart by their index."""
    for key, value in delta.items():
        if isinstance(value, list):
            parts = message.setdefault(key, [])
            for part in _tables(value):
                index = part.get("index", len(parts))
                parts.extend({} for _ in range(len(parts), min(index, _MANY) + 1))
                _merge(parts[index], {k: v for k, v in part.items() if k != "index"})
        elif isinstance(value, dict):
            _merge(message.setdefault(key, {}), value)
        elif isinstance(value, str) and isinstance(message.get(key), str) \
                and key not in ("id", "type", "role"):
            message[key] += value
        elif value is not None or key not in message:
            message[key] = value


def _gather_responses(events: Iterable[Json]) -> tuple[Json, bool]:
    reply: Json = {"output": []}
    for event in events:
        if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
            return event.get("response") or reply, True
        if event.get("type") == "response.created":
            reply = {**(event.get("response") or {}), "output": []}
        elif event.get("type") == "response.output_item.done":
            reply["output"].append(event.get("item"))
    return reply, False


def _gather_messages(events: Iterable[Json]) -> tuple[Json, bool]:
    reply: Json = {"content": []}
    arguments: dict[int, str] = {}
    done = False
    for event in events:
        kind, delta = event.get("type"), event.get("delta") or {}
        blocks = reply["content"]
        index = event.get("index", 0)
        if kind == "message_start":
            reply = {**event["message"], "content": []}
        elif kind == "content_block_start":
            blocks.append(dict(event["content_block"]))
        elif kind == "content_block_delta" and index < len(blocks):
            if "partial_json" in delta:
                arguments[index] = arguments.get(index, "") + delta["partial_json"]
            else:
                _merge(blocks[index], {key: value for key, value in delta.items()
                                       if key != "type"})
        elif kind == "content_block_stop" and arguments.get(index):
            blocks[index]["input"] = _parsed(arguments[index])
        elif kind == "message_delta":
            reply |= delta
            reply["usage"] = {**(reply.get("usage") or {}), **(event.get("usage") or {})}
        done |= kind == "message_stop"
    return reply, done


_PATHS = {"openai.chat": "/chat/completions", "openai.responses": "/responses",
          "anthropic.messages": "/messages"}
_READ: dict[str, Callable[[Json], Iterator[tuple[str, Any]]]] = {
    "openai.chat": _chat, "openai.responses": _responses, "anthropic.messages": _messages}
#: Under which key a reply holds what the model wrote.
_PARTS = {"openai.chat": "choices", "openai.responses": "output", "anthropic.messages": "content"}
_GATHER: dict[str, Callable[[Iterable[Json]], tuple[Json, bool]]] = {
    "openai.chat": _gather_chat, "openai.responses": _gather_responses,
    "anthropic.messages": _gather_messages}

NAMES = tuple(_PATHS)
