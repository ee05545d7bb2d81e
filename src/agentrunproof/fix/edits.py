"""Changes of a literal request body that keep it valid for its API."""

from __future__ import annotations

import hashlib
from typing import Any

from agentrunproof.ablation.dialects import Body
from agentrunproof.ablation.draft import Draft
from agentrunproof.ablation.pieces import Context
from agentrunproof.record.fix import Change

_INSTRUCTING = ("system", "developer")


def changed(body: Body, dialect: str, change: Change) -> Body:
    """The body with a change made; the original stays as it is.

    Args:
        body: of a request.
        dialect: of it.
        change: what to do; ids are those of the pieces of `body`.

    Raises:
        AblationError: ``DIALECT_UNKNOWN``; ``PIECE_UNKNOWN``, ``PIECE_TWICE``.
    """
    replaced = {one.id: one.text for one in change.replaced}
    if change.removed or replaced:
        body = Context(body, dialect).without(change.removed, replaced)
    if change.marked:
        body = marked(body, dialect)
    if change.system is not None:
        body = _with_system(body, dialect, change.system)
    return _with_added(body, dialect, change.added) if change.added else body


def marked(body: Body, dialect: str) -> Body:
    """The body with each text that a tool gave between marks that say it is untrusted.

    The id in a mark is a digest of the text between, so that no text can hold its own end.
    """
    draft = Draft(body)
    for slot in Context(body, dialect).slots:
        if slot.kind == "tool_result":
            draft.put(slot.path, mark(slot.text))
    return draft.body


def mark(text: str) -> str:
    """A text between marks that say it is untrusted."""
    id = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"<untrusted-content {id}>\n{text}\n</untrusted-content {id}>"


def _with_system(body: Body, dialect: str, text: str) -> Body:
    """The body with another system prompt."""
    if dialect == "anthropic.messages":
        return {**body, "system": text}
    turns, first, end = _instructing(body, dialect)
    if dialect == "openai.responses" and (body.get("instructions") or first == end):
        return {**body, "instructions": text}
    head: Body = {**body[turns][first], "content": text} if first < end \
        else {"role": "system", "content": text}
    return {**body, turns: [head, *body[turns][end:]]}


def _with_added(body: Body, dialect: str, text: str) -> Body:
    """The body with a text at the end of its system prompt."""
    if dialect == "anthropic.messages":
        return {**body, "system": _longer(body.get("system"), text, "text")}
    turns, first, end = _instructing(body, dialect)
    if dialect == "openai.responses" and (body.get("instructions") or first == end):
        return {**body, "instructions": _longer(body.get("instructions"), text, "input_text")}
    if first == end:
        return {**body, turns: [{"role": "system", "content": text}, *body[turns]]}
    kind = "text" if dialect == "openai.chat" else "input_text"
    last = body[turns][end - 1]
    longer = {**last, "content": _longer(last.get("content"), text, kind)}
    return {**body, turns: [*body[turns][:end - 1], longer, *body[turns][end:]]}


def _longer(content: Any, text: str, kind: str) -> Any:
    """A content with a text added to it."""
    if isinstance(content, list):
        return [*content, {"type": kind, "text": text}]
    return f"{content}\n\n{text}" if content else text


def _instructing(body: Body, dialect: str) -> tuple[str, int, int]:
    """The key of an OpenAI request's turns, and which of them are its system prompt."""
    turns = "messages" if dialect == "openai.chat" else "input"
    items = body.get(turns)
    end = 0
    while isinstance(items, list) and end < len(items) and _instructs(items[end]):
        end += 1
    return turns, 0, end


def _instructs(item: Any) -> bool:
    return isinstance(item, dict) and item.get("role") in _INSTRUCTING
