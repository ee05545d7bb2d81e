"""The command ``why`` on certificates and plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from pathlib import Path

import pytest

from agentrunproof.cli import exits
from agentrunproof.cli.commands import run
from agentrunproof.lab import environments, probe
from agentrunproof.lab.probe import Outcome
from agentrunproof.plan.model import Plan
from agentrunproof.record.result import OK, CheckResult
from tests import plans

WRONG = """
title = "A tool that says something else"
area = "demo"
contract = "The tool says two."

[agents.clerk]
instructions = "Ask."
tools = ["ask"]

[tools.ask]
returns = "one"

[[phases]]
id = "only"
input = "Go."
script = [[{ call = "ask", id = "asked" }], [{ say = "Done." }]]
expect = { final_output = "Done.", outputs = { asked = "two" } }
"""

CERTIFICATES = Path(__file__).parents[2] / "evidence" / "history" / "certificates"


def fails_with_a_tool(plan: Plan) -> bool:
    return bool(plan.agents["clerk"].tools)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Plan], bool]], list[Plan]]:
    """Put a rule in the place of the worker: which plans fail; gives those that were run."""
    def put(fails: Callable[[Plan], bool]) -> list[Plan]:
        ran: list[Plan] = []

        def probe_in(environment: object, ready: Mapping[str, Plan], options: object,
                     workers: object = ()) -> Generator[Outcome, None, None]:
            for id, plan in ready.items():
                ran.append(plan)
                checks = (CheckResult("tool_linkage", "FAIL", "ORPHAN_OUTPUT", "run/only", "so")
                          if fails(plan) else CheckResult("tool_linkage", "PASS", OK),)
                yield Outcome(id, plans.certificate(plan=plan, id=id, checks=checks,
                                                    verdict=checks[0].verdict))

        monkeypatch.setattr(probe, "probe_in", probe_in)
        return ran

    return put


Judged = Callable[[Callable[[Plan], bool]], list[Plan]]


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    path = tmp_path / "wrong.toml"
    path.write_text(WRONG)
    return str(path)


def test_an_unknown_check_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "session-limit-orphan-output", "--check", "tool_linkag"]) == exits.UNUSABLE
    assert "did you mean 'tool_linkage'" in capsys.readouterr().err


def test_a_record_that_is_no_certificate_is_refused(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    path.write_text('{"schema":"agentrunproof/matrix/1"}\n')
    assert run(["why", str(path)]) == exits.UNUSABLE
    assert "not a certificate" in capsys.readouterr().err


@pytest.mark.parametrize("budget", ["0", "-3"])
def test_a_budget_for_nothing_is_refused(
        wrong: str, budget: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", wrong, "--budget", budget]) == exits.UNUSABLE
    assert "give at least 1" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_refused_before_any_run(
        wrong: str, judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    ran = judged(fails_with_a_tool)
    assert run(["why", wrong, "--out", f"{wrong}/inside"]) == exits.UNUSABLE
    assert "TARGET_UNWRITABLE" in capsys.readouterr().err
    assert ran == []


def test_a_plan_that_passes_has_nothing_to_explain(
        wrong: str, judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    judged(lambda plan: False)
    assert run(["why", wrong]) == exits.UNUSABLE
    assert "WHY_NO_FAILURE" in capsys.readouterr().err


def failing_certificate() -> Path:
    """One of the published ones that fails, and passes another check."""
    for path in sorted(CERTIFICATES.glob("*/*.json")):
        record = json.loads(path.read_bytes())
        if record["verdict"] == "FAIL" and any(
                check["verdict"] == "PASS" for check in record["checks"]):
            return path
    raise AssertionError("no failure is published")


def test_a_certificate_that_does_not_fail_again_is_not_stable(
        judged: Judged, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    judged(lambda plan: False)
    monkeypatch.setattr(environments, "isolated", lambda *_: environments.current())
    out = tmp_path / "out"
    assert run(["why", str(failing_certificate()), "--out", str(out)]) == exits.NOTHING
    assert "run again, the plan passes" in capsys.readouterr().out
    assert [path.name for path in out.iterdir()] == ["why.json"]
    assert run(["check-certificate", "--integrity-only", str(out / "why.json")]) == exits.OK


def test_a_check_that_its_certificate_passes_is_refused_before_any_run(
        judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    path = failing_certificate()
    ran = judged(lambda plan: True)
    passed = next(check["check"] for check in json.loads(path.read_bytes())["checks"]
                  if check["verdict"] == "PASS")
    assert run(["why", str(path), "--check", passed]) == exits.UNUSABLE
    assert "WHY_NO_FAILURE" in capsys.readouterr().err
    assert ran == []


def test_a_budget_spent_on_the_whole_plan_is_no_answer(
        wrong: str, judged: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    judged(fails_with_a_tool)
    assert run(["why", wrong, "--budget", "1", "--json"]) == exits.BUDGET
    record = json.loads(capsys.readouterr().out)
    assert (record["status"], record["calls"]) == ("BUDGET", 1)


def test_an_interrupt_leaves_the_smallest_plan_so_far(
        wrong: str, judged: Judged, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    def until_the_tenth(plan: Plan) -> bool:
        if len(ran) == 10:
            raise KeyboardInterrupt
        return fails_with_a_tool(plan)

    ran = judged(until_the_tenth)
    out = tmp_path / "out"
    assert run(["why", wrong, "--out", str(out)]) == exits.INTERRUPTED
    assert "interrupted, a smaller plan may be left" in " ".join(
        capsys.readouterr().out.split())
    assert {path.name for path in out.iterdir()} == {"why.json", "smallest.toml", "smallest.json"}
    assert run(["check-certificate", "--integrity-only", str(out / "why.json")]) == exits.OK
    record = json.loads((out / "why.json").read_bytes())
    assert record["ended"] == "stopped"
    assert record["reduction"]["gone"]


@pytest.mark.sdk
def test_a_plan_is_reduced_to_what_its_failure_needs(
        wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["why", wrong, "--out", str(out), "--json"]) == exits.OK
    printed = capsys.readouterr().out
    assert printed == (out / "why.json").read_text()
    record = json.loads(printed)
    assert record["target"] == "tool:execution_outcome:code=OUTPUTS_DIFFER"
    names = [quote["id"] for quote in record["quotes"]]
    assert "phases.only.expect.outputs.asked" in {
        names[one["leaf"]] for one in record["reduction"]["needed"]}
    for file in ("smallest.json", "why.json"):
        assert run(["check-certificate", "--integrity-only", str(out / file)]) == exits.OK
    small = json.loads((out / "smallest.json").read_text())
    assert small["id"] == record["reduction"]["certificate"]
    assert small["subject"]["plan"] == record["reduction"]["plan"]
    left = small["plan"]["phases"][0]["expect"]
    assert left == {"outputs": {"asked": "two"}}
