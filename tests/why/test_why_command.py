"""The command ``why`` on certificates and plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrunproof.cli import exits
from agentrunproof.cli.commands import run

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


def test_an_unknown_check_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "session-limit-orphan-output", "--check", "tool_linkag"]) == exits.UNUSABLE
    assert "did you mean 'tool_linkage'" in capsys.readouterr().err


def test_a_record_that_is_no_certificate_is_refused(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    path.write_text('{"schema":"agentrunproof/matrix/1"}\n')
    assert run(["why", str(path)]) == exits.UNUSABLE
    assert "not a certificate" in capsys.readouterr().err


@pytest.mark.sdk
def test_a_plan_that_passes_has_nothing_to_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "runstate-sibling-approval-isolation"]) == exits.UNUSABLE
    assert "WHY_NO_FAILURE" in capsys.readouterr().err


@pytest.mark.sdk
def test_a_plan_is_reduced_to_what_its_failure_needs(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.toml").write_text(WRONG)
    out = tmp_path / "out"
    assert run(["why", str(tmp_path / "wrong.toml"), "--out", str(out), "--json"]) == exits.OK
    found = json.loads(capsys.readouterr().out)
    assert found["failure"]["check"] == "execution_outcome"
    assert found["failure"]["code"] == "OUTPUTS_DIFFER"
    assert "phases.only.expect.outputs.asked" in {row["element"] for row in found["needed"]}
    assert {"agents.clerk.instructions", "phases.only.expect.final_output"} <= {
        row["element"] for row in found["did_not_matter"]}
    assert found["runs"] > len(found["trials"])
    assert run(["check-certificate", "--integrity-only", str(out / "smallest.json")]) == exits.OK
    recorded = json.loads((out / "smallest.json").read_text())
    assert recorded["plan"] == found["plan"]
