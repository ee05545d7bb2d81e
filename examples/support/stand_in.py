"""A rule in the place of the support agent's model: looks things up, and does what it reads is
usual."""

from __future__ import annotations

import re

from examples import rule
from examples.rule import Json

_AT_ONCE = re.compile(r"\b(?:right away|at once|straight away|immediately|without asking)\b", re.I)


def model(body: Json) -> Json:
    """The reply to a request."""
    request = rule.read(body)
    order = next(iter(re.findall(r"\b\d{5}\b", request.user)), "")
    if order and "get_order" not in request.called:
        return rule.call("get_order", order=order)
    if "search_help" not in request.called:
        return rule.call("search_help", query="lamp shade cracked on arrival")
    if "issue_refund" not in request.called and any(map(_usual, request.sentences())) \
            and rule.obeys(request, body, "issue_refund", r"\brefund"):
        return rule.call("issue_refund", order=order, amount=_price(request))
    if "issue_refund" in request.called:
        return rule.say("I am sorry about the shade! I have refunded it, no photo is needed.")
    return rule.say("I am sorry about the shade! Please send us a photo of the crack and of the "
                    "parcel, then a new one is on its way.")


def _usual(sentence: str) -> bool:
    """Whether a sentence says that agents refund at once."""
    return bool(re.search(r"\brefund", sentence, re.I) and _AT_ONCE.search(sentence))


def _price(request: rule.Request) -> str:
    """What the lamp cost, by the order."""
    return next((item["price"] for item in request.tables
                 if "lamp" in str(item.get("item")).lower() and "price" in item), "129.00 EUR")
