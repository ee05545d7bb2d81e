"""Texts split into their finest parts, with the exact place of each.

A text that is JSON is split into its values, and each string among them as the text that it
holds, nested JSON included. Any other text is split into paragraphs, lines and sentences. Every
part is a span of the text as it stands, so that one part can be overwritten or cut out while the
rest stays the same, character for character, and JSON stays JSON.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

#: What stands between the finest parts: line ends, the space after a sentence (but not after an
#: abbreviation), and what HTML has around comments and blocks.
_BOUNDARY = re.compile(
    r"\n\s*"
    r"|[.!?](?<!\be\.g\.)(?<!\bi\.e\.)(?<!\b(?:Mr|Ms|Dr|No|Nr|vs|cf|ca)\.)[\"'”\u2019)\]]*\s+"
    r"|[。！？]\s*"  # noqa: RUF001 (these sentence ends are meant)
    r"|<!--|-->"
    r"|</?(?:p|div|section|article|blockquote|pre|ul|ol|li|table|tr|td|th|h[1-6]|br|hr|html|head"
    r"|body)\b[^<>]*>", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n\s*\n")
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
                     r"|\\u[0-9a-fA-F]{4}|\\.")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)

Offsets = Callable[[int], int]


class Part(NamedTuple):
    """One finest part of a text.

    Args:
        start: of its span.
        end: of its span.
        text: what it says, escapes of JSON undone.
        path: where it stands in JSON: ``body`` or ``items[2].title``; else nothing.
        number: which sentence of its string it is, from 1; 0 where it is all of it.
        paragraph: which paragraph it is in, from 1; 0 where there is but one.
        depth: how many JSON strings it stands in.
        literal: whether it is a JSON number, true, false or null.
    """

    start: int
    end: int
    text: str
    path: str = ""
    number: int = 0
    paragraph: int = 0
    depth: int = 0
    literal: bool = False


def parts(text: str) -> list[Part]:
    """All finest parts of a text, in their order; none is empty."""
    found: list[Part] = []
    _split(text, 0, len(text), "", 0, None, found)
    return found


def escaped(text: str, depth: int) -> str:
    """A text as it must be written to stand in `depth` JSON strings."""
    for _ in range(depth):
        text = json.dumps(text)[1:-1]
    return text


def _split(text: str, start: int, end: int, path: str, depth: int, offsets: Offsets | None,
           found: list[Part]) -> None:
    """Add the parts of a span of a text, which is JSON or prose."""
    if _looks_like_json(text, start, end):
        _split_json(text[start:end], path, depth, _shifted(offsets, start, None), found)
    else:
        _split_prose(text, start, end, path, depth, offsets, found)


def _looks_like_json(text: str, start: int, end: int) -> bool:
    if start == end or text[start] not in "{[ \n\t\r":
        return False
    stripped = text[start:end].strip()
    if stripped[:1] + stripped[-1:] not in ("{}", "[]"):
        return False
    try:
        json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return True


def _split_json(text: str, prefix: str, depth: int, offsets: Offsets, found: list[Part]) -> None:
    """Add the values of a JSON text: a walk over its tokens that knows the path of each."""
    steps: list[str | int] = []  # of the containers entered: the key or index that comes next
    key_next = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == ":":
            key_next = False
        elif word == ",":
            last = steps[-1]
            if isinstance(last, int):
                steps[-1] = last + 1
            else:
                key_next = True
        elif word == "{" or word == "[":
            steps.append("" if word == "{" else 0)
            key_next = word == "{"
        elif word == "}" or word == "]":
            steps.pop()
            key_next = False
        elif key_next:
            steps[-1] = json.loads(word)
        else:
            _split_value(text, token, _path(prefix, steps), depth, offsets, found)


def _split_value(text: str, token: re.Match[str], path: str, depth: int, offsets: Offsets,
                 found: list[Part]) -> None:
    start, end = token.span()
    if text[start] != '"':
        found.append(Part(offsets(start), offsets(end), token[0], path, depth=depth, literal=True))
    elif text.find("\\", start, end) < 0:
        _split(text, start + 1, end - 1, path, depth + 1, offsets, found)
    else:
        said = json.loads(token[0])
        _split(said, 0, len(said), path, depth + 1,
               _shifted(offsets, start + 1, _shifts(text[start + 1:end - 1])), found)


def _path(prefix: str, steps: list[str | int]) -> str:
    path = prefix
    for step in steps:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _shifted(outer: Offsets | None, start: int, inner: Offsets | None) -> Offsets:
    """Offsets in a decoded string, as offsets in the text that holds it from `start` on."""
    def offsets(offset: int) -> int:
        at = start + (offset if inner is None else inner(offset))
        return at if outer is None else outer(at)

    return offsets


def _shifts(raw: str) -> Offsets:
    """Where a character of the decoded string stands in the raw one."""
    ends: list[int] = []     # decoded offset just past each escape
    extra: list[int] = []    # raw characters more than decoded ones, up to there
    total = 0
    for escape in _ESCAPE.finditer(raw):
        ends.append(escape.start() - total + 1)
        total += len(escape[0]) - 1
        extra.append(total)

    def shift(offset: int) -> int:
        at = bisect_right(ends, offset)
        return offset + (extra[at - 1] if at else 0)

    return shift


def _split_prose(text: str, start: int, end: int, path: str, depth: int,
                 offsets: Offsets | None, found: list[Part]) -> None:
    """Add sentences and lines, without the white space around them."""
    spans: list[tuple[int, int]] = []
    at = start
    for boundary in _BOUNDARY.finditer(text, start, end):
        first, last = boundary.span()
        _add_stripped(text, at, first if text[first] in "<-" else last, spans)
        at = last
    _add_stripped(text, at, end, spans)
    if text.find("\n", start, end) < 0:
        breaks = []
    else:
        breaks = [blank.end() for blank in _BLANK_LINE.finditer(text, start, end)]
    several = len(spans) > 1
    for number, (first, last) in enumerate(spans, 1):
        low, high = (first, last) if offsets is None else (offsets(first), offsets(last))
        found.append(Part(low, high, text[first:last], path, number if several else 0,
                          bisect_right(breaks, first) + 1 if breaks else 0, depth))


def _add_stripped(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append((start, end))
