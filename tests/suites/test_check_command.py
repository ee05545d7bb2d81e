"""`check session`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import shlex

import pytest

from agentrunproof.cli import commands
from agentrunproof.suites.session import CASES

pytestmark = pytest.mark.sdk

TARGETS = "tests.suites.targets"


def _check(*arguments: str) -> int:
    return commands.run(["check", "session", *arguments])


def test_a_failure_says_what_was_promised_and_how_to_see_it_again(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert _check(f"{TARGETS}:zero_is_all", "--case", "limit-zero", "--case", "limit-n") == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "FAIL       limit-zero: LIMIT_IGNORED"
    assert "PASS       limit-n: A limit gives the newest items, oldest of them first" in told
    assert 'documentation: "When specified, returns the latest N items' in "\n".join(told)
    [again] = [line.strip() for line in told if line.strip().startswith("agentrunproof check")]
    assert commands.run(shlex.split(again)[1:]) == 1
    assert all(len(line) <= 80 for line in told if "agentrunproof check" not in line)
    assert told[-1].startswith("2 cases: 1 PASS, 1 FAIL (openai-agents ")


def test_json_holds_every_result(capsys: pytest.CaptureFixture[str]) -> None:
    assert _check(f"{TARGETS}:zero_is_all", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "FAIL"
    assert [result["case"] for result in told["results"]] == list(CASES)
    [failed] = [result for result in told["results"] if result["verdict"] == "FAIL"]
    assert (failed["case"], failed["code"], failed["basis"], failed["source"]) == (
        "limit-zero", "LIMIT_IGNORED", "documentation", "agents.memory.session.Session.get_items")
    assert failed["upstream"] == ["openai/openai-agents-python#4365"]


def test_a_known_failure_is_no_violation_unless_it_passes(
        capsys: pytest.CaptureFixture[str]) -> None:
    named = ("--known-failure", "limit-zero", "--case", "limit-zero")
    assert _check(f"{TARGETS}:zero_is_all", *named) == 0
    assert capsys.readouterr().out.startswith("KNOWN      limit-zero: LIMIT_IGNORED")
    assert _check(f"{TARGETS}:sound", *named) == 1
    assert "KNOWN_FAILURE_PASSES" in capsys.readouterr().out


def test_nothing_testable_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert _check(f"{TARGETS}:make_session", "--case", "unreadable-pop") == 2
    assert _check(f"{TARGETS}:make_session", "--case", "unreadable-pop", "--case", "pop") == 0
    assert "1 PASS, 1 UNTESTABLE" in capsys.readouterr().out


@pytest.mark.parametrize(("target", "code"), [
    ("nothing", "TARGET_FORM"), ("no.such.module:x", "TARGET_IMPORT"),
    (f"{TARGETS}:nothing", "TARGET_IMPORT"), (f"{TARGETS}:no_function", "TARGET_FORM"),
    (f"{TARGETS}:TestsOfTheirs", "run it with pytest"), (f"{TARGETS}:broken", "no route"),
    (f"{TARGETS}:gives_none", "SESSION_NOT_MADE"),
    (f"{TARGETS}:leaves", "no session can be made: SystemExit: 3"),
    (f"{TARGETS}:sound --case pup", "CASE_UNKNOWN"),
    (f"{TARGETS}:sound --supports all", "SUPPORTS_UNKNOWN"), ("", "TARGET_NONE")])
def test_what_cannot_be_checked_is_said_in_a_line(
        target: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _check(*target.split()) == 2
    told = capsys.readouterr()
    assert code in told.err
    assert len(told.err.splitlines()) == 1
    assert told.out == ""


def test_a_session_that_ends_the_program_fails_the_case(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert _check(f"{TARGETS}:leaves_later", "--case", "pop", "--case", "order") == 1
    told = capsys.readouterr().out
    assert "pop: RAISED" in told
    assert "SystemExit: 3" in told
    assert "1 PASS" in told


def test_the_list_names_every_case_with_its_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert _check("--list") == 0
    told = capsys.readouterr().out
    for case in CASES.values():
        assert f"\n{case.name}\n" in f"\n{told}"
    assert _check("--list", "--json") == 0
    assert [case["case"] for case in json.loads(capsys.readouterr().out)] == list(CASES)
