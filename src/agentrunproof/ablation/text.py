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
from typing import Any, NamedTuple

#: What HTML has around comments and blocks, which belongs to no part.
_TAG = (r"<!--|-->|</?(?i:p|div|section|article|blockquote|pre|ul|ol|li|table|tr|td|th|h[1-6]|br|hr"
        r"|html|head|body)\b[^<>]*>")
_STOP = "[.!?\u061f\u06d4\u0964\u2026]"  # ends a sentence before white space
_FULL = "[\u3002\uff01\uff1f]"  # ends a sentence anywhere
_CLOSED = "[\"'\u201d\u2019)\\]]*"
_SHORT = r"(?i:(?<=\be\.g\.)|(?<=\bi\.e\.)|(?<=\b(?:Mr|Ms|Dr|No|Nr|vs|cf|ca)\.))"
#: A sentence or line as the group, perhaps with white space after it; or what lies between.
_SENTENCE = re.compile(
    rf"{_TAG}|((?!\s)(?:[^\n<\-{_STOP[1:-1]}{_FULL[1:-1]}]+|{_STOP}(?:(?!{_CLOSED}\s)|{_SHORT})"
    rf"|(?!{_TAG})[<-])*(?:{_STOP}{_CLOSED}|{_FULL})?)")
_BLANK_LINE = re.compile(r"\n\s*\n")
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
                     r"|\\u[0-9a-fA-F]{4}|\\.")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
#: A string of JSON, with what makes it a key, or another value.
_VALUE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[^\s{}\[\],:"]+', re.DOTALL)
#: JSON as nested lists of texts: of objects the values, also of keys that stand twice.
_TEXTS = json.JSONDecoder(object_pairs_hook=lambda pairs: [value for _, value in pairs],
                          parse_int=str, parse_float=str, parse_constant=str)
_LITERALS = {True: "true", False: "false", None: "null"}

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


def values(text: str) -> list[str]:
    """The values whose sentences are the parts of a text: those of JSON, or the text itself."""
    found: list[str] = []
    ahead: list[Any] = [text]
    while ahead:
        value = ahead.pop()
        if isinstance(value, str):
            inner = _json(value)
            if inner is None:
                found.append(value)
                continue
            value = inner
        if isinstance(value, list):
            ahead += reversed(value)
        else:
            found.append(_LITERALS[value])
    return found


def sentences(value: str) -> list[str]:
    """The sentences and lines of a value that is not JSON, white space after them included."""
    return [sentence for sentence in _SENTENCE.findall(value) if sentence]


def begins(value: str) -> list[int]:
    """Where the sentences and lines of a value begin."""
    return [sentence.start() for sentence in _SENTENCE.finditer(value) if sentence[1]]


def overwritten(text: str, filler: str) -> str:
    """A text with all its values overwritten; its size and the form of its JSON stay."""
    if _json(text) is None:
        return filled(len(text), filler)

    def fill(value: re.Match[str]) -> str:
        if value[1]:
            return value[0]  # a key
        if value[0][0] == '"':
            return f'"{filled(len(value[0]) - 2, filler)}"'
        return blank(value[0])

    return _VALUE.sub(fill, text)


def filled(size: int, filler: str) -> str:
    """So many characters of filler."""
    return (filler * (size // len(filler) + 1))[:size]


def blank(literal: str) -> str:
    """What stands for a JSON value that is no string; it has the same size."""
    return ("null" if literal in ("true", "false", "null") else "0").ljust(len(literal))


def in_comment(text: str, offset: int) -> bool:
    """Whether what stands at an offset is in an HTML comment, which people don't see."""
    return text.rfind("<!--", 0, offset) > text.rfind("-->", 0, offset)


def escaped(text: str, depth: int) -> str:
    """A text as it must be written to stand in `depth` JSON strings."""
    for _ in range(depth):
        text = json.dumps(text)[1:-1]
    return text


def _json(text: str) -> list[Any] | None:
    """The values of a text that is a JSON object or array."""
    if text[:1] not in ("{", "[", " ", "\n", "\t", "\r"):
        return None
    stripped = text.strip()
    if stripped[:1] + stripped[-1:] not in ("{}", "[]"):
        return None
    try:
        found: list[Any] = _TEXTS.decode(stripped)
    except (ValueError, RecursionError):
        return None
    return found


def _split(text: str, start: int, end: int, path: str, depth: int, offsets: Offsets | None,
           found: list[Part]) -> None:
    """Add the parts of a span of a text, which is JSON or prose."""
    inner = text[start:end]
    if _json(inner) is not None:
        _split_json(inner, path, depth, _shifted(offsets, start, None), found)
    else:
        _split_prose(inner, path, depth, _shifted(offsets, start, None), found)


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


def _split_prose(text: str, path: str, depth: int, offsets: Offsets, found: list[Part]) -> None:
    """Add sentences and lines, without the white space around them."""
    spans = [(sentence.start(), sentence.start() + len(sentence[1].rstrip()))
             for sentence in _SENTENCE.finditer(text) if sentence[1]]
    breaks = [blank.end() for blank in _BLANK_LINE.finditer(text)]
    several = len(spans) > 1
    for number, (first, last) in enumerate(spans, 1):
        found.append(Part(offsets(first), offsets(last), text[first:last], path,
                          number if several else 0,
                          bisect_right(breaks, first) + 1 if breaks else 0, depth))
