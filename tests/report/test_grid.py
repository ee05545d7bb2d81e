from __future__ import annotations

import dataclasses
import re

from hypothesis import given, settings

from agentrunproof.lab import releases
from agentrunproof.record import layout
from agentrunproof.record.matrix import Column, Matrix
from agentrunproof.report import changes, grid
from agentrunproof.report.text import ansi
from tests import matrices
from tests.matrices import COLUMNS, head, history, lacking, ran


def test_a_row_has_a_mark_for_each_release_and_its_boundaries_below() -> None:
    lines = grid.lines(history("-pFF?p"))
    row = next(line for line in lines if line.startswith("  greeting"))
    assert row.split() == ["greeting", "-", ".", "F", "F", "E", "."]
    assert "      tool_linkage F: introduced-in 0.2.0 (after 0.1.0)" in lines
    assert "      tool_linkage F: fixed-in 0.5.0 (after 0.3.0)" in lines
    assert lines[-1] == "1 plan on 6 releases: 2 PASS, 2 FAIL, 1 UNTESTABLE, 1 ERROR"


def test_a_known_failure_has_a_mark_of_its_own() -> None:
    lines = grid.lines(history("pF"), lambda scenario, cell, column: column.sdk == "0.1.0")
    assert any(line.split() == ["greeting", ".", "x"] for line in lines)
    assert lines[-1].endswith("1 PASS, 1 FAIL (1 known)")


def test_all_releases_fit_into_80_columns() -> None:
    columns = [Column(sdk=version, python="3.12") for version in releases.known()]
    made = layout.lay_out("0.1.0", columns, [head()], {
        ("greeting", column): ran(usage_sum="PASS") for column in columns})
    lines = grid.lines(made)
    assert max(map(len, lines)) <= 80
    strip = [line for line in lines if re.fullmatch(r" +[. ]+", line)]
    assert "".join(strip).count(".") == len(columns)
    assert len("".join(strip).split()) == len({tuple(v.split(".")[:2])
                                               for v in releases.known()})


@settings(deadline=None)
@given(matrices.matrices())
def test_every_cell_is_shown_whatever_the_matrix(made: Matrix) -> None:
    marks = [sign for line in grid.lines(made) if re.fullmatch(r"(  \S+)? +[.F\-E ]+", line)
             for sign in line.split("  ")[-1].replace(" ", "")]
    assert len(marks) == len(made.plans) * len(made.columns)
    text = grid.markdown(made)
    assert all(row.scenario in text for row in made.plans)


def test_colours_change_nothing_else() -> None:
    made = history("pF-?")
    painted = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in grid.lines(made, paint=ansi)]
    assert painted == grid.lines(made)


def test_markdown_names_the_releases_of_a_lane_on_one_line() -> None:
    columns = [Column(sdk=version, python="3.12") for version in releases.known()]
    text = grid.markdown(layout.lay_out("0.1.0", columns, [head()], {
        ("greeting", column): ran(usage_sum="PASS") for column in columns}))
    (line,) = [line for line in text.splitlines() if line.startswith("* ")]
    assert line.startswith("* Python 3.12: 0.0.2..19 0.1.0 0.2.0..11 ")
    assert line.endswith(" 0.24.0")


def test_markdown_ends_before_a_mebibyte_and_says_what_is_left_out() -> None:
    heads = [head(f"{'a-long-name-' * 10}{number}") for number in range(9000)]
    made = layout.lay_out("0.1.0", COLUMNS[:1], heads, {
        (row.scenario, COLUMNS[0]): ran(usage_sum="PASS") for row in heads})
    text = grid.markdown(made)
    assert grid.MAX_MARKDOWN - 1000 < len(text.encode()) <= grid.MAX_MARKDOWN
    shown = sum(line.startswith("| a-long") for line in text.splitlines())
    assert f"{9000 - shown} more plans" in text


def test_what_changed_between_two_matrices_is_told() -> None:
    lines = changes.lines(history("ppFp-"), history("pFFp?"))
    assert lines == ["changes: 2",
                     "  greeting on 0.1.0-python-3.12: PASS -> FAIL (tool_linkage F)",
                     "  greeting on 0.4.0-python-3.12: UNTESTABLE (lacks run-state) -> ERROR",
                     "  (WORKER_DIED)"]


def test_another_certificate_is_no_change_and_new_columns_are_counted() -> None:
    old = layout.lay_out("0.1.0", COLUMNS[:2], [head()], {
        ("greeting", COLUMNS[0]): ran(1, usage_sum="PASS"),
        ("greeting", COLUMNS[1]): lacking(1)})
    new = layout.lay_out("0.1.0", COLUMNS[:3], [head()], {
        ("greeting", COLUMNS[0]): ran(2, usage_sum="PASS", span_tree="PASS"),
        ("greeting", COLUMNS[1]): lacking(2), ("greeting", COLUMNS[2]): ran(usage_sum="LOST")})
    assert changes.lines(old, new) == ["changes: none", "  new columns: 1"]
    assert changes.lines(new, old) == ["changes: none", "  columns not looked at: 1"]


def test_a_command_keeps_its_place_whatever_its_words() -> None:
    row = layout.head_of_command("run-x", ("python", "-c", "a | `b`\n<i>*c*</i>", "x" * 70))
    made = layout.lay_out("0.1.0", COLUMNS[:1], [row], {
        ("run-x", COLUMNS[0]): layout.of_exit("PASS", "OK")})
    lines = grid.lines(made)
    assert max(map(len, lines)) <= 80
    assert any("python -c a | `b` <i>*c*</i>" in line for line in lines)
    (line,) = [line for line in grid.markdown(made).splitlines() if "python" in line]
    assert line.count("|") == 4
    assert "&#124; &#96;b&#96; &#60;i&#62;&#42;c&#42;" in line


def test_markdown_leads_to_the_issues_of_a_plan() -> None:
    row = dataclasses.replace(head(), upstream=("openai-agents-python#4322", "javascript:x"))
    made = layout.lay_out("0.1.0", COLUMNS[:1], [row], {
        ("greeting", COLUMNS[0]): ran(usage_sum="PASS")})
    assert ("| greeting<br>[openai-agents-python#4322]"
            "(https://github.com/openai/openai-agents-python/issues/4322) |") in grid.markdown(made)


def test_all_plans_on_all_releases_fit_into_80_columns_and_a_mebibyte() -> None:
    """Even where every check of every plan changes with every release."""
    columns = [Column(sdk=version, python="3.12") for version in releases.known()]
    heads = [head(f"runstate-recursive-agent-tool-approval-serialization-{n}") for n in range(102)]
    checks = ("execution_outcome", "recursive_approval_routing", "usage_sum")
    made = layout.lay_out("0.1.0", columns, heads, {
        (row.scenario, column): ran(**dict.fromkeys(checks, "PASS" if n % 2 else "SOME_CODE"))
        for row in heads for n, column in enumerate(columns)})
    assert max(map(len, grid.lines(made))) <= 80
    text = grid.markdown(made)
    assert len(text.encode()) <= grid.MAX_MARKDOWN
    shown = text.count("\n| runstate-")
    assert 0 < shown < 102
    assert f"\n{102 - shown} more plans: the summary may not be longer.\n" in text
