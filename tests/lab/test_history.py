"""Declared rows: read with clear errors, what they need, and what comes of what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.errors import LabError, PlanError
from agentrunproof.lab import history
from agentrunproof.lab.history import Declared
from agentrunproof.plan import catalog
from agentrunproof.record import history as histories
from agentrunproof.record import layout
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column
from tests.matrices import lacking, ran

ROW = """
[[rows]]
scenario = "hook-order"
check = "hook_order"
code = "HOOK_MISSING"
first_bad = "0.2.9"
last_bad = "0.2.10"
first_fixed = "0.2.11"
upstream = "openai-agents-python#1619"
"""
OLD = ROW.replace("0.2.9", "0.0.2").replace("hook-order", "model-refusal").replace(
    'upstream = "openai-agents-python#1619"\n', "")


def declared(**other: Any) -> Declared:
    return Declared(**{"scenario": "hook-order", "check": "hook_order", "code": "HOOK_MISSING",
                       "first_bad": "0.2.9", "last_bad": "0.2.10", "first_fixed": "0.2.11",
                       "upstream": "openai-agents-python#1619", **other})


def test_rows_are_read_from_all_files_and_chosen_by_a_word(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(ROW)
    (tmp_path / "a.toml").write_text(OLD)
    (tmp_path / "notes.txt").write_text("no row")
    old = declared(scenario="model-refusal", first_bad="0.0.2", upstream=None)
    assert history.load(tmp_path) == (old, declared())
    assert history.load(tmp_path, ["#1619"]) == (declared(),)
    assert history.load(tmp_path, ["refusal"]) == (old,)
    assert history.load(tmp_path, ["nothing", "refusal", "#1619"]) == (old, declared())


@pytest.mark.parametrize(("content", "code", "said"), [
    (ROW.replace("code =", "colour ="), "HISTORY_ROWS", "colour"),
    (ROW.replace('code = "HOOK_MISSING"\n', ""), "HISTORY_ROWS", "code"),
    (ROW.replace('"hook_order"', "3"), "HISTORY_ROWS", "rows[0].check"),
    (ROW + 'modes = ["walk"]\n', "HISTORY_ROWS", "walk"),
    ("[[row]]\n", "HISTORY_ROWS", "row"),
    (ROW.replace("0.2.11", "0.2.99"), "HISTORY_RELEASE", "hook-order: there is no release 0.2.99"),
    (ROW.replace("0.2.9", "0.2.09"), "HISTORY_RELEASE", "hook-order: there is no release 0.2.09"),
])
def test_a_malformed_row_is_told_with_its_file(
        tmp_path: Path, content: str, code: str, said: str) -> None:
    (tmp_path / "rows.toml").write_text(content)
    with pytest.raises(PlanError) as caught:
        history.load(tmp_path)
    assert caught.value.code == code
    assert caught.value.message.startswith(f"{tmp_path / 'rows.toml'}: ")
    assert said in caught.value.message


def test_the_list_of_bugs_is_read_from_all_files(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(OLD)
    (tmp_path / "b.toml").write_text(
        '[listed]\nbugs = ["12", "r1"]\n[listed.uncovered]\nr1 = "Nobody can see it."\n')
    assert history.listed(tmp_path) == history.Listed(
        bugs=("12", "r1"), uncovered={"r1": "Nobody can see it."})
    assert history.load(tmp_path) == history.load(tmp_path, ["model"])
    (tmp_path / "c.toml").write_text("[listed]\nbug = []\n")
    with pytest.raises(PlanError, match=r"c\.toml: .*bug"):
        history.listed(tmp_path)


def test_a_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    (tmp_path / "rows.toml").write_text("[[rows]")
    with pytest.raises(PlanError, match=r"rows\.toml"):
        history.load(tmp_path)


def test_a_word_in_no_row_and_a_folder_without_rows_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(OLD)
    for folder, words in ((tmp_path, ["#1619"]), (tmp_path, ["None"]), (tmp_path / "missing", [])):
        with pytest.raises(PlanError) as caught:
            history.load(folder, words)
        assert caught.value.code == "HISTORY_NONE"


def test_a_row_is_bounded_by_its_neighbours() -> None:
    assert declared().sides == {"before": "0.2.8", "first_bad": "0.2.9", "last_bad": "0.2.10",
                                "first_fixed": "0.2.11"}
    assert "before" not in declared(first_bad="0.0.2").sides


def test_each_release_is_needed_once_for_all_its_scenarios() -> None:
    rows = [declared(), declared(check="usage_sum"),
            declared(scenario="model-refusal", first_bad="0.2.10")]
    assert {column.key: ids for column, ids in history.needed(rows, "3.12").items()} == {
        "0.2.8-python-3.12": {"hook-order"},
        "0.2.9-python-3.12": {"hook-order", "model-refusal"},
        "0.2.10-python-3.12": {"hook-order", "model-refusal"},
        "0.2.11-python-3.12": {"hook-order", "model-refusal"}}


def found(*each: Finding, scenario: str = "hook-order") -> dict[tuple[str, Column], Finding]:
    """Findings on the releases of a row, oldest first."""
    return {(scenario, Column(sdk=sdk, python="3.12")): finding
            for sdk, finding in zip(("0.2.8", "0.2.9", "0.2.10", "0.2.11"), each, strict=True)}


def bad(number: int = 0) -> Finding:
    return ran(number, hook_order="HOOK_MISSING")


def test_a_row_becomes_what_was_found() -> None:
    made = history.build([declared()], "3.12", found(
        lacking(1), bad(2), bad(3), ran(4, hook_order="PASS")))
    (bug,) = made.rows
    plan = catalog.load("hook-order")
    assert (bug.plan, bug.area, bug.title, bug.upstream, bug.bug, bug.universal) == (
        canonical.digest(plan.to_json()), plan.area, plan.title, plan.upstream,
        "openai-agents-python#1619", True)
    assert [(name, side.sdk, side.words, side.certificate) for name, side in bug.sides] == [
        ("before", "0.2.8", "UNTESTABLE", f"sha256:{1:064x}"),
        ("first_bad", "0.2.9", "FAIL HOOK_MISSING", f"sha256:{2:064x}"),
        ("last_bad", "0.2.10", "FAIL HOOK_MISSING", f"sha256:{3:064x}"),
        ("first_fixed", "0.2.11", "PASS", f"sha256:{4:064x}")]
    assert histories.broken(bug) == ""
    assert made.python == "3.12"


@pytest.mark.parametrize(("finding", "words"), [
    (ran(usage_sum="PASS"), "ABSENT"),
    (ran(hook_order="UNTESTABLE"), "UNTESTABLE UNSEEN"),
    (ran(hook_order="HOOK_DUPLICATED"), "FAIL HOOK_DUPLICATED"),
    (ran(hook_order="PASS", usage_sum="LOST"), "PASS"),
])
def test_a_side_says_what_the_check_said(finding: Finding, words: str) -> None:
    good = ran(hook_order="PASS")
    (bug,) = history.build([declared()], "3.12", found(finding, bad(), bad(), good)).rows
    assert bug.before is not None
    assert bug.before.words == words
    assert histories.broken(bug) == ""
    (bug,) = history.build([declared()], "3.12", found(good, finding, bad(), good)).rows
    assert histories.broken(bug) == f"hook_order does not fail with HOOK_MISSING on 0.2.9: {words}"


def test_rows_come_in_the_order_of_records() -> None:
    rows = [declared(check="usage_sum", code="X"), declared(code="Z"), declared(code="Y")]
    made = history.build(rows, "3.12", found(*[bad()] * 4))
    assert [(bug.check, bug.code) for bug in made.rows] == [
        ("hook_order", "Y"), ("hook_order", "Z"), ("usage_sum", "X")]


def test_where_there_is_no_certificate_there_is_no_record() -> None:
    with pytest.raises(LabError) as caught:
        history.build([declared()], "3.12", found(
            lacking(), bad(), layout.of_error("WORKER_DIED"), bad()))
    assert caught.value.code == "HISTORY_GAP"
    assert caught.value.message == "hook-order on 0.2.10: no certificate, but WORKER_DIED"
