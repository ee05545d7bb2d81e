"""The matrix record: its one form, how it follows from findings, and how parts are merged."""

from __future__ import annotations

import dataclasses
import itertools
import random

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.errors import RecordError
from agentrunproof.record import layout, matrix
from agentrunproof.record.matrix import Boundary, Column, Matrix
from tests import matrices
from tests.matrices import COLUMNS, head, history, ran


@settings(deadline=None, max_examples=40)  # the schema is looked at anew each time
@given(matrices.matrices())
def test_a_matrix_is_read_back_as_it_was_written(made: Matrix) -> None:
    data = matrix.to_bytes(made)
    value = canonical.parse(data)
    assert matrix.from_json(value) == made
    assert canonical.dumps(value) + b"\n" == data
    jsonschema.validate(value, matrix.FORM.schema())


@given(matrices.matrices())
def test_a_matrix_holds_all_that_it_was_made_of(made: Matrix) -> None:
    again = layout.lay_out("0.1.0", made.columns, made.plans, layout.findings_of(made))
    assert again == made


@given(matrices.matrices())
def test_a_cell_says_of_each_check_of_its_row_one_thing(made: Matrix) -> None:
    for row in made.plans:
        for cell in row.cells:
            said = [*cell.codes, *cell.untestable, *cell.absent]
            assert len(said) == len(set(said))
            assert set(said) <= set(row.checks)
            assert (cell.verdict == "FAIL") == bool(cell.codes)


@pytest.mark.parametrize(("letters", "boundaries"), [
    ("pppp", []),
    ("FFFF", []),
    ("ppFF", [("introduced-in", 2, 1, "F")]),
    ("FFpp", [("fixed-in", 2, 1, "F")]),
    ("pFGpp", [("introduced-in", 1, 0, "F"), ("fixed-in", 3, 2, "G")]),
    ("FpFp", [("fixed-in", 1, 0, "F"), ("regressed-in", 2, 1, "F"), ("fixed-in", 3, 2, "F")]),
    ("pFpF", [("introduced-in", 1, 0, "F"), ("fixed-in", 2, 1, "F"),
              ("regressed-in", 3, 2, "F")]),
    ("--FF", [("introduced-in", 2, 1, "F")]),
    ("--pF", [("introduced-in", 3, 2, "F")]),
    ("??FF", []),
    ("p?uaF", [("introduced-in", 4, 0, "F")]),
    ("F?-ap", [("fixed-in", 4, 0, "F")]),
])
def test_boundaries_stand_where_what_was_judged_changes(
        letters: str, boundaries: list[tuple[str, int, int, str]]) -> None:
    made = history(letters)
    assert [(one.kind, one.sdk, one.previous, one.code) for one in made.boundaries] == [
        (kind, f"0.{at}.0", f"0.{before}.0", code) for kind, at, before, code in boundaries]
    assert {(one.scenario, one.check, one.python, one.pins) for one in made.boundaries} <= {
        ("greeting", "tool_linkage", "3.12", ())}


@given(st.text("pF-?ua", min_size=1, max_size=20))
def test_boundaries_alternate(letters: str) -> None:
    kinds = [one.kind for one in history(letters).boundaries]
    broken = [kind != "fixed-in" for kind in kinds]
    assert all(a != b for a, b in itertools.pairwise(broken))
    assert kinds.count("introduced-in") <= 1


def test_pythons_and_pins_are_histories_of_their_own() -> None:
    columns = [Column(sdk=sdk, python=python) for sdk in ("0.8.0", "0.9.0")
               for python in ("3.10", "3.12")]
    findings = {("greeting", column): ran(usage_sum="SUM" if column.python == "3.12"
                                          and column.sdk == "0.9.0" else "PASS")
                for column in columns}
    made = layout.lay_out("0.1.0", columns, [head()], findings)
    assert made.boundaries == (Boundary(
        scenario="greeting", check="usage_sum", kind="introduced-in", sdk="0.9.0",
        previous="0.8.0", code="SUM", python="3.12"),)


def test_columns_are_in_version_order_and_rows_by_area_and_id() -> None:
    columns = [Column(sdk=sdk, python="3.12") for sdk in ("0.10.0", "0.9.0", "0.10.0rc1")]
    other = dataclasses.replace(head("a-last"), area="zoo")
    heads = [other, head("b"), head("a")]
    findings = {(row.scenario, column): ran() for row in heads for column in columns}
    made = layout.lay_out("0.1.0", columns, heads, findings)
    assert [column.sdk for column in made.columns] == ["0.9.0", "0.10.0rc1", "0.10.0"]
    assert [row.scenario for row in made.plans] == ["a", "b", "a-last"]


def test_no_two_columns_have_one_key() -> None:
    columns = {Column(sdk=sdk, python=python, pins=pins) for sdk in ("0.8.0", "0.8.0.1")
               for python in ("3.10", "3.11") for pins in (
                   (), ("a=1",), ("a=b",), ("a-b=c",), ("a=b", "c=d"), ("a=b.c",))}
    assert len({column.key for column in columns}) == len(columns)


def _parts(whole: Matrix, seed: int, count: int) -> list[Matrix]:
    """The matrix in parts that may overlap and together have every column."""
    draw = random.Random(seed)
    shares: list[list[Column]] = [[] for _ in range(count)]
    for column in whole.columns:
        for share in draw.sample(shares, draw.randint(1, count)):
            share.append(column)
    findings = layout.findings_of(whole)
    return [layout.lay_out("0.1.0", share, whole.plans, findings) for share in shares if share]


@settings(deadline=None)
@given(matrices.matrices(), st.integers(0, 999), st.integers(1, 4))
def test_parts_merge_to_the_whole_in_any_order(made: Matrix, seed: int, count: int) -> None:
    parts = _parts(made, seed, count)
    random.Random(seed).shuffle(parts)
    assert layout.merge(parts) == made
    step = parts[0]
    for part in parts[1:]:
        step = layout.merge([part, step])
    assert step == made


def _one(scenario: str, word: str, version: str = "0.1.0") -> Matrix:
    return layout.lay_out(version, COLUMNS[:1], [head(scenario)],
                          {(scenario, COLUMNS[0]): ran(usage_sum=word)})


def test_what_is_no_part_of_one_matrix_is_not_merged() -> None:
    ours = _one("greeting", "PASS")
    row = dataclasses.replace(ours.plans[0], plan="sha256:" + "1" * 64)
    changed = dataclasses.replace(ours, plans=(row,))
    for parts, code in (([], "MERGE_NOTHING"), ([ours, _one("parting", "PASS")], "MERGE_PLANS"),
                        ([ours, changed], "MERGE_PLANS"),
                        ([ours, _one("greeting", "LOST")], "MERGE_CONFLICT"),
                        ([ours, _one("greeting", "PASS", "0.2.0")], "MERGE_VERSIONS")):
        with pytest.raises(RecordError) as caught:
            layout.merge(parts)
        assert caught.value.code == code


def test_a_command_is_a_row_with_one_check() -> None:
    row = layout.head_of_command("run-pytest", ["pytest", "-q"])
    found = {("run-pytest", COLUMNS[0]): layout.of_exit("FAIL", "EXIT_1"),
             ("run-pytest", COLUMNS[1]): layout.of_exit("PASS", "OK")}
    made = layout.lay_out("0.1.0", COLUMNS[:2], [row], found)
    assert made.plans[0].checks == ("exit",)
    assert [(one.kind, one.check, one.code) for one in made.boundaries] == [
        ("fixed-in", "exit", "EXIT_1")]
    assert layout.findings_of(made) == found


@pytest.mark.parametrize(("edit", "code"), [
    (lambda value: value.pop("schema"), "MATRIX_FORMAT"),
    (lambda value: value.update(schema="agentrunproof/matrix/2"), "MATRIX_FORMAT"),
    (lambda value: value.pop("id"), "MATRIX_ID"),
    (lambda value: value["columns"][0].update(sdk="0.7.1"), "MATRIX_ID"),
    (lambda value: value.update(boundaries=[]), "RECORD_EXPLICIT_DEFAULT"),
    (lambda value: value["columns"][0].update(host="here"), "RECORD_SHAPE"),
    (lambda value: value["columns"][0].update(python="2.7"), "RECORD_SHAPE"),
])
def test_another_form_is_no_matrix(edit: object, code: str) -> None:
    value = matrix.to_json(_one("greeting", "PASS"))
    edit(value)  # type: ignore[operator]
    with pytest.raises(RecordError) as caught:
        matrix.from_json(value)
    assert caught.value.code == code


def test_a_row_has_a_cell_for_each_column() -> None:
    made = _one("greeting", "PASS")
    row = dataclasses.replace(made.plans[0], cells=())
    with pytest.raises(RecordError) as caught:
        matrix.from_json(matrix.to_json(dataclasses.replace(made, plans=(row,))))
    assert caught.value.code == "MATRIX_ROW_LENGTH"


def test_what_is_no_table_is_no_matrix() -> None:
    with pytest.raises(RecordError) as caught:
        matrix.from_json([])
    assert caught.value.code == "MATRIX_FORMAT"
