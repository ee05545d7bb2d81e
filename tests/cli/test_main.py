"""What every command shares: exit codes, errors in one line, streams that go away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from agentrunproof import __version__
from agentrunproof.cli import commands, exits, scenarios
from agentrunproof.errors import LabError
from agentrunproof.plan import catalog


def fails_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """The exit code of a command line whose command raises `error`."""
    def broken() -> int:
        raise error

    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command("broken")(broken)
    app.command("other")(broken)
    monkeypatch.setattr(commands, "application", lambda _: app)
    return commands.run(["broken"])


@pytest.mark.parametrize(("error", "code", "said"), [
    (LabError("NO_NETWORK", "no index", "connect"), exits.UNUSABLE,
     "error: no index (connect) [NO_NETWORK]"),
    (OSError(28, "No space left on device"), exits.UNUSABLE, "No space left on device"),
    (KeyboardInterrupt(), exits.INTERRUPTED, "interrupted"),
    (ZeroDivisionError("of\nours"), exits.CRASH, "crashed: ZeroDivisionError: of ours"),
    (RecursionError("deep"), exits.CRASH, "RecursionError"),
])
def test_every_error_is_one_line_and_the_right_code(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
        error: BaseException, code: int, said: str) -> None:
    monkeypatch.delenv("AGENTRUNPROOF_DEBUG", raising=False)
    assert fails_with(monkeypatch, error) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_a_traceback_is_shown_to_who_asks_for_it(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("AGENTRUNPROOF_DEBUG", "1")
    assert fails_with(monkeypatch, ZeroDivisionError("ours")) == exits.CRASH
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [
    ["no-such-command"], ["probe", "--no-such-option"], ["check-certificate"], ["diff", "one"],
    ["schema", "nothing"], ["probe", "x", "--mode", "walk"], ["probe", "x", "--deadline", "nan"],
    ["probe", "x", "--deadline", "0"], ["probe", "x", "--deadline", "soon"], []])
def test_wrong_usage_is_2_and_says_so(arguments: list[str],
                                      capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(arguments) == exits.UNUSABLE
    assert "Usage: agentrunproof" in "".join(capsys.readouterr())


def test_version_and_help_are_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["--version"]) == exits.OK
    assert capsys.readouterr().out == f"agentrunproof {__version__}\n"
    assert commands.run(["--help"]) == exits.OK
    told = capsys.readouterr().out
    for name in ("list-scenarios", "probe", "check-certificate", "explain", "diff", "schema"):
        assert name in told


@pytest.mark.parametrize(("codes", "worst"), [
    ([], 0), ([0, 0], 0), ([0, 2], 2), ([2, 1, 0], 1), ([0, 1], 1)])
def test_the_gravest_outcome_decides(codes: list[int], worst: int) -> None:
    assert exits.worst(codes) == worst


def test_the_exit_codes_are_those_of_the_manual() -> None:
    codes = {verdict: exits.of_verdict(verdict)
             for verdict in ("PASS", "FAIL", "UNTESTABLE", "ERROR")}
    assert codes == {"PASS": 0, "FAIL": 1, "UNTESTABLE": 2, "ERROR": 2}
    manual = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert exits.__doc__ is not None
    table = [line for line in exits.__doc__.splitlines() if line.startswith("| ")]
    assert len(table) == 9
    for line in table:
        assert line in manual
        assert line in readme


def test_a_reader_that_goes_away_is_no_verdict() -> None:
    child = subprocess.Popen([sys.executable, "-m", "agentrunproof", "schema", "plan"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    _, err = child.communicate()
    assert child.returncode == exits.READER_GONE
    assert err == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_standard_output_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "agentrunproof", "list-scenarios"],
                              stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == exits.UNUSABLE
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_scenarios_are_listed_by_area_also_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    assert commands.run(["list-scenarios"]) == exits.OK
    listed = capsys.readouterr().out.split()
    assert set(catalog.ids()) <= set(listed)
    assert commands.run(["list-scenarios", "--json"]) == exits.OK
    table = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in table] == list(catalog.ids())
    area = table[0]["area"]
    assert commands.run(["list-scenarios", "--area", area, "--json"]) == exits.OK
    assert {row["area"] for row in json.loads(capsys.readouterr().out)} == {area}


def test_an_unknown_area_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["list-scenarios", "--area", "zzz"]) == exits.UNUSABLE
    assert catalog.summaries()[catalog.ids()[0]].area in capsys.readouterr().err


def test_a_scenario_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    id = catalog.ids()[0]
    assert commands.run(["explain", id]) == exits.OK
    assert capsys.readouterr().out.startswith(f"{id}\n")


def test_a_check_is_explained_and_so_is_a_code_by_every_check_that_has_it(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["explain", "tool_linkage"]) == exits.OK
    told = capsys.readouterr().out
    assert told.startswith("tool_linkage\n  Every tool output stands after its call")
    assert "\n  ORPHAN_OUTPUT\n" in told
    assert commands.run(["explain", "RESULTS_DIFFER"]) == exits.OK
    told = capsys.readouterr().out
    assert "relation_state\n" in told
    assert "relation_sync\n" in told
    assert "tool_linkage" not in told


@pytest.mark.parametrize("name", [name.value for name in scenarios.SchemaName])
def test_each_schema_is_a_schema(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    import jsonschema

    assert commands.run(["schema", name]) == exits.OK
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_shell_completion_knows_the_scenarios() -> None:
    from agentrunproof.cli.plans import complete

    id = catalog.ids()[0]
    assert id in complete(id[:4])
    assert complete("zzz") == []
