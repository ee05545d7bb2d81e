"""A recorded request as it is sent again.

What would stream the reply, store it, or tie it to a user is taken out; what the model reads is
left as it is. Replies that the provider would keep for later are asked not to be kept, unless the
request refers to such replies itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentrunproof.rerun.model import Body

#: Left out: how the reply travels, how many there are, what is filed with it.
_LEFT_OUT = {
    "openai.chat": ("stream", "stream_options", "store", "metadata", "n"),
    "openai.responses": ("stream", "stream_options", "background", "metadata", "conversation"),
    "anthropic.messages": ("stream",)}


def sendable(dialect: str, body: Body, model: str | None = None) -> Body:
    """The body to send.

    Args:
        dialect: the API.
        body: the recorded body, or an edited one; it is left as it is.
        model: the name of another model to ask.
    """
    gone = _LEFT_OUT[dialect]
    sent = {key: value for key, value in body.items() if key not in gone}
    if model is not None:
        sent["model"] = model
    if dialect == "openai.responses" and not _needs_stored(body):
        sent["store"] = False
    return sent


def notes(body: Body) -> tuple[str, ...]:
    """What a user must be told of a request that does not stand by itself."""
    found = []
    if body.get("previous_response_id"):
        found.append("the request continues a stored response (previous_response_id): what stands "
                     "there is read by the model, but was not recorded and is not tested")
    if body.get("conversation"):
        found.append("the request continues a stored conversation: reruns are made without what "
                     "stands there, since they would lengthen it")
    if any(item.get("type") == "item_reference" for item in _items(body)):
        found.append("the request refers to stored items (item_reference): what stands there was "
                     "not recorded and is not tested")
    return tuple(found)


def _needs_stored(body: Body) -> bool:
    """Whether the provider has to look something up that it stored."""
    return bool(body.get("previous_response_id")) or any(
        item.get("type") == "item_reference"
        or (item.get("type") == "reasoning" and not item.get("encrypted_content"))
        for item in _items(body))


def _items(body: Body) -> Iterator[dict[str, Any]]:
    given = body.get("input")
    return (item for item in given if isinstance(item, dict)) if isinstance(given, list) \
        else iter(())
