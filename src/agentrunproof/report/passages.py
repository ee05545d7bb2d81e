"""The leaves that an ablation record names, in plain words and quoted."""

from __future__ import annotations

import re

from agentrunproof.record.ablation import Ablation, Quote, leaves_runs
from agentrunproof.report.text import indented, printable

#: Of a quote no more characters are shown.
LONGEST = 480
_PLACE = re.compile(r"(?:(message \d+), )?(.*?)(, HTML comment)?(, sentence \d+)?", re.DOTALL)


def named(quote: Quote) -> str:
    """What and where it is: ``a sentence in the result of read_email, body (message 12)``."""
    found = _PLACE.fullmatch(quote.place)
    assert found is not None  # every part may be empty
    message, inner, comment, sentence = found.groups()
    if quote.kind == "tool_description":
        inner = " of ".join(reversed(inner.split(", ")))
    where = f"the {inner}" + (f" ({message})" if message else "")
    parts = ["a sentence"] * bool(sentence) + ["an HTML comment"] * bool(comment)
    return printable(" in ".join((*parts, where)))


def whole(record: Ablation, leaves: str, quotes: dict[int, Quote]) -> str:
    """What and where a run of leaves is: one leaf, or the text that they are (a part of)."""
    first, last = leaves_runs(leaves)[0][0], leaves_runs(leaves)[-1][1]
    quote = quotes.get(first)
    if quote is None or last == first + 1:
        return named(quote) if quote else group_of(record, first)
    place = quote.place.split(", ")
    return named(Quote(leaf=quote.leaf, id="", kind="tool_result", text="",
                       place=", ".join(place[:2 if place[0].startswith("message ") else 1])))


def group_of(record: Ablation, leaf: int) -> str:
    """The id of the text that a leaf is in."""
    end = 0
    for group in record.groups:
        end += group.leaves
        if leaf < end:
            return printable(group.id)
    return f"leaf {leaf}"


def said(quote: Quote, indent: str) -> list[str]:
    """What it says, cut where it is long."""
    text = quote.text.strip()
    cut = f"{text[:LONGEST]}... ({len(text):,} characters)" if len(text) > LONGEST else text
    return indented(cut, f"{indent}| ")
