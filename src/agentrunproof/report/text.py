"""What a probe or a check found, in plain text of 80 columns.

Functions return lines; the caller prints them. `Paint` adds colour where the terminal wants it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # listing scenarios needs none of the record format
    from agentrunproof.errors import AgentRunProofError
    from agentrunproof.record.certificate import Certificate
    from agentrunproof.record.result import CheckResult

WIDTH = 80

#: Colours a verdict's word (the first argument) within the text given second.
Paint = Callable[[str, str], str]

_COLOURS = {"PASS": "32", "VALID": "32", "FAIL": "1;31", "INVALID": "1;31", "ERROR": "1;31",
            "UNTESTABLE": "33", "PART": "33", "OPEN": "33"}


def plain(verdict: str, text: str) -> str:
    return text


def ansi(verdict: str, text: str) -> str:
    """`text` in the colour of `verdict`, for terminals; answers that are no judgement have none."""
    return f"\x1b[{_COLOURS[verdict]}m{text}\x1b[0m" if verdict in _COLOURS else text


def outcome_lines(certificate: Certificate, id: str, label: str, paint: Paint = plain,
                  reproduce: str = "") -> list[str]:
    """One probed scenario: verdict, checks, and how to see a failure again.

    Args:
        certificate: what was recorded.
        id: the certificate's id.
        label: ``certified`` or ``untested``, of the SDK release.
        paint: colours.
        reproduce: a command line; shown under what is not a PASS.
    """
    verdict, producer = certificate.verdict, certificate.producer
    note = "" if label == "certified" else f" ({label}: not certified with agentrunproof " \
                                           f"{producer.version})"
    lines = [f"{paint(verdict, verdict)} {certificate.scenario}"]
    for check in certificate.checks:
        lines += check_lines(check, paint)
    if certificate.observation.missing:
        lines.append("  this release lacks: " + ", ".join(certificate.observation.missing))
    lines += [f"sdk: openai-agents {producer.sdk.version}, Python {producer.python}{note}",
              f"certificate_id: {id}"]
    if verdict != "PASS" and reproduce:
        lines.append(f"reproduce: {reproduce}")
    return lines


def check_lines(check: CheckResult, paint: Paint = plain) -> list[str]:
    """One check: its verdict, name and code; below a failure, where and what was seen."""
    mark = paint(check.verdict, check.verdict.ljust(7))
    lines = [f"  {mark} {check.check}: {check.code}"]
    place = f"{check.where}: " if check.where else ""
    if check.detail:
        lines += wrap(place + check.detail, "          ")
    if check.also:
        lines.append(f"          and {check.also} more of this check")
    return lines


def error_lines(scenario: str, error: AgentRunProofError, paint: Paint = plain) -> list[str]:
    """A scenario that could not be probed."""
    lines = [f"{paint('ERROR', 'ERROR')} {scenario}", f"  {error.code}: {error.message}"]
    return [*lines, f"  hint: {error.hint}"] if error.hint else lines


def summary_line(verdicts: Iterable[str]) -> str:
    """``23 scenarios: 21 PASS, 2 FAIL``."""
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict] = counts.get(verdict, 0) + 1
    parts = ", ".join(f"{counts[word]} {word}" for word in ("PASS", "FAIL", "UNTESTABLE", "ERROR")
                      if word in counts)
    total = sum(counts.values())
    return f"{total} scenario{'s' if total != 1 else ''}: {parts}"


def scenario_lines(rows: Iterable[tuple[str, str, str]]) -> list[str]:
    """The list of scenarios, by area, from (area, id, title)."""
    lines: list[str] = []
    last = None
    for area, id, title in sorted(rows):
        if area != last:
            lines += [""] * bool(lines) + [area]
            last = area
        lines += [f"  {id}", *wrap(title, "      ")]
    return lines


def wrap(text: str, indent: str = "") -> list[str]:
    """`text` in lines of at most `WIDTH` columns; long words stay whole, for copying."""
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def printable(text: str) -> str:
    """`text` without anything that moves a terminal's cursor or colours it; line feeds stay."""
    return "".join(letter if letter.isprintable() or letter == "\n" else
                   " " if letter == "\t" else f"\\x{ord(letter):02x}" for letter in text)


def fit(line: str) -> str:
    """One line that a terminal may be shown, cut to the width."""
    line = printable(" ".join(line.splitlines()))
    return line if len(line) <= WIDTH else line[:WIDTH - 3] + "..."


def indented(text: str, indent: str = "  ") -> list[str]:
    """All of a text that a terminal may be shown, its own line breaks kept."""
    lines: list[str] = []
    for line in printable(text).split("\n"):
        lines += textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent=indent,
                               break_on_hyphens=False) or [""]
    return lines if text else []
