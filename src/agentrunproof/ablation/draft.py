"""A request body being edited: copied only along the paths that change."""

from __future__ import annotations

from typing import Any

from agentrunproof.ablation.dialects import Body, Dialect, Path

#: Stands where an API does not take an empty list of messages.
STUB = "(removed)"

#: Takes the place of a list item that goes, so that the places of the others stay as they are.
_GONE = object()
_LISTS = ("content", "tool_calls", "summary", "output")
_THOUGHTS = ("thinking", "redacted_thinking")


class Draft:
    """A body that is edited without touching the original.

    Args:
        body: the original.
    """

    def __init__(self, body: Body) -> None:
        self.body: Body = dict(body)
        self.texts: dict[int, str] = {}  # the new texts of slots
        self._own: dict[Path, Any] = {(): self.body}
        self._dropped: set[Path] = set()

    def put(self, path: Path, value: Any) -> None:
        """Set the value at a path."""
        self._container(path[:-1])[path[-1]] = value

    def at(self, path: Path) -> Any:
        """The value at a path, as it is now."""
        value: Any = self.body
        for step in path:
            value = value[step]
        return value

    def clear(self, path: Path) -> None:
        """Take away the value of a key, or leave an empty one where the API wants the key."""
        container = self._container(path[:-1])
        if isinstance(container, dict) and path[-1] not in ("content", "text", "input"):
            container.pop(path[-1], None)
        elif isinstance(container, dict) and container.get("tool_calls"):
            container[path[-1]] = None
        else:
            container[path[-1]] = ""

    def drop(self, *paths: Path) -> None:
        """Take list items away once the draft is finished."""
        self._dropped.update(paths)

    def finished(self, dialect: Dialect) -> Body:
        """The edited body: dropped items gone, and with them whatever is nothing without them."""
        for path in self._dropped:
            self._container(path[:-1])[path[-1]] = _GONE
        if any(path[0] == "tools" for path in self._dropped):
            self.body["tools"] = [tool for tool in self.body["tools"] if tool is not _GONE]
            if not self.body["tools"]:
                self.body.pop("tools")
                self.body.pop("tool_choice", None)
        changed = {int(path[1]) for path in self._dropped if path[0] == dialect.turns}
        if changed:
            turns = [_swept(turn) if n in changed else turn
                     for n, turn in enumerate(self.body[dialect.turns])]
            self.body[dialect.turns] = _with_a_beginning(
                [turn for turn in _without_lone_reasoning(turns) if turn is not _GONE], dialect)
        return self.body

    def _container(self, path: Path) -> Any:
        """The container at a path, copied the first time it is asked for."""
        if path not in self._own:
            outer = self._container(path[:-1])
            inner = outer[path[-1]]
            copy = dict(inner) if isinstance(inner, dict) else list(inner)
            outer[path[-1]] = self._own[path] = copy
        return self._own[path]


def _swept(turn: Any) -> Any:
    """A turn without its dropped parts and calls; gone if nothing is left of it."""
    if not isinstance(turn, dict) or turn.get("type") in ("function_call", "function_call_output"):
        return turn
    for key in _LISTS:
        if isinstance(turn.get(key), list):
            turn[key] = [item for item in turn[key] if item is not _GONE]
    if "tool_calls" in turn and not turn["tool_calls"]:
        turn.pop("tool_calls")
    content = turn.get("content")
    if isinstance(content, list) and content and all(
            isinstance(block, dict) and block.get("type") in _THOUGHTS for block in content):
        content = None  # what it thought about is gone
    said = content or turn.get("tool_calls") or turn.get("type") == "reasoning"
    return turn if said else _GONE


def _without_lone_reasoning(turns: list[Any]) -> list[Any]:
    """Reasoning whose call or message has gone is refused by the API, so that it goes too."""
    kept: list[Any] = []
    after: Any = None  # the turn that follows
    for turn in reversed(turns):
        if isinstance(turn, dict) and turn.get("type") == "reasoning" and after is _GONE:
            continue
        kept.append(turn)
        after = turn
    return kept[::-1]


def _with_a_beginning(turns: list[Any], dialect: Dialect) -> list[Any]:
    """Turns that an API takes: at least one, and for Anthropic a user's first."""
    first = turns[0].get("role") if turns and isinstance(turns[0], dict) else None
    if not turns or (dialect.name == "anthropic.messages" and first != "user"):
        return [{"role": "user", "content": STUB}, *turns]
    return turns
