"""Values in texts: what can be told again elsewhere, such as numbers, names, ids and paths."""

from __future__ import annotations

import re

#: A value as long as this is a text of its own.
_LONGEST = 100

_MARKED = re.compile(
    r"\*\*(.{2,100}?)\*\*|`([^`\n]{2,100})`|\"([^\"\n]{2,100})\"|“([^”\n]{2,100})”")
_TOKEN = re.compile(
    r"https?://[^\s\"')\]>]+"                       # addresses
    r"|[\w.\-]{1,64}@[\w\-]{1,64}\.[\w.\-]{1,64}"
    r"|(?:[\w.~\-]{0,80}/){1,20}[\w.\-]{1,80}"       # paths
    r"|[\w\-]{1,80}\.(?:json|ya?ml|toml|csv|txt|md|py|js|ts|db|xlsx?|pdf|html|log|cfg|ini|env)\b"
    r"|#?\b(?=[\w\-]{0,80}\d)(?=[\w\-]{0,80}[A-Za-z_])[\w\-]{4,80}"  # ids
    r"|\d[\d,]{1,30}(?:\.\d{1,20})?|\d\.\d{1,20}"     # numbers of two digits and more
    r"|(?:[A-Z][\w'\u2019&.\-]+ ){1,4}[A-Z][\w'\u2019&.\-]+"   # names of several words
)
_EDGE = " \t\n.,;:!?'\"()[]{}*`"


def normal(value: str) -> str:
    """How a value is compared: without case, and what stands around it in sentences."""
    value = value.strip(_EDGE).lower()
    return value.replace(",", "") if value[:1].isdigit() else value


def values(text: str) -> list[str]:
    """The values in a text, in the order in which they stand, each once, as they are compared."""
    found: dict[str, None] = {}
    for pattern in (_MARKED, _TOKEN):
        for match in pattern.finditer(text):
            value = normal(match[match.lastindex or 0])
            if 2 <= len(value) <= _LONGEST:
                found[value] = None
    return list(found)


def telling(value: str) -> bool:
    """Whether two texts that hold a value are likely to do so for one reason.

    Two digits or a short word stand in many texts by chance.
    """
    return len(value) >= (3 if value[:1].isdigit() else 4)


def holds(text: str, value: str) -> bool:
    """Whether a text (compared, see `normal`) holds a value as a whole."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not (_word(text, at - 1) and _word(text, at)) and \
                not (_word(text, end) and _word(text, end - 1)):
            return True
        at = text.find(value, at + 1)
    return False


def _word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")
