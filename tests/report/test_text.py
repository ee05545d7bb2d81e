from __future__ import annotations

from agentrunproof.errors import LabError
from agentrunproof.plan import catalog
from agentrunproof.record.events import make
from agentrunproof.record.result import CheckResult
from agentrunproof.report import explain, schemas, tables, text
from tests.plans import certificate, greeting

FAILED = certificate(make("run_finished", outcome="completed"), verdict="FAIL", checks=[
    CheckResult("execution_outcome", "PASS", "OK"),
    CheckResult("tool_linkage", "FAIL", "RESULT_LOST", "run/only", "no output for call-1", 2)])


def test_a_pass_is_told_in_the_lines_of_the_manual() -> None:
    passed = certificate(make("run_finished", outcome="completed"))
    assert text.outcome_lines(passed, "sha256:ab", "certified", reproduce="again") == [
        "PASS greeting",
        "  PASS    tool_linkage: OK",
        "sdk: openai-agents 0.24.0, Python 3.13.0",
        "certificate_id: sha256:ab"]


def test_a_failure_says_where_what_and_how_to_see_it_again() -> None:
    assert text.outcome_lines(FAILED, "sha256:ab", "certified", reproduce="again") == [
        "FAIL greeting",
        "  PASS    execution_outcome: OK",
        "  FAIL    tool_linkage: RESULT_LOST",
        "          run/only: no output for call-1",
        "          and 2 more of this check",
        "sdk: openai-agents 0.24.0, Python 3.13.0",
        "certificate_id: sha256:ab",
        "reproduce: again"]


def test_an_untested_release_is_labelled() -> None:
    told = text.outcome_lines(FAILED, "sha256:ab", "untested")
    assert ("sdk: openai-agents 0.24.0, Python 3.13.0 "
            "(untested: not certified with agentrunproof 0.1.0)") in told


def test_what_the_release_lacks_is_told() -> None:
    lacking = certificate(missing=("run-state", "session"), verdict="UNTESTABLE")
    told = text.outcome_lines(lacking, "sha256:ab", "certified")
    assert told[:2] == ["UNTESTABLE greeting", "  this release lacks: run-state, session"]


def test_an_error_has_its_code_and_hint() -> None:
    error = LabError("WORKER_DIED", "it died", "look")
    assert text.error_lines("greeting", error) == [
        "ERROR greeting", "  WORKER_DIED: it died", "  hint: look"]
    assert tables.error_table(error) == {
        "code": "WORKER_DIED", "message": "it died", "hint": "look"}


def test_colour_changes_nothing_but_colour() -> None:
    import re

    painted = text.outcome_lines(FAILED, "sha256:ab", "certified", text.ansi)
    assert any("\x1b[" in line for line in painted)
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in painted] == text.outcome_lines(
        FAILED, "sha256:ab", "certified")


def test_the_summary_counts_each_verdict() -> None:
    assert text.summary_line(["PASS"]) == "1 scenario: 1 PASS"
    assert text.summary_line(["PASS", "ERROR", "FAIL", "PASS"]) == (
        "4 scenarios: 2 PASS, 1 FAIL, 1 ERROR")


def test_the_table_of_an_outcome_holds_every_check() -> None:
    table = tables.outcome_table(FAILED, "sha256:ab", "untested")
    assert table["sdk"] == {"version": "0.24.0", "label": "untested"}
    assert table["checks"][1] == {
        "check": "tool_linkage", "verdict": "FAIL", "code": "RESULT_LOST", "where": "run/only",
        "detail": "no output for call-1", "also": 2}


def test_every_packaged_scenario_is_explained_within_80_columns() -> None:
    for id in catalog.ids():
        plan = catalog.load(id)
        told = explain.plan_lines(id, plan)
        assert told[0] == id
        assert "contract" in told
        for number, phase in enumerate(plan.phases, 1):
            assert f"  {number}. {phase.id}" in told
        assert not [line for line in told if len(line) > 80 and " " in line.strip()]


def test_an_explanation_tells_script_and_expectation() -> None:
    told = "\n".join(explain.plan_lines("greeting", greeting()))
    assert "starts with user:Hi" in told
    assert "greeter's model, turn 1: assistant:Hello!" in told
    assert "expected: completed" in told


def test_the_checks_of_a_certificate_are_explained_by_their_promise() -> None:
    from agentrunproof.contracts import registry

    told = " ".join(explain.verdict_lines(FAILED)).split()
    contract = registry.find("tool_linkage")
    assert contract is not None
    assert " ".join(contract.promise.split()) in " ".join(told)
    assert "seen in run/only: no output for call-1" in " ".join(told)


def test_the_schema_of_one_event_accepts_events_and_nothing_else() -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(schemas.of("event"))
    assert validator.is_valid({"kind": "run_finished", "outcome": "completed"})
    assert not validator.is_valid({"kind": "run_finished", "outcome": "perhaps"})
    assert not validator.is_valid({"kind": "run_finished", "outcome": "completed", "more": 1})
