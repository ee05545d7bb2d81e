"""Known failures of the newest release: each row is founded, shown by a certificate and a test."""

from __future__ import annotations

import ast
import runpy
from functools import cache
from pathlib import Path

import agents
import pytest

from agentrunproof import canonical
from agentrunproof.checker import check
from agentrunproof.contracts import registry
from agentrunproof.errors import PlanError
from agentrunproof.lab import evidence, open_failures
from agentrunproof.record import certificate as records
from agentrunproof.record import store
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.open_failures import Declared, Open
from agentrunproof.report.open_failures import page
from agentrunproof.sdk import compat

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "evidence" / "open"
DECLARED = open_failures.load(FOLDER)
ROWS = DECLARED.rows
STALE = "stale: run scripts/run_open.py"

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)


@cache
def recorded(row: Open) -> Certificate:
    return records.from_json(canonical.parse(store.read(open_failures.certificate(FOLDER, row))))


@each_row
def test_the_certificate_of_a_row_is_valid_and_fails_as_the_row_says(row: Open) -> None:
    judgement = check(store.read(open_failures.certificate(FOLDER, row)))
    assert (judgement.code, judgement.verdict) == ("OK", "FAIL"), STALE
    assert row.holds(recorded(row))
    assert recorded(row).scenario == row.id
    assert recorded(row).producer.sdk.version == DECLARED.sdk
    contract = registry.find(row.check)
    assert contract is not None
    assert row.code in contract.codes


def test_a_row_holds_for_its_check_and_code_only() -> None:
    row = ROWS[0]
    other = Open(id=row.id, check=row.check, code="OTHER", since=row.since, relation="x")
    assert row.holds(recorded(row))
    assert not other.holds(recorded(row))


def test_the_certificates_are_of_the_plans_that_stand_beside_them() -> None:
    plans = open_failures.plans(FOLDER, ROWS)
    for row in ROWS:
        made = records.as_recorded(plans[row.id], recorded(row).observation)[0]
        assert made.to_json() == recorded(row).plan.to_json(), row.id


def test_there_is_a_plan_a_certificate_and_a_test_for_each_row_and_nothing_else() -> None:
    files = {open_failures.FILE, open_failures.STABILITY}
    for row in ROWS:
        files |= {f"plans/{row.id}.toml", f"certificates/{row.id}.json",
                  f"reproducers/{open_failures.reproducer(FOLDER, row).name}"}
    found = {name for name in evidence.files_in(FOLDER) if "__pycache__" not in name}
    assert found == files
    ids = [row.id for row in ROWS] + [one.id for one in DECLARED.aside]
    assert len(ids) == len({*ids})


def test_every_row_was_run_twenty_times_and_a_bug_showed_in_each() -> None:
    measured = open_failures.measured(FOLDER)
    assert (measured.sdk, measured.python) == (DECLARED.sdk, DECLARED.python)
    assert measured.runs >= 20
    assert {*measured.rows} == {row.id for row in ROWS}
    for row in ROWS:
        seen = measured.rows[row.id]
        if row.kind == "bug":
            assert (seen.failed, seen.certificates, seen.reproduced) == (
                measured.runs, 1, measured.runs), row.id
        else:
            assert 0 < seen.failed <= measured.runs, row.id


def test_the_page_is_the_one_the_evidence_makes() -> None:
    text = page(DECLARED, open_failures.plans(FOLDER, ROWS), open_failures.measured(FOLDER))
    assert (ROOT / "docs" / "open.md").read_text("utf-8") == text, STALE
    assert all(f"### {row.id}" in text for row in ROWS)
    assert all(f"| {one.id} | {one.kind} |" in text for one in DECLARED.aside)


@each_row
def test_a_reproducer_imports_only_what_the_sdk_makes_public(row: Open) -> None:
    tree = ast.parse(open_failures.reproducer(FOLDER, row).read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import)
             for name in node.names}
    assert plain == {"asyncio"}
    assert imported <= {"agents", "agents.extensions.handoff_filters", "agents.mcp", "mcp.types",
                        "openai.types.responses"}


@pytest.mark.sdk
@pytest.mark.parametrize("id", ["cancelled-model-call", "refused-tool-output-in-run-data",
                                "call-ids-used-again-in-a-session"])
def test_a_reproducer_fails_by_its_assertion(id: str) -> None:
    assert compat.sdk_version() == DECLARED.sdk
    row = next(row for row in ROWS if row.id == id)
    parts = runpy.run_path(str(open_failures.reproducer(FOLDER, row)))
    (test,) = [part for name, part in parts.items() if name.startswith("test_")]
    agents.set_tracing_disabled(False)  # the file's own wish, which is of the process
    with pytest.raises(AssertionError):
        test()


@pytest.mark.sdk
@pytest.mark.parametrize("row", [row for row in ROWS if "/ref/" in (row.url or "")],
                         ids=lambda row: row.id)
def test_a_sentence_of_the_reference_stands_in_the_source_word_for_word(row: Open) -> None:
    sources = (" ".join(path.read_text("utf-8").split())
               for path in Path(agents.__file__).parent.rglob("*.py"))
    assert row.promise is not None
    assert any(row.promise in text for text in sources)


def _declared(folder: Path, **changes: str) -> Declared:
    row = {"id": '"one"', "check": '"c"', "code": '"C"', "since": '"0.8.0"',
           "relation": '"a and b"', **changes}
    lines = [f"{key} = {value}" for key, value in row.items() if value]
    (folder / open_failures.FILE).write_text(
        'sdk = "0.24.0"\npython = "3.12"\n[[rows]]\n' + "\n".join(lines) + "\n", "utf-8")
    return open_failures.load(folder)


@pytest.mark.parametrize(("changes", "code"), [
    ({"relation": ""}, "OPEN_BASELESS"),
    ({"relation": "", "promise": '"It does."'}, "OPEN_BASELESS"),
    ({"since": '"0.8.99"'}, "OPEN_RELEASE"), ({"passes": '"0.7.99"'}, "OPEN_RELEASE"),
    ({"kind": '"odd"'}, "OPEN_ROWS"), ({"url": '"somewhere"'}, "OPEN_ROWS")])
def test_a_row_that_contradicts_nothing_or_is_wrong_is_refused(
        changes: dict[str, str], code: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        _declared(tmp_path, **changes)
    assert caught.value.code == code


def test_a_promise_or_a_relation_is_enough(tmp_path: Path) -> None:
    quoted = {"relation": "", "promise": '"It does."', "url": '"https://example.org/"'}
    assert _declared(tmp_path).rows[0].is_founded
    assert _declared(tmp_path, **quoted).rows[0].is_founded
