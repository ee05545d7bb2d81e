from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.errors import LabError
from agentrunproof.lab import probe, process
from agentrunproof.lab.process import Worker
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import make
from agentrunproof.record.result import CheckResult
from tests.plans import GREETING, certificate

END = make("run_finished", outcome="completed")
BROKEN = [CheckResult("tool_linkage", "FAIL", "LOST", "run/only", "no output")]


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> list[probe.Options]:
    """The options probes were run with; a scenario's first word decides what comes of it."""
    seen: list[probe.Options] = []

    def fake(plans: Mapping[str, Plan], options: probe.Options, *,
             say: Callable[[str], None], progress: Callable[[str, str], None],
             workers: Sequence[Worker]) -> Iterator[probe.Outcome]:
        seen.append(options)
        for id in plans:
            if id.startswith("lost"):
                yield probe.Outcome(id, error=LabError("WORKER_DIED", "it died", "look"))
            elif id.startswith("lacking"):
                yield probe.Outcome(id, certificate(missing=("run-state",), id=id,
                                                    verdict="UNTESTABLE"))
            elif id.startswith("broken"):
                yield probe.Outcome(id, certificate(END, id=id, checks=BROKEN, verdict="FAIL"))
            else:
                yield probe.Outcome(id, certificate(END, id=id))

    monkeypatch.setattr(probe, "probe", fake)
    monkeypatch.setattr(process, "ahead", lambda python: nullcontext(()))
    return seen


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a plan file for each outcome."""
    for name in ("fine", "broken", "lacking", "lost"):
        (tmp_path / f"{name}.toml").write_text(GREETING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_pass_is_0_and_leaves_the_certificate(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["probe", "fine.toml", "--certificate", "proof.json"]) == exits.OK
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "PASS fine"
    assert out[-1] == "written: proof.json"
    record = json.loads((here / "proof.json").read_bytes())
    assert f"certificate_id: {record['id']}" in out


def test_a_failure_is_1_and_can_be_reproduced(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["probe", "broken.toml", "--deadline", "5", "--allow-python"]) == 1
    assert ("reproduce: agentrunproof probe broken.toml --sdk 0.24.0 --deadline 5 --allow-python"
            in capsys.readouterr().out)


@pytest.mark.parametrize(("name", "code"), [
    ("fine", 0), ("broken", 1), ("lacking", 2), ("lost", 2)])
def test_the_verdict_decides_the_exit_code(lab: list[probe.Options], here: Path, name: str,
                                           code: int) -> None:
    assert commands.run(["probe", f"{name}.toml"]) == code


def test_of_several_scenarios_the_gravest_decides(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["fine.toml", "lacking.toml", "broken.toml", "lost.toml"]
    assert commands.run(["probe", *names]) == exits.VIOLATION
    assert capsys.readouterr().out.splitlines()[-1] == (
        "4 scenarios: 1 PASS, 1 FAIL, 1 UNTESTABLE, 1 ERROR")
    assert commands.run(["probe", "fine.toml", "lost.toml"]) == exits.UNUSABLE


def test_a_folder_takes_a_certificate_of_each_scenario(
        lab: list[probe.Options], here: Path) -> None:
    assert commands.run(["probe", "--all", "--out", "build/certificates"]) == exits.OK
    written = {path.stem for path in (here / "build" / "certificates").iterdir()}
    assert written == set(catalog.ids())


def test_json_tells_all_of_it_in_one_document(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["probe", "fine.toml", "lost.toml", "--json", "--out", "out"]) == 2
    fine, lost = json.loads(capsys.readouterr().out)
    assert (fine["verdict"], fine["written"]) == ("PASS", str(Path("out/fine.json")))
    assert lost == {"scenario": "lost", "verdict": "ERROR",
                    "error": {"code": "WORKER_DIED", "message": "it died", "hint": "look"}}


def test_options_reach_the_lab(lab: list[probe.Options], here: Path) -> None:
    commands.run(["probe", "fine.toml", "--sdk", "0.20.0", "--python", "3.12", "--deadline", "2.5",
              "--profile", "private", "--allow-python"])
    (options,) = lab
    assert (options.sdk, options.python, options.deadline, options.profile) == (
        "0.20.0", "3.12", "2.5", "private")
    assert options.allow_python
    assert list(options.path) == [str(here)]


def test_a_mode_becomes_part_of_the_id(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["probe", "broken.toml", "--mode", "run_sync"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("FAIL broken-run-sync\n")
    assert "--mode run_sync" in out


@pytest.mark.parametrize(("arguments", "said"), [
    (["probe"], "no scenario named"),
    (["probe", "fine.toml", "--all"], "not both"),
    (["probe", "nothing-like-it"], "no packaged scenario has the id 'nothing-like-it'"),
    (["probe", "missing.toml"], "missing.toml: no such file"),
    (["probe", "."], "directory"),
    (["probe", "fine.toml", "sub/fine.toml"], "no such file"),
    (["probe", "fine.toml", "./fine.toml"], "have one id, fine"),
    (["probe", "fine.toml", "broken.toml", "--certificate", "x.json"], "of one scenario"),
    (["probe", "fine.toml", "--certificate", "no/such/folder/x.json"], "does not exist"),
    (["probe", "fine.toml", "--certificate", "."], "a directory, not a regular file"),
    (["probe", "fine.toml", "--out", "fine.toml"], "fine.toml"),
    (["explain", "missing.toml"], "missing.toml: no such file"),
])
def test_bad_input_is_one_clear_line_and_nothing_is_run(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str],
        arguments: list[str], said: str) -> None:
    before = sorted(here.rglob("*"))
    assert commands.run(arguments) == exits.UNUSABLE
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1
    assert lab == []
    assert sorted(here.rglob("*")) == before


def test_an_unknown_scenario_suggests_the_nearest(
        lab: list[probe.Options], capsys: pytest.CaptureFixture[str]) -> None:
    id = catalog.ids()[0]
    assert commands.run(["probe", id[:-1]]) == exits.UNUSABLE
    assert f"did you mean '{id}'?" in capsys.readouterr().err


@pytest.mark.parametrize("content", [
    b"", b"\x00\x01\x02", b"\xef\xbb\xbftitle = 1", "title = 'x'".encode("utf-16"), b"title =",
    b"titel = 'x'", b"[" * 5000, b"\xff\xff", b"title = 1e400", b"x = " + b"9" * 5000])
def test_a_file_that_is_no_plan_is_one_clear_line(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str],
        content: bytes) -> None:
    (here / "bad.toml").write_bytes(content)
    assert commands.run(["probe", "bad.toml"]) == exits.UNUSABLE
    err = capsys.readouterr().err
    assert err.startswith("error: bad.toml: ")
    assert len(err.splitlines()) == 1
    assert lab == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_special_target_is_refused_before_anything_is_run(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "pipe")
    os.symlink(here / "elsewhere", here / "link")
    for target in ("pipe", "link"):
        assert commands.run(["probe", "fine.toml", "--certificate", target]) == exits.UNUSABLE
        assert target in capsys.readouterr().err
    assert lab == []
    assert not (here / "elsewhere").exists()


@pytest.mark.parametrize(("name", "code"), [("fine", exits.UNUSABLE), ("broken", exits.VIOLATION)])
def test_a_certificate_that_cannot_be_written_never_hides_the_verdict(
        lab: list[probe.Options], here: Path, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch, name: str, code: int) -> None:
    from agentrunproof.errors import RecordError
    from agentrunproof.record import store

    def full(path: Path, data: bytes) -> None:
        raise RecordError("TARGET_UNWRITABLE", f"{path}: no space left on device")

    monkeypatch.setattr(store, "write", full)
    assert commands.run(["probe", f"{name}.toml", "--certificate", "x.json"]) == code
    out, err = capsys.readouterr()
    assert f" {name}\n" in out
    assert "certificate_id: sha256:" in out
    assert "written" not in out
    assert err == "error: x.json: no space left on device\n"
