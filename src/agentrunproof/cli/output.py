"""How commands speak: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from agentrunproof.report import text

#: Seconds before a long job starts to say how far it is.
PATIENCE = 2.0


_results: TextIO | None = None


@contextmanager
def results_only() -> Iterator[None]:
    """Keep standard output for results: what a user's code prints goes to standard error."""
    global _results
    _results = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _results = None


def lines(content: Iterable[str]) -> None:
    """Print result lines."""
    for line in content:
        print(line, file=_results or sys.stdout)


def flush() -> None:
    """Have results printed before anything can go wrong."""
    (_results or sys.stdout).flush()


def table(value: Any) -> None:
    """Print one JSON document."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # escapes of Python would be no JSON
        text = json.dumps(value, indent=2)
    print(text)


def note(message: str) -> None:
    """Say something that is not a result."""
    print(message, file=sys.stderr)


def paint() -> text.Paint:
    """Colours if standard output is a terminal that wants them (https://no-color.org)."""
    wanted = sys.stdout.isatty() and not os.environ.get("NO_COLOR") \
        and os.environ.get("TERM") != "dumb"
    return text.ansi if wanted else text.plain


class Progress:
    """One line on a terminal's standard error that says how far a long job is."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._width = 0

    def say(self, message: str) -> None:
        """Show `message` at once."""
        if self._shown:
            padded = message[:text.WIDTH - 1].ljust(self._width)
            self._width = len(padded.rstrip())
            print(f"\r{padded}", end="", file=sys.stderr, flush=True)

    def step(self, scenario: str, where: str) -> None:
        """Show what was just done, once the job has taken long."""
        if time.monotonic() - self._start > PATIENCE:
            self.say(f"{scenario} {where}")

    def clear(self) -> None:
        """Take the line away, so that results can be printed."""
        if self._width:
            self.say("")
            print("\r", end="", file=sys.stderr, flush=True)
            self._width = 0
