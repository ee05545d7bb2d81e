"""Write the list of known failures anew from a matrix.

    python scripts/update_known_failures.py MATRIX [--file scenarios/known-failures.toml]

The matrix should be one of all scenarios on all releases (``agentrunproof matrix --all --sdk
all``), because ranges reach as far as it does: from the first release on which a check fails with
a code (from the beginning, where no earlier one could be judged) to before the next one (to the
end, where there is none). Failures of one check by one code over one range stand in one entry, if
what is said of them is the same. Links and notes of failures that the file already holds are kept;
failures that are new have none, and are printed. They get a link or a note by hand before the file
can be used.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.lab import expected, releases
from agentrunproof.lab.expected import KnownFailure
from agentrunproof.plan import catalog
from agentrunproof.record import layout, matrix, store
from agentrunproof.record.matrix import Matrix, Row

Words = tuple[str, str]  # link and note


@dataclass(frozen=True, order=True)
class Span:
    """Consecutive releases on which one check of one scenario fails with one code."""

    check: str
    code: str
    first: str
    last: str
    sdk: str
    scenario: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("matrix", type=Path)
    parser.add_argument("--file", type=Path, default=catalog.folder() / expected.FILE)
    options = parser.parse_args()
    made = matrix.from_json(canonical.parse(store.read(options.matrix)))
    if len({column.lane for column in made.columns}) != 1:
        print("the matrix must be of one Python and without pins", file=sys.stderr)
        return 2
    before = expected.load(options.file)
    entries: dict[tuple[str, str, str, Words], list[Span]] = {}
    for span in spans(made):
        said = words(before, span)
        entries.setdefault((span.check, span.code, span.sdk, said), []).append(span)
        if said == ("", ""):
            print(f"new: {span.scenario} {span.check}:{span.code} {span.sdk}")
    text = header(options.file) + "".join(
        entry(key, [span.scenario for span in found])
        for key, found in sorted(entries.items(), key=_place))
    store.write(options.file, text.encode())
    print(f"{len(entries)} entries", file=sys.stderr)
    return 0


def spans(made: Matrix) -> Iterator[Span]:
    """The failures of a matrix."""
    for row in made.plans:
        for check in row.checks:
            yield from _spans(made, row, check)


def _spans(made: Matrix, row: Row, check: str) -> Iterator[Span]:
    versions = [column.sdk for column in made.columns]
    judged = [n for n, cell in enumerate(row.cells) if layout.judged(cell, check)]
    start = 0
    for place, n in enumerate(judged):
        code = row.cells[n].codes.get(check)
        if place == 0 or row.cells[judged[place - 1]].codes.get(check) != code:
            start = n
        following = judged[place + 1:place + 2]
        if code is not None and (not following or row.cells[following[0]].codes.get(check) != code):
            low = f">={versions[start]}" if start != judged[0] else ""
            high = f"<{versions[n + 1]}" if n + 1 < len(versions) else ""
            yield Span(check, code, versions[start], versions[n],
                       ",".join(filter(None, (low, high))) or f">={versions[start]}", row.scenario)


def words(known: tuple[KnownFailure, ...], span: Span) -> Words:
    """What the file says of a failure: of this range, else of one that has a release of it."""
    found = [one for one in known if span.scenario in one.scenarios
             and (one.check, one.code) == (span.check, span.code)]
    for one in sorted(found, key=lambda one: one.sdk != span.sdk):
        if any(one.covers(span.scenario, version, span.check)
               for version in (span.first, span.last)):
            return one.upstream or "", one.note
    return "", ""


def header(path: Path) -> str:
    """The comment at the head of the file."""
    return path.read_text().partition("\n[[failure]]")[0].rstrip("\n") + "\n"


def entry(key: tuple[str, str, str, Words], scenarios: list[str]) -> str:
    """One entry as TOML."""
    check, code, sdk, (upstream, note) = key
    lines = ["", "[[failure]]", *_scenarios(sorted(scenarios)), f'check = "{check}"',
             f'code = "{code}"', f'sdk = "{sdk}"']
    lines += [f'upstream = "{upstream}"'] if upstream else []
    lines += [f'note = "{note}"'] if note else []
    return "\n".join(lines) + "\n"


def _scenarios(names: list[str]) -> list[str]:
    if len(names) == 1:
        return [f'scenarios = ["{names[0]}"]']
    return ["scenarios = [", *(f'    "{name}",' for name in names), "]"]


def _place(entry: tuple[tuple[str, str, str, Words], list[Span]]) -> tuple[object, ...]:
    """Where an entry stands: by check, then where the range ends, latest first."""
    (check, code, *_), found = entry
    last = max(releases.parse(span.last) for span in found).release
    first = min(releases.parse(span.first) for span in found).release
    return check, tuple(-n for n in last), tuple(-n for n in first), code, min(found).scenario


if __name__ == "__main__":
    sys.exit(main())
