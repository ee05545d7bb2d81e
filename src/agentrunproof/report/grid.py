"""A matrix in text: one character for each release, boundaries in words below.

`lines` is for terminals, `markdown` for step summaries and pull requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from agentrunproof.record.matrix import EXIT, Boundary, Cell, Column, Matrix, Row
from agentrunproof.report.text import WIDTH, Paint, plain, wrap

#: GitHub refuses step summaries beyond this size.
MAX_MARKDOWN = 2**20

#: Tells whether a failure in a cell is a known one.
Expected = Callable[[str, Cell, Column], bool]

MARKS = {"PASS": ".", "FAIL": "F", "UNTESTABLE": "-", "ERROR": "E"}
EXPECTED_MARK = "x"

_LEGEND = ("  . PASS   F FAIL   x FAIL, known   - UNTESTABLE   E ERROR")


def none_expected(scenario: str, cell: Cell, column: Column) -> bool:
    return False


def lines(matrix: Matrix, expected: Expected = none_expected, paint: Paint = plain) -> list[str]:
    """The matrix in lines of at most 80 columns.

    Args:
        matrix: what to show.
        expected: tells known failures.
        paint: colours.
    """
    told: list[str] = []
    lanes = _lanes(matrix)
    for lane, numbers in lanes.items():
        told += _ruler(lane, [matrix.columns[number].sdk for number in numbers])
    told += [_LEGEND]
    area = None
    for row in matrix.plans:
        if row.area != area:
            area = row.area
            told += ["", area]
        told += _row_lines(matrix, row, lanes, expected, paint)
    return [*told, "", summary(matrix, expected)]


def markdown(matrix: Matrix, expected: Expected = none_expected) -> str:
    """The matrix as Markdown, cut short with a note where it would pass a mebibyte."""
    head = ["## SDK matrix", "", summary(matrix, expected), "",
            f"`{_LEGEND.strip()}`", ""]
    for lane, numbers in _lanes(matrix).items():
        ruler = _ruler(lane, [matrix.columns[number].sdk for number in numbers])
        head.append("* " + " ".join(line.strip() for line in ruler))
    head += ["", "| plan | releases | boundaries |", "|---|---|---|"]
    size = sum(len(line.encode()) + 1 for line in head)
    told = head
    for number, row in enumerate(matrix.plans):
        line = _markdown_row(matrix, row, expected)
        size += len(line.encode()) + 1
        if size > MAX_MARKDOWN - 200:  # room for the note
            left = len(matrix.plans) - number
            told += ["", f"{left} more plans: the summary may not be longer."]
            break
        told.append(line)
    return "\n".join(told) + "\n"


def summary(matrix: Matrix, expected: Expected = none_expected) -> str:
    """``12 plans on 8 releases: 90 PASS, 2 FAIL (1 known), 4 UNTESTABLE``."""
    counts = dict.fromkeys(("PASS", "FAIL", "UNTESTABLE", "ERROR"), 0)
    known = 0
    for row in matrix.plans:
        for column, cell in zip(matrix.columns, row.cells, strict=True):
            counts[cell.verdict] += 1
            known += cell.verdict == "FAIL" and expected(row.scenario, cell, column)
    parts = [f"{count} {verdict}" + f" ({known} known)" * (verdict == "FAIL" and known > 0)
             for verdict, count in counts.items() if count]
    return f"{scope(matrix)}: {', '.join(parts)}"


def scope(matrix: Matrix) -> str:
    """``12 plans on 8 releases``."""
    what = "command" if all(row.command for row in matrix.plans) else "plan"
    releases = len({column.sdk for column in matrix.columns})
    where = _count(releases, "release")
    if len(matrix.columns) != releases:
        where += f" in {len(matrix.columns)} environments"
    return f"{_count(len(matrix.plans), what)} on {where}"


def boundary_text(boundary: Boundary) -> str:
    """``tool_linkage ORPHAN: fixed-in 0.20.0 (after 0.19.4)``."""
    check = "" if boundary.check == EXIT else f"{boundary.check} "
    return f"{check}{boundary.code}: {boundary.kind} {boundary.sdk} (after {boundary.previous})"


def address_of(reference: str) -> str | None:
    """Where ``repository#number`` (of github.com/openai) or an https address leads."""
    issue = re.fullmatch(r"([\w.-]+)#([0-9]+)", reference)
    if issue is not None:
        return f"https://github.com/openai/{issue[1]}/issues/{issue[2]}"
    return reference if re.fullmatch(r"https://[^\s()]+", reference) else None


def mark(row: Row, cell: Cell, column: Column, expected: Expected) -> str:
    """The character of a cell."""
    known = cell.verdict == "FAIL" and expected(row.scenario, cell, column)
    return EXPECTED_MARK if known else MARKS[cell.verdict]


Lane = tuple[str, tuple[str, ...]]


def _lanes(matrix: Matrix) -> dict[Lane, list[int]]:
    """Numbers of the columns that differ in the release alone, by what they have in common."""
    lanes: dict[Lane, list[int]] = {}
    for number, column in enumerate(matrix.columns):
        lanes.setdefault(column.lane, []).append(number)
    return lanes


def lane_name(lane: Lane) -> str:
    """``Python 3.12 openai=lowest``."""
    python, pins = lane
    return " ".join((f"Python {python}", *pins))


def _ruler(lane: Lane, releases: Sequence[str]) -> list[str]:
    """What the characters stand for, as ``Python 3.12: 0.19.0-4 0.20.0``."""
    groups = [_group_name(list(group)) for group in _minors(releases)]
    return wrap(f"{lane_name(lane)}: {' '.join(groups)}")


def _group_name(releases: list[str]) -> str:
    first, last = releases[0], releases[-1]
    if len(releases) == 1:
        return first
    if len(releases) == 2:
        return f"{first},{last.rpartition('.')[2]}"
    return f"{first}..{last.rpartition('.')[2]}"


def _minors(releases: Sequence[str]) -> Iterator[list[str]]:
    """Releases by minor version."""
    group: list[str] = []
    for release in releases:
        if group and group[-1].split(".")[:2] != release.split(".")[:2]:
            yield group
            group = []
        group.append(release)
    if group:
        yield group


def _row_lines(matrix: Matrix, row: Row, lanes: dict[Lane, list[int]], expected: Expected,
               paint: Paint) -> list[str]:
    name = " ".join(" ".join(row.command).split()) or row.scenario
    strips = {lane: _strip(matrix, row, numbers, expected) for lane, numbers in lanes.items()}
    told = []
    only = next(iter(strips.values()))
    if len(strips) == 1 and len(name) + len(only) + 4 <= WIDTH:
        told.append(f"  {name}".ljust(WIDTH - 2 - len(only)) + "  " + _painted(only, paint))
    else:
        told += wrap(name, "  ")
        for lane, strip in strips.items():
            indent = "    " + "  " * (len(strips) > 1)
            if len(strips) > 1:
                told.append(f"    {lane_name(lane)}")
            told += [_painted(line, paint) for line in wrap(strip, indent)]
    for boundary in row_boundaries(matrix, row):
        where = f" on {lane_name((boundary.python, boundary.pins))}" if len(strips) > 1 else ""
        told += wrap(boundary_text(boundary) + where, "      ")
    return told


def row_boundaries(matrix: Matrix, row: Row) -> list[Boundary]:
    """The boundaries of one row."""
    return [one for one in matrix.boundaries if one.scenario == row.scenario]


def _strip(matrix: Matrix, row: Row, numbers: Sequence[int], expected: Expected) -> str:
    """The marks of one lane, a space between minor versions."""
    marks = iter([mark(row, row.cells[number], matrix.columns[number], expected)
                  for number in numbers])
    groups = _minors([matrix.columns[number].sdk for number in numbers])
    return " ".join("".join(next(marks) for _ in group) for group in groups)


def _painted(line: str, paint: Paint) -> str:
    """Marks in their colours; a line holds nothing but marks and spaces."""
    verdicts = {sign: verdict for verdict, sign in MARKS.items()} | {EXPECTED_MARK: "UNTESTABLE"}
    return "".join(paint(verdicts[sign], sign) if sign in verdicts else sign for sign in line)


def _markdown_row(matrix: Matrix, row: Row, expected: Expected) -> str:
    # a command may hold anything; as entities none of it is Markdown or HTML
    command = re.sub(r"[^\w ]", lambda sign: f"&#{ord(sign[0])};",
                     " ".join(" ".join(row.command).split()))
    name = [f"<code>{command}</code>" if command else row.scenario, *(
        f"[{reference}]({address})" for reference in row.upstream
        if (address := address_of(reference)) is not None)]
    strips = [f"`{_strip(matrix, row, numbers, expected)}`"
              for numbers in _lanes(matrix).values()]
    boundaries = [boundary_text(boundary) for boundary in row_boundaries(matrix, row)]
    return "| " + " | ".join(map("<br>".join, (name, strips, boundaries))) + " |"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"
