"""The history as a table and as a picture."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from agentrunproof.lab import releases
from agentrunproof.record.history import Bug, History, Side, build
from agentrunproof.report import history as report

RELEASES = list(releases.known())
SVG = "{http://www.w3.org/2000/svg}"


def side(sdk: str, state: str, code: str | None = None) -> Side:
    return Side(sdk=sdk, state=state, code=code, certificate="sha256:" + "0" * 64)  # type: ignore[arg-type]


def bug(scenario: str, first: str, last: str, fixed: str, *, before: Side | None = None,
        title: str = "A title", link: str | None = None) -> Bug:
    return Bug(scenario=scenario, plan="sha256:" + "1" * 64, area="tools", title=title,
               check="tool_linkage", code="LOST", universal=True, bug=link, before=before,
               first_bad=side(first, "FAIL", "LOST"), last_bad=side(last, "FAIL", "LOST"),
               first_fixed=side(fixed, "PASS"))


def history() -> History:
    return build("0.1.0", "3.12", [
        bug("since-ever", "0.0.2", "0.0.3", "0.0.4"),
        bug("for-a-while", "0.8.0", "0.19.4", "0.20.0", before=side("0.7.0", "UNTESTABLE"),
            title="<b> & co", link="openai-agents-python#4322")])


def test_the_table_has_a_row_for_each_bug_with_its_releases_and_report() -> None:
    rows = report.table(history()).splitlines()[2:]
    assert rows[0] == (
        "| tools | `for-a-while` | `tool_linkage`: `LOST` | universal "
        "| 0.8.0 (0.7.0: no such feature) | 0.19.4 | 0.20.0 "
        "| [#4322](https://github.com/openai/openai-agents-python/issues/4322) |")
    assert "| 0.0.2 (the first) | 0.0.3 | 0.0.4 | none known |" in rows[1]
    assert len(rows) == 2


def test_a_bar_reaches_from_the_first_bad_release_to_the_first_fixed_one() -> None:
    root = ElementTree.fromstring(report.picture(history(), RELEASES))
    bars = {group[0].text: group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")}
    assert len(bars) == 2
    (long,) = (bar for title, bar in bars.items() if str(title).startswith("<b> & co: "))
    short = next(bar for bar in bars.values() if bar is not long)
    assert long is not None
    assert short is not None
    step = float(short.attrib["width"]) / 2  # 0.0.2 and 0.0.3
    assert float(long.attrib["width"]) == step * (
        RELEASES.index("0.20.0") - RELEASES.index("0.8.0"))
    assert float(long.attrib["x"]) - float(short.attrib["x"]) == step * RELEASES.index("0.8.0")


def test_what_caught_the_rows_is_counted_and_the_share_computed() -> None:
    rows = [bug("a", "0.0.2", "0.0.3", "0.0.4")] * 2 + [
        replace(bug("b", "0.0.2", "0.0.3", "0.0.4"), check=check) for check in (
            "execution_outcome", "session_suite", "relation_hooks", "execution_outcome")]
    assert report.caught(build("0.1.0", "3.12", rows)) == (
        "6 rows: 2 by checks that watch every run of every plan, 1 by relations between runs, "
        "1 by cases of the session suite, 2 by what their plans expect. "
        "67% are not by expectations alone")
