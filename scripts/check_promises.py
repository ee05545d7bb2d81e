"""Holds what we quote of the SDK's documentation against it.

Usage: ``python scripts/check_promises.py SDIST``, where SDIST is the unpacked source distribution
of the release that docs/promises.toml names. Of that file each page and heading must be there and
each quote must stand below its heading; quotes of reference pages come from docstrings, and a test
holds them against the installed package. What contracts and the session suite quote must stand
somewhere in the documentation or the source. Exit code 1 if something does not, told on a line.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from update_docs import promises

from agentrunproof.contracts.registry import CONTRACTS
from agentrunproof.report.coverage import Promises, Section
from agentrunproof.suites.session import CASES

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


def words(text: str) -> str:
    """The words of a text alone, for quotes run on over lines, markup and ends of sentences."""
    return " ".join(re.findall(r"\w+", plain(text).replace("_", " ").lower()))


def quoted() -> Iterator[tuple[str, str]]:
    """Each sentence that a contract or a case of the session suite quotes, with whose it is."""
    for contract in CONTRACTS:
        module = importlib.import_module(f"agentrunproof.contracts.{contract.name}")
        yield from ((contract.name, quote)
                    for quote in re.findall(r'"([^"]{20,})"', module.__doc__ or ""))
    promised = {case.promise for case in CASES.values()}
    yield from (("session suite", one.text) for one in promised if one.basis == "documentation")


def invented(quotes: Iterable[tuple[str, str]], texts: Iterable[str]) -> Iterator[str]:
    """The quotes of which a sentence stands in none of the texts."""
    whole = "\n".join(map(words, texts))
    for name, quote in quotes:
        for piece in re.split(r"\.\.\.|[.:;]\s", quote):
            if words(piece) not in whole:
                yield f"{name}: not there: {' '.join(piece.split())}"


def main(arguments: list[str]) -> int:
    root = Path(arguments[0])
    texts = [path.read_text(encoding="utf-8")
             for path in (*root.glob("docs/**/*.md"), *root.glob("src/**/*.py"))]
    found = [*problems(promises(), root / "docs"), *invented(quoted(), texts)]
    for line in found:
        print(line, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
