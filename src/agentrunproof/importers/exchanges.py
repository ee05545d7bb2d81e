"""Requests, replies and conversations in the APIs' own forms, however a file wraps them.

A file holds one of these, a list of them, or one a line:

* a request body (with ``model``), or one inside of ``request`` or ``body``;
* a request with its reply in ``response``, or in ``request`` and ``response``;
* a conversation: a list of messages or items, or a table that holds one in ``messages``,
  ``input``, ``traj`` or ``conversation``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import dialogs, several
from agentrunproof.importers.draft import Draft, ModelStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables

Json = dict[str, Any]

_CONVERSATION = ("messages", "input", "traj", "conversation")
_REPLIES = ("response", "reply", "completion")
#: what a request may hold besides the conversation; all else in a table without ``model`` is the
#: file's own
_OF_REQUEST = {"tools", "tool_choice", "functions", "function_call", "instructions", "system",
               "temperature", "top_p", "max_tokens", "response_format", "parallel_tool_calls",
               "max_output_tokens", "max_completion_tokens", "reasoning", "reasoning_effort"}
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


@dataclass(frozen=True)
class Exchange:
    """A request with what is known about it.

    Args:
        dialect: the API it speaks.
        body: the request; for a conversation, one with nothing else in it.
        reply: the literal reply, or None.
        sent: it is a request, not only a conversation.
        fields: what the file says besides.
        place: where it stands, for messages.
    """

    dialect: str
    body: Json
    reply: Any
    sent: bool
    fields: Json = field(default_factory=dict)
    place: str = ""


def of_source(source: Source, dialect: str | None = None) -> list[Exchange]:
    """All exchanges of a file.

    Args:
        source: the file.
        dialect: the API that the user says it is, or None to tell by its content.

    Raises:
        NotThisFormat: it holds something else.
        RecordError: ``IMPORT_SHAPE``: it does, with something wrong in it.
    """
    return [exchange for document in source.documents
            for exchange in _exchanges(document.value, document.place, dialect)]


def _draft(source: Source, exchanges: list[Exchange]) -> Draft:
    """The exchanges of a file as steps; replies within a request count as earlier requests, unless
    the file holds several."""
    made = Draft(name=source.name)
    if len(exchanges) > 1 and not any(exchange.sent for exchange in exchanges):
        runs = {str(exchange.fields.get("id") or number): exchange
                for number, exchange in enumerate(exchanges, 1)}
        made.run, one = several.choose(source, runs)
        exchanges = [one]
    asked: set[str] = set()
    for exchange in exchanges:
        dialog = dialogs.ALL[exchange.dialect]
        steps = dialogs.steps(dialog, exchange.body, reply=exchange.reply,
                              history=len(exchanges) == 1, ended=not exchange.sent)
        if exchange.fields and len(exchanges) > 1:
            steps[-1].kept = exchange.fields
        else:
            made.fields |= exchange.fields
            if "reward" in exchange.fields:  # as tau-bench tells whether the task was done
                made.outcome = "completed" if exchange.fields["reward"] else "failed"
        made.steps += steps
        asked |= {call["id"] for step in steps if isinstance(step, ModelStep)
                  for call in step.asks()}
        _count_left(made, exchange, asked)
    return made


def request(value: Any) -> tuple[str, Json] | None:
    """The dialect and body of a value that is a literal request, or a list of messages."""
    if isinstance(value, list) and value:
        value = {"messages": value}
    if not isinstance(value, dict) or not isinstance(value.get("messages", value.get("input")),
                                                     list):
        return None
    try:
        (exchange,) = _exchanges(value, "", None)
    except (NotThisFormat, RecordError, ValueError):
        return None
    return exchange.dialect, {**exchange.body, **exchange.fields}


def dialect_of_reply(value: Any) -> str | None:
    """The dialect of a value that is a literal reply."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("choices"), list):
        return "openai.chat"
    if isinstance(value.get("output"), list):
        return "openai.responses"
    if value.get("type") == "message" and isinstance(value.get("content"), list):
        return "anthropic.messages"
    return None


def _exchanges(value: Any, place: str, dialect: str | None) -> list[Exchange]:
    if isinstance(value, list):
        if not value:
            raise NotThisFormat("an empty list")
        if _is_wrapper(value[0]):
            return [one for number, item in enumerate(value)
                    for one in _exchanges(item, f"{place}: [{number}]", dialect)]
        return [_conversation(value, "", {}, place, dialect)]
    if not isinstance(value, dict):
        raise NotThisFormat(f"neither a table nor a list: {found(value)}")
    return [_of_table(value, place, dialect)]


def _is_wrapper(value: Any) -> bool:
    return isinstance(value, dict) and "role" not in value and (
        "request" in value or any(isinstance(value.get(key), list) for key in _CONVERSATION))


def _of_table(value: Json, place: str, dialect: str | None) -> Exchange:
    reply_key = next((key for key in _REPLIES if isinstance(value.get(key), dict)), "")
    reply = value.get(reply_key)
    inner = next((key for key in ("request", "body") if isinstance(value.get(key), dict)), None)
    if inner is not None:
        body = value[inner]
        fields = {key: one for key, one in value.items() if key not in (inner, reply_key)}
    else:
        body, fields = {key: one for key, one in value.items() if key != reply_key}, {}
    key = next((key for key in _CONVERSATION if isinstance(body.get(key), list)), None)
    if key is None and isinstance(body.get("input"), str) and "model" in body:
        return Exchange("openai.responses", body, reply, True, fields, place)
    if key is None:
        if dialect_of_reply(value):
            raise NotThisFormat("a reply without its request")
        raise NotThisFormat(f"no list in {', '.join(_CONVERSATION)}, but {found(body)}")
    if ("model" in body or inner is not None) and key in ("messages", "input"):
        told = dialect or _dialect(body, key, reply)
        _check_items(body[key], f"{place}: {key}")
        return Exchange(told, body, reply, True, fields, place)
    rest = {name: one for name, one in body.items() if name != key}
    return _conversation(body[key], key, rest, place, dialect, reply, fields)


def _conversation(items: list[Any], key: str, rest: Json, place: str, dialect: str | None,
                  reply: Any = None, fields: Json | None = None) -> Exchange:
    first = items[0] if items else None
    if not isinstance(first, dict) or not ({"role", "type"} & first.keys()):
        raise NotThisFormat(f"{key or 'the list'} holds no messages, but {found(first)}")
    _check_items(items, f"{place}: {key}")
    of_request = {name: one for name, one in rest.items() if name in _OF_REQUEST}
    body = {**of_request, "messages": items}
    told = dialect or _dialect(body, key if key == "input" else "messages", reply)
    if told == "openai.responses":
        body["input"] = body.pop("messages")
    kept = {name: one for name, one in rest.items() if name not in _OF_REQUEST}
    return Exchange(told, body, reply, reply is not None, {**(fields or {}), **kept}, place)


def _check_items(items: list[Any], place: str) -> None:
    for number, item in enumerate(items):
        where = f"{place}[{number}]"
        if not isinstance(item, dict):
            raise RecordError("IMPORT_SHAPE", f"{where}: expected a message, found {found(item)}",
                              "each message is a table with role and content")
        role = item.get("role")
        if role is None and "type" not in item:
            raise RecordError("IMPORT_SHAPE", f"{where}: role is missing", "roles: "
                              + ", ".join(_ROLES))
        if role is not None and role not in _ROLES:
            raise RecordError("IMPORT_SHAPE", f"{where}: unknown role {role!r:.40}", "roles: "
                              + ", ".join(_ROLES))


def _dialect(body: Json, key: str, reply: Any) -> str:
    """Which API a request is of, by what only that one has."""
    told = dialect_of_reply(reply)
    if told is not None:
        return told
    items = tables(body.get(key, body.get("messages")))
    parts = {str(part.get("type")) for item in items for part in tables(item.get("content"))}
    kinds = {str(item["type"]) for item in items if "type" in item}
    if key == "input" or "instructions" in body or parts & {"input_text", "output_text"} \
            or kinds & {"function_call", "function_call_output", "reasoning"}:
        return "openai.responses"
    tools = tables(body.get("tools"))
    if parts & {"tool_use", "tool_result", "thinking", "redacted_thinking"} or "system" in body \
            or any("input_schema" in tool for tool in tools) \
            or (str(body.get("model", "")).startswith("claude") and not any(
                item.get("role") in ("system", "tool") or "tool_calls" in item for item in items)):
        return "anthropic.messages"
    return "openai.chat"


def _count_left(draft: Draft, exchange: Exchange, asked: set[str]) -> None:
    """Count what stands in a conversation only and became no step of its own.

    Args:
        draft: where it is counted.
        exchange: the conversation.
        asked: the ids of the tool calls that models asked for up to here.
    """
    dialog = dialogs.ALL[exchange.dialect]
    items = tables(exchange.body.get(dialog.key))
    replies = [number for number, item in enumerate(items) if dialog.replied(item)]
    if replies and not exchange.sent and replies[-1] + 1 < len(items):
        draft.left["message after the last reply"] += len(items) - replies[-1] - 1
    for item in items:
        for result in dialog.results(item):
            if result.id not in asked:
                draft.left["tool result without its call (kept in the messages only)"] += 1


def _format(name: str, dialect: str, looks_for: str) -> Format:
    def read(source: Source, named: bool) -> Draft:
        exchanges = of_source(source, dialect if named else None)
        told = sorted({exchange.dialect for exchange in exchanges})
        if dialect not in told:
            raise NotThisFormat(f"its content is {', '.join(told)}")
        return _draft(source, exchanges)

    return Format(name, looks_for, read)


CHAT = _format("openai-chat", "openai.chat", "a list of messages with role, alone or in `messages`")
RESPONSES = _format("openai-responses", "openai.responses",
                    "items such as function_call, or a request with `input`")
MESSAGES = _format("anthropic-messages", "anthropic.messages",
                   "messages with tool_use or tool_result blocks, or a request with `system`")
