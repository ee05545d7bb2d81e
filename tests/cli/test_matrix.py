"""Matrices and bisections on the command line, with columns that a fake fills."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.checker.judgement import Judgement
from agentrunproof.checker.members import Assessed
from agentrunproof.cli import commands, exits
from agentrunproof.errors import LabError
from agentrunproof.lab import bisect, executors, expected, folder
from agentrunproof.lab.columns import Job, Result
from agentrunproof.lab.executors import Executor, Local
from agentrunproof.lab.expected import KnownFailure
from agentrunproof.lab.releases import known as known_releases
from agentrunproof.lab.releases import parse
from agentrunproof.record import certificate as records
from agentrunproof.record import layout
from agentrunproof.record.certificate import Sdk
from agentrunproof.record.events import make
from agentrunproof.record.matrix import Column
from agentrunproof.record.result import CheckResult
from tests.plans import GREETING, certificate

BROKEN = (CheckResult("tool_linkage", "FAIL", "LOST", "run/only", "no output"),)


def fill(job: Job, column: Column, say: object = None) -> Result:
    """``broken`` fails before 0.20.0, ``lost`` is lost; a command fails before 0.22.0."""
    if job.command is not None:
        passed = parse(column.sdk) >= parse("0.22.0")
        return Result(column, log=b"said\n", commanded=layout.of_exit("PASS", "OK") if passed
                      else layout.of_exit("FAIL", "EXIT_1"))
    result = Result(column)
    for id, plan in job.plans.items():
        if id == "lost":
            result.errors[id] = LabError("WORKER_DIED", "it died", "look")
            continue
        broken = id == "broken" and parse(column.sdk) < parse("0.20.0")
        made = certificate(make("run_finished", outcome="completed"), id=id, plan=plan,
                           checks=BROKEN if broken else (), verdict="FAIL" if broken else "PASS")
        producer = dataclasses.replace(made.producer, python=f"{column.python}.1", sdk=Sdk(
            version=column.sdk, files="sha256:" + "0" * 64))
        result.certificates[id] = records.to_bytes(dataclasses.replace(made, producer=producer))
    return result


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with plan files and a lab that runs nothing."""
    def local(uri: str | None, jobs: int) -> Executor:
        assert (uri, jobs) == (None, 2)
        return Local(1, fill)

    def jury(files: Mapping[str, Path], **options: object) -> Callable[..., Iterator[Assessed]]:
        def found(names: Sequence[str]) -> Iterator[Assessed]:
            for name in names:
                value = canonical.parse(files[name].read_bytes())
                yield (Judgement(valid=True, code="OK", id=value["id"]),
                       records.read_envelope(value))
        return found

    monkeypatch.setattr(executors, "of_uri", local)
    monkeypatch.setattr(bisect, "run_column", fill)
    monkeypatch.setattr(folder, "Jury", jury)
    load = expected.load
    monkeypatch.setattr(expected, "load", lambda file=None: load(file) if file else ())
    for name in ("fine", "broken", "lost"):
        (tmp_path / f"{name}.toml").write_text(GREETING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = commands.run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(run(capsys, *arguments)[1])


def test_all_passes_are_0_and_leave_a_record(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "matrix", "fine.toml", "--sdk", "0.24.0,0.7.0")
    assert code == exits.OK
    assert "1 plan on 2 releases: 2 PASS" in out
    assert out.endswith("record: build/matrix/matrix.json\n")
    assert "[2/2]" in err
    assert (here / "build/matrix/matrix.json").exists()


def test_without_a_specification_the_last_release_of_every_minor_is_run(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert "1 plan on 25 releases" in run(capsys, "matrix", "fine.toml")[1]


def test_a_fail_is_1_an_error_2_and_both_are_1(capsys: pytest.CaptureFixture[str]) -> None:
    codes = [run(capsys, "matrix", *names, "--sdk", "0.19.4,0.20.0")[0] for names in (
        ["broken.toml"], ["lost.toml"], ["lost.toml", "broken.toml"])]
    assert codes == [exits.VIOLATION, exits.UNUSABLE, exits.VIOLATION]


def test_an_error_is_told_once_for_all_its_cells(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "matrix", "lost.toml", "--sdk", ">=0.23")[1]
    assert out.count("WORKER_DIED") == 1
    assert "it died (look) (and 1 more)" in out


def known(sdk: str) -> KnownFailure:
    return KnownFailure(scenarios=("broken",), check="tool_linkage", sdk=sdk, upstream="x#1")


def test_a_known_failure_is_0_and_a_stale_entry_1(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(expected, "load", lambda: (known("<0.20"),))
    assert run(capsys, "matrix", "broken.toml", "--sdk", "0.19.4,0.20.0")[0] == exits.OK
    monkeypatch.setattr(expected, "load", lambda: (known("<0.21"),))
    code, _, err = run(capsys, "matrix", "broken.toml", "--sdk", "0.19.4,0.20.0")
    assert code == exits.VIOLATION
    assert "stale: a known failure says that tool_linkage of broken fails" in err


def test_the_record_can_be_printed_with_what_changed(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "matrix", "broken.toml", "--sdk", "0.19.4,0.20.0", "-o", "old")
    old = json.loads((here / "old/matrix.json").read_text())
    found = table(capsys, "matrix", "broken.toml", "--sdk", "0.19.4,0.20.0", "-o", "new",
                  "--format", "json", "--against", "old/matrix.json")
    assert found["matrix"] == old
    assert (found["changes"], found["stale"], found["errors"]) == ([], [], [])
    (boundary,) = found["matrix"]["boundaries"]
    assert (boundary["kind"], boundary["sdk"], boundary["code"]) == ("fixed-in", "0.20.0", "LOST")
    assert "changes: none" in run(capsys, "matrix", "broken.toml", "--sdk", "0.20.0", "-o", "new",
                                  "--against", "old/matrix.json")[1]


def test_a_damaged_matrix_to_compare_with_is_refused_before_anything_runs(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "old.json").write_text("{}")
    code, _, err = run(capsys, "matrix", "fine.toml", "--against", "old.json")
    assert (code, "old.json" in err, (here / "build").exists()) == (exits.UNUSABLE, True, False)


def test_markdown_and_the_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "matrix", "broken.toml", "--sdk", ">=0.19", "--format", "markdown")[1]
    assert out.startswith("## SDK matrix\n")
    out = run(capsys, "matrix", "broken.toml", "--sdk", ">=0.19", "--format", "html", "-o",
              "site")[1]
    assert out == "written: site/index.html\n"
    page = (here / "site/index.html").read_text()
    assert '"seen":"no output","where":"run/only"' in page
    assert '"how":["agentrunproof probe broken.toml",""]' in page
    run(capsys, "matrix", "lost.toml", "--sdk", "0.24.0", "--format", "html", "-o", "site")
    assert '"error":"it died (look) [WORKER_DIED]"' in (here / "site/index.html").read_text()


def test_cells_for_a_fan_out_run_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, "matrix", "--sdk", "0.20.0", "--python", "3.10,3.13", "--with",
                  "openai=lowest", "--cells", "json")
    assert found == {"include": [
        {"sdk": "0.20.0", "python": python, "with": "--with openai=lowest"}
        for python in ("3.10", "3.13")]}
    assert not (here / "build").exists()


def test_shards_merge_to_the_whole_in_any_order(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "matrix", "broken.toml", "fine.toml", "--sdk", ">=0.18", "-o", "whole")
    for part in ("3", "1", "2"):
        run(capsys, "matrix", "broken.toml", "fine.toml", "--sdk", ">=0.18", "-o", part,
            "--shard", f"{part}/3")
    code, out, _ = run(capsys, "merge", "2/matrix.json", "3/matrix.json", "1/matrix.json", "-o",
                       "all.json")
    assert code == exits.VIOLATION
    assert out.endswith("record: all.json\n")
    assert (here / "all.json").read_bytes() == (here / "whole/matrix.json").read_bytes()


KNOWN = """
[[failure]]
scenarios = ["broken"]
check = "tool_linkage"
sdk = "<{limit}"
upstream = "ours#1"
"""


def test_known_failures_of_ones_own_count_in_a_sweep_and_in_a_merge(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "right.toml").write_text(KNOWN.format(limit="0.20"))
    (here / "stale.toml").write_text(KNOWN.format(limit="0.21"))
    sweep = ["matrix", "broken.toml", "--sdk", "0.19.4,0.20.0"]
    merge = ["merge", "build/matrix/matrix.json", "-o", "all.json"]
    for line in (sweep, merge):
        codes = [run(capsys, *line, *known)[0]
                 for known in ([], ["--known", "right.toml"], ["--known", "stale.toml"])]
        assert codes == [exits.VIOLATION, exits.OK, exits.VIOLATION]
        assert run(capsys, *line, "--known", "nowhere.toml")[0] == exits.UNUSABLE


def test_a_merge_shows_the_whole_and_what_changed(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for release, part in (("0.19.4", "1"), ("0.20.0", "2")):
        run(capsys, "matrix", "broken.toml", "--sdk", release, "-o", part)
    code, out, _ = run(capsys, "merge", "2/matrix.json", "1/matrix.json", "-o", "all.json",
                       "--against", "2/matrix.json", "--format", "markdown")
    assert code == exits.VIOLATION
    assert out.startswith("## SDK matrix\n")
    assert "tool_linkage LOST: fixed-in 0.20.0 (after 0.19.4)" in out
    assert "changes: none\n  new columns: 1\n" in out


def test_an_error_makes_a_merge_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "matrix", "lost.toml", "--sdk", "0.24.0")
    assert run(capsys, "merge", "build/matrix/matrix.json", "-o", "all.json")[0] == exits.UNUSABLE


def test_shards_of_different_plans_are_refused(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("fine", "broken"):
        run(capsys, "matrix", f"{name}.toml", "--sdk", "0.24.0", "-o", name)
    code, _, err = run(capsys, "merge", "fine/matrix.json", "broken/matrix.json", "-o", "x.json")
    assert code == exits.UNUSABLE
    assert "MERGE_PLANS" in err
    assert not (here / "x.json").exists()


@pytest.mark.parametrize("arguments", [
    ["matrix"], ["matrix", "fine.toml", "--all"], ["matrix", "fine.toml", "--", "pytest"],
    ["matrix", "--"], ["matrix", "fine.toml", "--install", "attrs"],
    ["matrix", "fine.toml", "--sdk", "0.20.9"], ["matrix", "fine.toml", "--sdk", ">=9"],
    ["matrix", "fine.toml", "--shard", "4/3"], ["matrix", "fine.toml", "--python", "2.7"],
    ["matrix", "fine.toml", "--with", "openai"], ["matrix", "no-such-scenario"],
    ["matrix", "fine.toml", "--jobs", "0"], ["matrix", "fine.toml", "--format", "xml"],
    ["matrix", "fine.toml", "--against", "nowhere.json"],
    ["merge", "-o", "x.json"], ["merge", "nowhere.json", "-o", "x.json"],
    ["check-matrix", "nowhere.json"], ["bisect"], ["bisect", "fine.toml", "--check", "nothing"],
    ["bisect", "fine.toml", "--first-bad", "--first-fixed"], ["bisect", "--sdk", "old", "--", "x"],
])
def test_wrong_usage_is_2_in_one_or_few_lines(
        here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (exits.UNUSABLE, "")
    assert err
    assert "Traceback" not in err
    assert not (here / "build").exists()


def test_an_interrupt_is_130_and_says_how_to_go_on(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from agentrunproof.lab import sweep

    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep, "sweep", interrupted)
    code, _, err = run(capsys, "matrix", "fine.toml")
    assert code == exits.INTERRUPTED
    assert "the same command goes on from there" in err


def test_a_command_runs_instead_of_plans(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "matrix", "--sdk", ">=0.21", "--", "pytest", "-q", "--sdk", "x")
    assert code == exits.VIOLATION
    assert "EXIT_1: fixed-in 0.22.0 (after 0.21.1)" in out
    assert "pytest -q --sdk x" in out
    assert "F 0.21.0: build/matrix/columns/" in out
    assert run(capsys, "check-matrix", "build/matrix/matrix.json")[0] == exits.OK


def test_a_matrix_is_checked_with_its_certificates(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "matrix", "fine.toml", "--sdk", "0.24.0", "-o", "out")
    record = here / "out/matrix.json"
    # The certificates are made up, so the real checker, which this command asks, refuses them.
    code, out, _ = run(capsys, "check-matrix", str(record))
    assert (code, out.split()[0]) == (exits.UNUSABLE, "INVALID")
    found = table(capsys, "check-matrix", str(record), "--certificates", str(here), "--json")
    assert (found["valid"], found["code"]) == (False, "CERTIFICATE_MISSING")
    code, _, err = run(capsys, "check-matrix", str(record), "--certificates", "nowhere")
    assert (code, "CERTIFICATES_NOT_FOUND" in err) == (exits.UNUSABLE, True)


def test_a_matrix_of_commands_alone_is_checked_without_a_folder_of_certificates(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "matrix", "--sdk", ">=0.21", "-o", "commands", "--", "pytest")
    run(capsys, "matrix", "fine.toml", "--sdk", ">=0.21", "-o", "plans")
    for name in ("commands", "plans"):
        (here / name / "matrix.json").rename(here / f"{name}.json")
    assert run(capsys, "check-matrix", "commands.json")[0] == exits.OK
    code, out, _ = run(capsys, "check-matrix", "plans.json")
    assert (code, "CERTIFICATE_MISSING" in out) == (exits.UNUSABLE, True)


def test_a_bisection_prints_the_boundary_and_how_to_see_it(
        capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "bisect", "broken.toml", "--python", "3.12")
    assert code == exits.OK
    lines = out.splitlines()
    assert lines[:3] == ["first-fixed: 0.20.0", "  FAIL 0.19.4 tool_linkage LOST",
                         "  PASS 0.20.0 OK"]
    assert "reproduce: agentrunproof probe broken.toml --sdk 0.20.0 --python 3.12" in lines
    assert len(err.splitlines()) <= 8
    assert len(known_releases()) == 123


def test_a_bisection_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, "bisect", "--sdk", ">=0.19", "--json", "--", "pytest", "x y")
    assert (found["at"]["release"], found["before"]["release"]) == ("0.22.0", "0.21.1")
    assert found["reproduce"] == "agentrunproof matrix --sdk {sdk} -- pytest 'x y'"


def test_a_bisection_is_reproduced_with_the_options_that_it_needs(
        here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = table(capsys, "bisect", "--sdk", ">=0.19", "--python", "3.12", "--install", ".[test]",
                  "--json", "--", "pytest", "{x}")
    assert found["reproduce"].format(sdk="0.22.0") == (
        "agentrunproof matrix --sdk 0.22.0 --python 3.12 --install '.[test]' -- pytest '{x}'")
    foreign = GREETING.replace("[[phases]]", '''[session]
kind = "python"
python = "python:ours:Session"

[[phases]]''', 1)
    (here / "broken.toml").write_text(foreign)
    found = table(capsys, "bisect", "broken.toml", "--allow-python", "--json")
    assert found["reproduce"] == "agentrunproof probe broken.toml --sdk {sdk} --allow-python"


def test_a_bisection_that_finds_nothing_is_2_and_says_why(
        capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "bisect", "fine.toml", "--sdk", ">=0.22")
    assert code == exits.UNUSABLE
    assert out.startswith("first-fixed: not found: no release that was probed fails")
    assert run(capsys, "bisect", "fine.toml", "--check", "usage_sum")[0] == exits.UNUSABLE


def test_releases_are_listed(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "cache/openai-agents-0.20.0-python-3.12/bin"
    home.mkdir(parents=True)
    (home / "python").touch()
    code, out, _ = run(capsys, "releases")
    assert code == exits.OK
    assert len(out.splitlines()) == 125
    rows = {row["version"]: row for row in table(capsys, "releases", "--json")}
    assert (rows["0.20.0"]["cached"], rows["0.21.0"]["cached"]) == (["3.12"], [])
    assert rows["0.20.0"]["label"] == "certified"
