"""Items to store, and how those read are held against those written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentrunproof.plan.items import label
from agentrunproof.suites.session.case import Broken

Item = dict[str, Any]

#: Fields that a storage on a server may add to an item.
_ADDED = {"id", "status", "type"}

#: How many items a detail names.
_NAMED = 6


def said(text: str, role: str = "user") -> Item:
    """A message."""
    return {"role": role, "content": text}


def messages(count: int, prefix: str = "message") -> list[Item]:
    """So many messages that can be told apart, of both sides in turn."""
    return [said(f"{prefix} {n}", ("user", "assistant")[n % 2]) for n in range(1, count + 1)]


def tool_call(call_id: str) -> Item:
    """A model's call of a tool."""
    return {"type": "function_call", "id": f"fc-{call_id}", "call_id": call_id, "name": "look",
            "arguments": "{}", "status": "completed"}


def tool_output(call_id: str, output: Any = "seen") -> Item:
    """A tool's output."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def told(items: Sequence[Any]) -> str:
    """Items in few words."""
    names = [label(item) if isinstance(item, dict) else
             "nothing" if item is None else type(item).__name__ for item in items]
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"[{', '.join(name[:40] for name in names[:_NAMED])}{more}]"


def same(written: Item, read: Any) -> bool:
    """Whether an item was read as it was written; 1, 1.0 and true are three different values."""
    if not isinstance(read, dict):
        return False
    kept = {key: value for key, value in read.items() if key in written or key not in _ADDED}
    try:
        return _text(kept) == _text(written)
    except (TypeError, ValueError):  # not even JSON
        return False


def _text(item: Item) -> str:
    return json.dumps(item, sort_keys=True)


def all_same(written: Sequence[Item], read: Any) -> bool:
    """Whether just these items were read, in this order."""
    return len(written) == len(read) and all(map(same, written, read))


def expect(code: str, what: str, read: Any, written: Sequence[Item]) -> None:
    """Hold items read against those expected.

    Args:
        code: of the failure.
        what: was read, for the detail.
        read: items.
        written: items expected.

    Raises:
        Broken: they are not the same.
    """
    if not isinstance(read, list):
        raise Broken("NOT_A_LIST", f"{what} gave {type(read).__name__}, not a list")
    if len(read) != len(written):
        raise Broken(code, f"{what} gave {len(read)} items, not {len(written)}: {told(read)}")
    for n, (item, expected) in enumerate(zip(read, written, strict=True)):
        if not same(expected, item):
            raise Broken(code, f"{what}, item {n + 1}: {_difference(expected, item)}")


def _difference(expected: Item, read: Any) -> str:
    if not isinstance(read, dict) or label(read) != label(expected):
        return f"{told([read])} in place of {told([expected])}"
    keys = [key for key in {**expected, **read}
            if repr(expected.get(key)) != repr(read.get(key)) and
            (key in expected or key not in _ADDED)]
    key = keys[0] if keys else "?"
    return f"{key!r} is {_short(read.get(key))}, not {_short(expected.get(key))}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
