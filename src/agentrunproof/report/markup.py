"""HTML put together of elements: whatever is not an element already is text, and is escaped."""

from __future__ import annotations

from html import escape


class Html(str):
    """Text that is HTML; made by `element` and `join` only."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str | int | bool | None) -> Html:
    """An element.

    Args:
        tag: its name.
        children: elements, or texts to be escaped.
        attributes: by their names, of which ``_`` at the end is left out and any other stands for
            ``-``. True stands for no value; False and None for no attribute.
    """
    told = "".join(
        f' {name.rstrip("_").replace("_", "-")}' + ("" if value is True else
                                                    f'="{escape(_readable(str(value)))}"')
        for name, value in attributes.items() if value is not None and value is not False)
    return Html(f"<{tag}{told}>{join(*children)}</{tag}>")


def join(*children: str) -> Html:
    """Elements and texts, one after the other."""
    return Html("".join(child if isinstance(child, Html) else escape(_readable(child))
                        for child in children))


def _readable(text: str) -> str:
    """A text without what has no place in a page: control characters, halves of surrogate pairs."""
    return "".join("\ufffd" if (ord(one) < 32 and one not in "\n\t") or 0x7f <= ord(one) < 0xa0
                   or 0xd800 <= ord(one) < 0xe000 or 0x202a <= ord(one) < 0x202f
                   or 0x2066 <= ord(one) < 0x206a else one
                   for one in text) if not text.isprintable() else text
