"""What of a request reaches the model and is no piece: the search has no means to take it away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentrunproof.ablation.dialects import Body

_PARTS = {"image_url": "image", "input_image": "image", "image": "image",
          "input_audio": "audio clip", "audio": "audio clip",
          "file": "file", "input_file": "file", "document": "file",
          "redacted_thinking": "encrypted reasoning text"}


def uncut(body: Body) -> tuple[str, ...]:
    """In words for people: ``2 images``, ``names of tools and parameters``.

    Args:
        body: a request of any dialect.
    """
    counts = Counter(_parts([body.get(key) for key in ("messages", "input", "system")]))
    found = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in sorted(counts.items())]
    if body.get("tools"):
        found.append("names of tools and parameters")
    if body.get("previous_response_id") or body.get("conversation"):
        found.append("the stored conversation that the request continues")
    return tuple(found)


def _parts(value: Any) -> Iterator[str]:
    """The kinds of parts that hold no text, each as often as it is there."""
    if isinstance(value, list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        kind = value.get("type")
        if isinstance(kind, str) and kind in _PARTS:
            yield _PARTS[kind]
        elif value.get("encrypted_content"):
            yield "encrypted reasoning text"
        for key in ("content", "output"):
            yield from _parts(value.get(key))
