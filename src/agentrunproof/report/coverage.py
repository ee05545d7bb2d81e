"""The page of the documentation's promises: which check watches each, and which none does."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

#: Address of the SDK's documentation.
SITE = "https://openai.github.io/openai-agents-python/"

#: Contracts that compare with what a plan declares, so that they watch its case and no other.
DECLARED = frozenset({"execution_outcome", "session_suite"})

State = Literal["watched", "in part", "not watched"]

_HEAD = """# Coverage

<!-- Written by scripts/update_docs.py from docs/promises.toml; edit that instead. -->

What the documentation of openai-agents {sdk} promises, sentence by sentence, and which of our
checks would fail if it were broken. Of {all} promises **{watched} are watched, {part} in part and
{none} by nothing**.

*Watched* means that a run which breaks the promise fails a check. {universal} of the promises are
watched, at least in part, by a [contract](contracts.md) that judges every run it applies to, of any
plan, a user's own too. {cases} are watched in declared cases only: a case of the
[session suite](session-suite.md), or what the plan of one [scenario](scenarios/README.md) expects.
*In part* says which part; the rest of the sentence may be broken without our seeing it. A contract
is narrower than its promise where its [section](contracts.md) says so.

The list was made by reading, and is not complete: other sentences promise something too, and
[whole parts](#not-looked-at) were left out. What the documentation says in two places is counted in
both. `python scripts/check_promises.py SDIST` holds each quote against the documentation in the
source distribution of the SDK.

## By page

| page | promises | watched | in part | not watched |
|---|---|---|---|---|
"""

_OUTSIDE = """
## Not looked at

Parts of the documentation, each with what stands below its heading, of which no promise is listed
because nothing there is watched, or because nothing is promised there.

| page | headings | why |
|---|---|---|
"""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A sentence of the documentation, and what watches it.

    Args:
        quote: the sentence as it is read, without links and markup.
        checks: what would fail if it were broken: contracts by name, ``case:NAME`` of the session
            suite, ``scenario:ID``.
        part: what of it they watch, if not all.
        none: why there are no checks.
    """

    quote: str
    checks: tuple[str, ...] = ()
    part: str = ""
    none: str = ""

    @property
    def state(self) -> State:
        """Whether it is watched."""
        return "not watched" if not self.checks else "in part" if self.part else "watched"

    @property
    def universal(self) -> bool:
        """Whether one of its checks judges every run of every plan."""
        return any(":" not in check and check not in DECLARED for check in self.checks)


@dataclass(frozen=True, kw_only=True)
class Section:
    """The promises below one heading of one page; of pages below ``ref/``, of one object."""

    page: str
    heading: str
    promises: tuple[Promise, ...]

    @property
    def url(self) -> str:
        """Where it stands."""
        return f"{SITE}{self.page}/#{self.anchor}"

    @property
    def anchor(self) -> str:
        """The anchor of its heading, as the documentation makes it."""
        return self.heading if self.page.startswith("ref/") else slug(self.heading)


@dataclass(frozen=True, kw_only=True)
class Outside:
    """Headings of a page, or all of it, of which no promise is listed, and why."""

    page: str
    headings: tuple[str, ...] = ()
    reason: str


@dataclass(frozen=True, kw_only=True)
class Promises:
    """All that is listed of the documentation of one release of the SDK."""

    sdk: str
    section: tuple[Section, ...]
    outside: tuple[Outside, ...] = ()

    def all(self) -> Iterator[Promise]:
        """Every promise, in the order of the list."""
        return (promise for section in self.section for promise in section.promises)


def slug(heading: str) -> str:
    """The anchor that MkDocs gives a heading."""
    text = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def page(promises: Promises, areas: Mapping[str, str]) -> str:
    """The text of docs/coverage.md.

    Args:
        promises: what it tells of.
        areas: area by scenario id.
    """
    every = list(promises.all())
    counts = Counter(promise.state for promise in every)
    universal = sum(promise.universal for promise in every)
    head = _HEAD.format(sdk=promises.sdk, all=len(every), watched=counts["watched"],
                        part=counts["in part"], none=counts["not watched"], universal=universal,
                        cases=len(every) - counts["not watched"] - universal)
    by_page: dict[str, list[Section]] = {}
    for section in promises.section:
        by_page.setdefault(section.page, []).append(section)
    rows = [_row(name, (one for section in sections for one in section.promises))
            for name, sections in by_page.items()]
    lines = [*rows, _OUTSIDE.rstrip("\n")]
    lines += [f"| [{out.page}]({SITE}{out.page}/) | {'; '.join(out.headings) or 'all'} "
              f"| {out.reason} |" for out in promises.outside]
    for name, sections in by_page.items():
        lines += ["", f"## {name}"]
        for section in sections:
            lines += _section(section, areas)
    return head + "\n".join(lines) + "\n"


def _row(name: str, promises: Iterable[Promise]) -> str:
    counts = Counter(promise.state for promise in promises)
    return (f"| [{name}](#{slug(name)}) | {counts.total()} | {counts['watched']} "
            f"| {counts['in part']} | {counts['not watched']} |")


def _section(section: Section, areas: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"### [{section.heading}]({section.url})", "", "| promise | watched by |",
                "|---|---|")
    for promise in section.promises:
        links = ", ".join(_link(check, areas) for check in promise.checks)
        told = {"watched": links, "in part": f"{links}: *in part*, {promise.part}",
                "not watched": f"*nothing*: {promise.none}"}[promise.state]
        yield f"| {_cell(promise.quote)} | {_cell(told)} |"


def _link(check: str, areas: Mapping[str, str]) -> str:
    kind, _, name = check.rpartition(":")
    if kind == "scenario":
        return f"[{name}](scenarios/{areas[name]}.md#{name})"
    if kind == "case":
        return f"[case {name}](session-suite.md)"
    return f"[`{name}`](contracts.md#{name})"


def _cell(text: str) -> str:
    """Text that stands in a table as it is: no markup of a quote is taken for ours."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("{", "&#123;")
