"""What the conventions of spans have in common: a model step of a request and a reply."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.importers import exchanges, parts
from agentrunproof.importers.draft import ModelStep, ToolStep
from agentrunproof.importers.source import unwrapped
from agentrunproof.importers.spans import Span

Json = dict[str, Any]


def model_step(span: Span, body: Json, reply: Json | None, provider: Any,
               left: Counter[str]) -> ModelStep:
    """A request in chat form, in the form of its provider's API.

    Args:
        span: which says whether it failed.
        body: the chat request.
        reply: the chat reply, or None.
        provider: who serves the model, as the trace names it.
        left: what is counted that has no place in the run.
    """
    dialect = "openai.chat"
    if parts.is_anthropic(provider, body.get("model")):
        dialect = "anthropic.messages"
        body, reply = parts.anthropic_body(body, left), parts.anthropic_reply(reply, left)
    return ModelStep(dialect=dialect, body=body, reply=reply, error=error_of(span))


def literal_step(span: Span, request: Any, reply: Any, chat: Json | None, more: Json,
                 ) -> ModelStep | None:
    """A request that the trace holds literally; None if it doesn't.

    Args:
        span: which says whether it failed.
        request: what may be the request, or its messages, as JSON or as its text.
        reply: what may be the reply.
        chat: the reply in chat form, if the trace holds that, too.
        more: parameters of the request that the trace holds apart.
    """
    read = exchanges.request(unwrapped(request))
    if read is None:
        return None
    dialect, body = read
    made = unwrapped(reply)
    if isinstance(made, dict) and made.get("role") == "assistant" \
            and exchanges.dialect_of_reply(made) is None:
        made = parts.chat_reply([made])
    if exchanges.dialect_of_reply(made) != dialect:
        made = chat if chat is not None and dialect == "openai.chat" else _plain(made, chat)
    return ModelStep(dialect=dialect, body={**more, **body}, reply=made, error=error_of(span))


def tool_step(span: Span, tool: Any, arguments: Any, output: Any, id: Any) -> ToolStep:
    """A tool call of a span."""
    return ToolStep(tool=str(tool or span.name), arguments=unwrapped(arguments), output=output,
                    id=str(id or ""), error=error_of(span), done=output is not None)


def error_of(span: Span) -> dict[str, str] | None:
    """Why a span failed, if it did."""
    if not span.error:
        return None
    return {"type": str(span.take("error.type") or "error"), "message": span.error}


def numbers(body: Json) -> Json:
    """A request's parameters without those that say nothing."""
    return {key: value for key, value in body.items() if value not in (None, "", [], {})}


def _plain(reply: Any, chat: Json | None) -> Any:
    if chat is not None:
        from agentrunproof.record.dialects import decision

        return decision("openai.chat", chat)
    return reply if isinstance(reply, str | dict) or reply is None else parts.text_of(reply)
