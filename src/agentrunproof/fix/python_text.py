"""Pieces of the Python text of written tests."""

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

WIDTH = 96


def text(name: str, value: str) -> str:
    """An assignment of a text, broken into lines."""
    pieces = [piece for line in value.splitlines(keepends=True) for piece in _pieces(line)]
    if len(pieces) < 2:
        return f"{name} = {quoted(value)}"
    return "\n".join([f"{name} = (", *(f"    {quoted(piece)}" for piece in pieces), ")"])


def quoted(value: str) -> str:
    """A text as Python writes it, in double quotes where nothing in it must be escaped by hand."""
    if value.replace("\n", "").isprintable():
        return json.dumps(value, ensure_ascii=False)
    return repr(value)  # no direction mark, no lone surrogate stands in a source file


def _pieces(line: str) -> list[str]:
    """A line in pieces that fit, each with the white space that follows it."""
    pieces, rest = [], line
    while len(rest) > WIDTH - 12:
        at = rest.rfind(" ", 0, WIDTH - 12) + 1 or WIDTH - 12
        pieces.append(rest[:at])
        rest = rest[at:]
    return [*pieces, rest] if rest else pieces


def value(name: str, value: Any) -> str:
    """An assignment of any JSON value."""
    return f"{name} = {_literal(value, '')}"


def _literal(value: Any, indent: str) -> str:
    """A JSON value as Python writes it, on one line if it fits."""
    if isinstance(value, str):
        return quoted(value)
    inner = indent + "    "
    if isinstance(value, dict):
        parts = [f"{quoted(key)}: {_literal(item, inner)}" for key, item in value.items()]
    elif isinstance(value, list):
        parts = [_literal(item, inner) for item in value]
    else:
        return repr(value)
    start, end = "{}" if isinstance(value, dict) else "[]"
    line = f"{start}{', '.join(parts)}{end}"
    if len(indent) + len(line) < WIDTH - 20 and "\n" not in line:
        return line
    return "\n".join([start, *(f"{inner}{part}," for part in parts), indent + end])


def docstring(title: str, *paragraphs: str) -> str:
    """The docstring of a module."""
    parts = [title, *("\n".join(textwrap.wrap(one, WIDTH, break_on_hyphens=False))
                      for one in paragraphs)]
    said = "\n\n".join(parts).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{said}\n"""'


def word(name: str) -> str:
    """What can stand in a function's name."""
    return re.sub(r"\W+", "_", name).strip("_").lower() or "so"
