"""The history matrix as a table and as a picture: each bug a bar over the releases that have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from agentrunproof.record.history import Bug, Catcher, History, Side

#: Measures of the picture, in units of its view box.
_LEFT, _TOP, _STEP, _ROW, _RIGHT = 400, 56, 7, 17, 64

#: Kinds of checks, as the page has them.
_CATCHERS: dict[Catcher, str] = {
    "universal": "by checks that watch every run of every plan",
    "relation": "by relations between runs", "suite": "by cases of the session suite",
    "expectation": "by what their plans expect"}

_STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #24292f }
  .code, .minor { fill: #57606a } .area { font-weight: 600 }
  .grid { stroke: #d0d7de }
  .universal { fill: #cf222e } .suite { fill: #8250df } .expectation { fill: #bc6c00 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .code, .minor { fill: #9198a1 } .grid { stroke: #3d444d }
    .universal { fill: #f85149 } .suite { fill: #a371f7 } .expectation { fill: #db9b3a }
  }"""


def table(history: History) -> str:
    """The rows as a table in Markdown."""
    lines = ["| area | scenario | check: code | by | first bad | last bad | fixed | report |",
             "|---|---|---|---|---|---|---|---|"]
    lines += [f"| {bug.area} | `{bug.scenario}` | `{bug.check}`: `{bug.code}` | {bug.catcher} "
              f"| {_first(bug)} | {bug.last_bad.sdk} | {bug.first_fixed.sdk} | {link(bug.bug)} |"
              for bug in history.rows]
    return "\n".join(lines)


def caught(history: History) -> str:
    """How many rows each kind of check caught, and what share is not by expectations alone."""
    counts = Counter(bug.catcher for bug in history.rows)
    told = ", ".join(f"{counts[kind]} {words}" for kind, words in _CATCHERS.items() if counts[kind])
    share = 100 * (len(history.rows) - counts["expectation"]) / len(history.rows)
    return f"{len(history.rows)} rows: {told}. {share:.0f}% are not by expectations alone"


def link(report: str | None) -> str:
    """A report as a link in Markdown; ``repository#number`` is one of the SDK's maker."""
    if report is None:
        return "none known"
    repository, _, number = report.partition("#")
    return f"[#{number}](https://github.com/openai/{repository}/issues/{number})"


def picture(history: History, releases: Sequence[str]) -> str:
    """The rows as an SVG: releases from left to right, a bar from the first to the last bad one.

    Args:
        history: the record.
        releases: all there are, oldest first.
    """
    ordered = sorted(history.rows, key=lambda bug: (releases.index(bug.first_fixed.sdk), bug.area,
                                                    releases.index(bug.first_bad.sdk)))
    width = _LEFT + _STEP * len(releases) + _RIGHT
    height = _TOP + _ROW * len(ordered) + 24
    shapes = [*_minors(releases, height), *(
        line for number, bug in enumerate(ordered) for line in _bar(bug, number, releases))]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Upstream bugs over SDK releases">',
        f"<style>{_STYLE}\n</style>",
        f'<text x="8" y="20" class="area">{len(ordered)} upstream bugs over {len(releases)} '
        'releases of openai-agents: each seen to FAIL from the first to the last release of its '
        'bar, and to PASS on the next</text>',
        f'<text x="8" y="{_TOP - 14}" class="code">red: by a check that watches every run</text>',
        f'<text x="8" y="{_TOP + 1}" class="code">violet: by the session suite; '
        'amber: by what the plan expects</text>',
        *shapes, "</svg>", ""])


def _first(bug: Bug) -> str:
    """The first bad release, and why the one before is not."""
    if bug.before is None:
        return f"{bug.first_bad.sdk} (the first)"
    return f"{bug.first_bad.sdk} ({_before(bug.before)})"


def _before(side: Side) -> str:
    words = {"PASS": "passes", "UNTESTABLE": "no such feature", "ABSENT": "does not apply"}
    return f"{side.sdk}: {words.get(side.state, side.words)}"


def _minors(releases: Sequence[str], height: int) -> Iterator[str]:
    """A line and a label where a minor version begins, labels only where there is room."""
    met, free = set[str](), 0
    for number, release in enumerate(releases):
        minor = release.rsplit(".", 1)[0]
        if minor in met:
            continue
        met.add(minor)
        x = _LEFT + _STEP * number
        yield f'<line class="grid" x1="{x}" y1="{_TOP - 10}" x2="{x}" y2="{height - 12}"/>'
        if x >= free:
            yield f'<text class="minor" x="{x + 1}" y="{_TOP - 14}">{escape(minor)}</text>'
            free = x + 26


def _bar(bug: Bug, number: int, releases: Sequence[str]) -> Iterator[str]:
    start, end = releases.index(bug.first_bad.sdk), releases.index(bug.first_fixed.sdk)
    y = _TOP + _ROW * number
    title = f"{bug.title}: {bug.check} {bug.code}, {bug.first_bad.sdk} to {bug.last_bad.sdk}"
    kind = "universal" if bug.catcher == "relation" else bug.catcher
    yield f'<g><title>{escape(title)}</title>'
    yield f'<text x="{_LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(bug.scenario)}</text>'
    yield (f'<rect class="{kind}" x="{_LEFT + _STEP * start}" y="{y + 2}" '
           f'width="{_STEP * (end - start)}" height="11" rx="2"/>')
    yield (f'<text class="code" x="{_LEFT + _STEP * end + 4}" y="{y + 11}">'
           f'{escape((bug.bug or "").removeprefix("openai-agents-python"))}</text></g>')
