"""A conversation taken apart: which request to a model each of its replies answered.

A trace that holds only the conversation (or only the last request, which holds all before it)
says with it what each earlier request was: what stands before the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from agentrunproof.importers.draft import ModelStep, Step, ToolStep
from agentrunproof.importers.source import tables
from agentrunproof.record.beginnings import Beginning

Json = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """A tool's result in a conversation."""

    id: str
    output: Any
    failed: bool = False


@dataclass(frozen=True)
class Dialog:
    """How an API's conversations look.

    Args:
        dialect: which API.
        key: where in a request the conversation stands.
        replied: whether an item is (part of) a model's reply.
        joined: whether neighbouring such items are one reply.
        reply: the literal reply with these items.
        results: the results of tools that an item holds.
    """

    dialect: str
    key: str
    replied: Callable[[Json], bool]
    joined: bool
    reply: Callable[[list[Json]], Json]
    results: Callable[[Json], list[Result]]


def steps(dialog: Dialog, body: Json, *, reply: Any = None, history: bool = True,
          ended: bool = False) -> list[Step]:
    """The requests and tool calls of a conversation.

    Args:
        dialog: how it looks.
        body: the last request; if it ends with a reply, that reply's request is the last.
        reply: the literal reply to `body`.
        history: take the replies within it for earlier requests.
        ended: it is a conversation that is over, so what stands after the last reply was not sent.
    """
    items = body[dialog.key] if isinstance(body[dialog.key], list) else []
    found: list[Step] = []
    asked: dict[str, Json] = {}
    position = 0
    for start, end in _replies(dialog, items) if history else []:
        found += _answered(dialog, items, position, start, asked)
        position = end
        if start:  # a greeting answers no request
            before = {**body, dialog.key: Beginning(items, start)}
            model = ModelStep(dialect=dialog.dialect, body=before,
                              reply=dialog.reply(items[start:end]), inferred=True,
                              kept={"index": start})
            asked.update({call["id"]: call for call in model.asks()})
            found.append(model)
    if history:
        found += _answered(dialog, items, position, len(items), asked)
    if reply is not None or (not (ended and position) and (position < len(items) or not items)):
        last = {**body, dialog.key: Beginning(items, len(items))} if found else body
        found.append(ModelStep(dialect=dialog.dialect, body=last, reply=reply))
    return found


def _replies(dialog: Dialog, items: list[Any]) -> Iterator[tuple[int, int]]:
    start = None
    for number, item in enumerate([*items, None]):
        inside = isinstance(item, dict) and dialog.replied(item)
        if start is not None and not (inside and dialog.joined):
            yield start, number
            start = None
        if inside and start is None:
            start = number


def _answered(dialog: Dialog, items: list[Any], begin: int, end: int, asked: dict[str, Json]
              ) -> list[Step]:
    """The tool calls of which the items from `begin` to `end` hold the results."""
    found: list[Step] = []
    for number in range(begin, end):
        for result in dialog.results(items[number]) if isinstance(items[number], dict) else ():
            call = asked.get(result.id)
            if call is not None:
                found.append(tool_step(call, result))
                found[-1].kept = {"index": number}
    return found


def tool_step(call: Json, result: Result) -> ToolStep:
    """The tool call that a model asked for with `call` and that gave `result`."""
    error = {"type": "tool error", "message": str(result.output)} if result.failed else None
    return ToolStep(tool=call["name"], arguments=call["arguments"], id=result.id, done=True,
                    output=None if result.failed else result.output, error=error)


def last_results(dialog: Dialog, items: Any) -> list[Result]:
    """The results of tools after the last reply in a conversation; none if it is no list."""
    latest: list[Json] = []
    for item in reversed(items) if isinstance(items, list | Beginning) else ():
        if isinstance(item, dict):
            if dialog.replied(item):
                break
            latest.append(item)
    return [result for item in reversed(latest) for result in dialog.results(item)]


def _chat_results(item: Json) -> list[Result]:
    if item.get("role") == "tool":
        return [Result(str(item.get("tool_call_id") or ""), item.get("content"))]
    return []


def _responses_results(item: Json) -> list[Result]:
    if item.get("type") in ("function_call_output", "custom_tool_call_output"):
        return [Result(str(item.get("call_id") or ""), item.get("output"))]
    return []


def _messages_results(item: Json) -> list[Result]:
    return [Result(str(block.get("tool_use_id") or ""), block.get("content"),
                   bool(block.get("is_error")))
            for block in tables(item.get("content")) if block.get("type") == "tool_result"]


def _responses_replied(item: Json) -> bool:
    kind = str(item.get("type", "message"))
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or kind.endswith("_call")


CHAT = Dialog("openai.chat", "messages", lambda item: item.get("role") == "assistant", False,
              lambda items: {"choices": [{"index": 0, "message": items[0]}]}, _chat_results)
RESPONSES = Dialog("openai.responses", "input", _responses_replied, True,
                   lambda items: {"object": "response", "output": items}, _responses_results)
MESSAGES = Dialog("anthropic.messages", "messages", lambda item: item.get("role") == "assistant",
                  True, lambda items: {"type": "message", "role": "assistant", "content": [
                      block for item in items for block in _blocks(item.get("content"))]},
                  _messages_results)
ALL = {dialog.dialect: dialog for dialog in (CHAT, RESPONSES, MESSAGES)}


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
