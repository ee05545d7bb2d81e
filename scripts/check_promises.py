"""Holds the quotes of docs/promises.toml against the SDK's documentation.

Usage: ``python scripts/check_promises.py DOCS``, where DOCS is the folder ``docs`` of the source
distribution of the release that the file names. Each page and heading must be there and each quote
must stand below its heading. Exit code 1 if one does not, each told on a line. Quotes of reference
pages come from docstrings; a test holds them against the installed package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from update_docs import promises

from agentrunproof.report.coverage import Promises, Section

#: Code, and what is left of other markup: headings of notes, links, emphasis, marks of lists.
BLOCK = re.compile(r"^\s*```.*?^\s*```", re.MULTILINE | re.DOTALL)
MARKUP = ((r"^\s*(?:!!!|\?\?\?).*$", ""), (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),
          (r"\[((?:[^\[\]]|\[[^\]]*\])*?)\]\[[^\]]*\]", r"\1"), (r"[`*]", ""),
          (r"^\s*(?:-|\d+\.)\s+", ""), (r"\s+", " "))


def plain(markdown: str) -> str:
    """The text of a page as it is read, on one line."""
    for pattern, text in MARKUP:
        markdown = re.sub(pattern, text, markdown, flags=re.MULTILINE)
    return markdown


def sections(page: str) -> dict[str, str]:
    """The text below each heading of a page, up to the next heading."""
    parts = re.split(r"^#+ +(.+)$", BLOCK.sub("", page), flags=re.MULTILINE)
    return {heading.replace("`", "").strip(): plain(text)
            for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def missing(section: Section, text: str) -> Iterator[str]:
    """The quotes of a section that do not stand in a text."""
    for promise in section.promises:
        if not all(piece in text for piece in promise.quote.split(" ... ")):
            yield f"{section.page}: {section.heading}: not there: {promise.quote}"


def problems(listed: Promises, docs: Path) -> Iterator[str]:
    """What is listed and does not stand in the documentation."""
    pages = [(one.page, (one.heading,), one) for one in listed.section
             if not one.page.startswith("ref/")]
    for page, headings, section in [*pages, *((one.page, one.headings, None)
                                              for one in listed.outside)]:
        path = docs / f"{page}.md"
        path = path if path.is_file() else docs / page / "index.md"
        if not path.is_file():
            yield f"{page}: no such page"
            continue
        found = sections(path.read_text(encoding="utf-8"))
        yield from (f"{page}: no such heading: {name}" for name in headings if name not in found)
        if section is not None:
            yield from missing(section, found.get(section.heading, ""))


def main(arguments: list[str]) -> int:
    found = list(problems(promises(), Path(arguments[0])))
    for line in found:
        print(line, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
