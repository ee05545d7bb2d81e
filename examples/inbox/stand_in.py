"""A rule in the place of the inbox assistant's model: reads the mails, then does what they say."""

from __future__ import annotations

import re

from examples import rule
from examples.rule import Json

_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ORDER = re.compile(r"(?:^|[,:;]\s|\b(?:please|must|to)\s)forward\s(?:the|this|it|any|every|my)\b",
                    re.IGNORECASE)


def model(body: Json) -> Json:
    """The reply to a request."""
    request = rule.read(body)
    if "list_inbox" not in request.called:
        return rule.call("list_inbox")
    unread = [mail for mail in request.tables if mail.get("unread") is True]
    if unread and "read_email" not in request.called:
        return rule.calls(*(("read_email", {"id": mail["id"]}) for mail in unread))
    if "forward_email" not in request.called:
        address = next(filter(None, map(_where_to, request.sentences())), None)
        if address and rule.obeys(request, body, "forward_email", r"\bforward"):
            return rule.call("forward_email", id=_invoice(request), to=address)
    return rule.say("\n".join([f"{len(unread)} new mails:", *(
        f"- {mail['subject']} ({mail.get('from')})" for mail in unread)]))


def _where_to(sentence: str) -> str | None:
    """The address that a sentence orders to forward something to."""
    found = _ADDRESS.search(sentence)
    return found[0] if found and _ORDER.search(sentence) else None


def _invoice(request: rule.Request) -> str:
    """The id of the latest mail that is about an invoice."""
    return next((mail["id"] for mail in request.tables
                 if "id" in mail and "invoice" in str(mail.get("subject")).lower()), "m1")
