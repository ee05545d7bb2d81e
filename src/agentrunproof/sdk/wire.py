"""Output items of the Responses API, and the stream events that carry them.

Events are built without pydantic's checks: they are ours, and the fields that openai requires of
them differ between its releases. Items are built with the checks, because the SDK dumps them
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseCreatedEvent,
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionCallArgumentsDoneEvent,
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseRefusalDeltaEvent,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
    ResponseUsage,
)
from pydantic import BaseModel

from agentrunproof.sdk import compat

_TYPES: dict[str, Any] = {
    "message": ResponseOutputMessage,
    "function_call": ResponseFunctionToolCall,
    "reasoning": compat.reasoning_item(),
    "web_search_call": ResponseFunctionWebSearch,
}

#: pydantic's own constructor; openai overrides it with one that looks into every field's type,
#: which took a tenth of a run.
_construct = BaseModel.model_construct.__func__  # type: ignore[attr-defined]

_DETAILS = ("input_tokens_details", "output_tokens_details")
_PIECE = 12  # characters of a delta


def output_item(item: dict[str, Any]) -> Any:
    """The pydantic form of an item made by `plan.items.model_item`."""
    made = _TYPES[item["type"]].model_validate(item)
    compat.mark_call(made)
    return made


def stream(items: list[Any], usage: Any, response_id: str, *, complete: bool = True
           ) -> Iterator[Any]:
    """The events of one streamed response, in the order in which the API sends them.

    Args:
        items: output items, as `output_item` makes them.
        usage: the SDK's ``Usage`` of the response.
        complete: end with ``response.completed``; without it the stream breaks off.
    """
    number = 0

    def event(cls: Any, type: str, **fields: Any) -> Any:
        nonlocal number
        made = _construct(cls, type=type, sequence_number=number, **fields)
        number += 1
        return made

    yield event(ResponseCreatedEvent, "response.created",
                response=_response([], None, response_id, "in_progress"))
    for index, item in enumerate(items):
        yield event(ResponseOutputItemAddedEvent, "response.output_item.added",
                    item=_blank(item), output_index=index)
        for cls, type, fields in _inner(item):
            yield event(cls, type, item_id=item.id, output_index=index, **fields)
        yield event(ResponseOutputItemDoneEvent, "response.output_item.done",
                    item=item, output_index=index)
    if complete:
        yield event(ResponseCompletedEvent, "response.completed",
                    response=_response(items, usage, response_id, "completed"))


def _blank(item: Any) -> Any:
    """The item as it is announced, before its content has come."""
    if item.type == "message":
        return item.model_copy(update={"content": [], "status": "in_progress"})
    if item.type == "function_call":
        return item.model_copy(update={"arguments": "", "status": "in_progress"})
    return item


def _inner(item: Any) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    if item.type == "function_call":
        for piece in _pieces(item.arguments):
            yield (ResponseFunctionCallArgumentsDeltaEvent,
                   "response.function_call_arguments.delta", {"delta": piece})
        yield (ResponseFunctionCallArgumentsDoneEvent, "response.function_call_arguments.done",
               {"arguments": item.arguments, "name": item.name})
    elif item.type == "message":
        for index, part in enumerate(item.content):
            at = {"content_index": index}
            yield ResponseContentPartAddedEvent, "response.content_part.added", {
                **at, "part": part.model_copy(update={"text": ""})}
            if part.type == "refusal":
                for piece in _pieces(part.refusal):
                    yield ResponseRefusalDeltaEvent, "response.refusal.delta", {
                        **at, "delta": piece}
            else:
                for piece in _pieces(part.text):
                    yield ResponseTextDeltaEvent, "response.output_text.delta", {
                        **at, "delta": piece, "logprobs": []}
                yield ResponseTextDoneEvent, "response.output_text.done", {
                    **at, "text": part.text, "logprobs": []}
            yield ResponseContentPartDoneEvent, "response.content_part.done", {**at, "part": part}


def _pieces(text: str) -> list[str]:
    return [text[n:n + _PIECE] for n in range(0, len(text), _PIECE)]


def _response(output: list[Any], usage: Any, id: str, status: str) -> Response:
    response: Response = _construct(
        Response, id=id, created_at=0, model="scripted", object="response", output=output,
        tool_choice="auto", tools=[], parallel_tool_calls=True, status=status, error=None,
        incomplete_details=None, instructions=None, metadata=None,
        usage=None if usage is None else _construct(
            ResponseUsage, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
            total_tokens=usage.total_tokens,
            **{name: getattr(usage, name) for name in _DETAILS if hasattr(usage, name)}))
    return response
