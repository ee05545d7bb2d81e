from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentrunproof import checker
from agentrunproof.checker import Judgement, kinds
from agentrunproof.cli import commands, exits
from agentrunproof.record import certificate as records
from agentrunproof.record.events import make
from tests.plans import certificate

END = make("run_finished", outcome="completed")
OTHER = make("run_finished", outcome="raised")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker that believes every certificate; the real one has tests of its own."""
    def check(data: bytes, **_: object) -> Judgement:
        value = json.loads(data)
        return Judgement(valid=True, code="OK", id=value["id"], verdict=value["verdict"],
                         scenario=value["subject"]["scenario"], notes=("a note",))

    for module in (checker, kinds):
        monkeypatch.setattr(module, "check", check)


def put(path: Path, verdict: str = "PASS", *, event: dict[str, object] = END) -> str:
    data = records.to_bytes(certificate(event, verdict=verdict))  # type: ignore[arg-type]
    path.write_bytes(data)
    return str(json.loads(data)["id"])


@pytest.mark.parametrize(("verdict", "code"), [("PASS", 0), ("FAIL", 1), ("UNTESTABLE", 2)])
def test_a_valid_record_exits_by_its_verdict_or_not_at_all(
        judged: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], verdict: str,
        code: int) -> None:
    id = put(tmp_path / "x.json", verdict)
    assert commands.run(["check-certificate", str(tmp_path / "x.json")]) == code
    assert capsys.readouterr().out == f"VALID {id} {verdict}\n  note: a note\n"
    assert commands.run(["check-certificate", "--integrity-only", str(tmp_path / "x.json")]) == 0


def test_several_records_are_told_apart_and_the_gravest_decides(
        judged: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    good, bad = put(Path("good.json")), put(Path("bad.json"), "FAIL")
    names = ["good.json", "bad.json", "missing.json"]
    assert commands.run(["check-certificate", *names]) == exits.VIOLATION
    lines = [line for line in capsys.readouterr().out.splitlines() if "note" not in line]
    assert lines == [f"good.json: VALID {good} PASS", f"bad.json: VALID {bad} FAIL",
                     "missing.json: INVALID RECORD_NOT_FOUND: missing.json: no such file "
                     "(check the path)"]
    assert commands.run(["check-certificate", "--json", *names]) == exits.VIOLATION
    table = json.loads(capsys.readouterr().out)
    assert [row["valid"] for row in table] == [True, True, False]
    assert table[2]["code"] == "RECORD_NOT_FOUND"


def test_standard_input_is_read_with_a_limit(
        judged: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    id = put(tmp_path / "x.json")
    whole = (tmp_path / "x.json").read_bytes()
    for content, said in ((whole, f"VALID {id} PASS"),
                          (b" " * (16 * 2**20 + 1), "INVALID RECORD_TOO_LARGE")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        commands.run(["check-certificate", "-"])
        assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize(("content", "code"), [
    (b"", "JSON_EMPTY"), (b"\x00\x01", "JSON_ENCODING"), (b"\xef\xbb\xbf{}", "JSON_BOM"),
    ('{"a": 1}'.encode("utf-16"), "JSON_ENCODING"), (b"[" * 100_000, "JSON_TOO_DEEP"),
    (b'{"a": NaN}', "JSON_NOT_A_NUMBER"), (b'{"a":1,"a":2}', "JSON_DUPLICATE_KEY"),
    (rb'{"a": "\ud800"}', "JSON_SURROGATE"), (b'{"a": 9007199254740993}', "JSON_INTEGER_RANGE"),
    (b'{"a": 1.5}', "JSON_FLOAT"), (b"{}{}", "JSON_TRAILING"), (b"{", "JSON_SYNTAX"),
    (b"{}", "RECORD_FORMAT"), (b"[]", "RECORD_FORMAT"), (b"null", "RECORD_FORMAT"),
])
def test_a_file_that_is_no_certificate_is_invalid_for_a_reason(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, code: str) -> None:
    (tmp_path / "x.json").write_bytes(content)
    assert commands.run(["check-certificate", str(tmp_path / "x.json")]) == exits.UNUSABLE
    out, err = capsys.readouterr()
    assert out.startswith(f"INVALID {code}: ")
    assert len(out.splitlines()) == 1
    assert err == ""


def test_an_edited_certificate_is_invalid(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "x.json")
    data = (tmp_path / "x.json").read_bytes()
    (tmp_path / "x.json").write_bytes(data.replace(b"A greeting", b"A Greeting"))
    assert commands.run(["check-certificate", str(tmp_path / "x.json")]) == exits.UNUSABLE
    assert capsys.readouterr().out.startswith("INVALID ID_DIFFERS: ")


@pytest.mark.parametrize("command", ["check-certificate", "explain", "diff"])
def test_special_files_are_refused_without_waiting_for_them(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    for name in ("pipe.json", "folder.json"):
        path = str(tmp_path / name)
        assert commands.run([command, path, *([path] if command == "diff" else [])]) == 2
        assert name in "".join(capsys.readouterr())


def test_a_huge_file_is_refused_without_being_read(tmp_path: Path) -> None:
    import resource

    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(4_000_000_000)
    done = subprocess.run(
        [sys.executable, "-m", "agentrunproof", "check-certificate", str(tmp_path / "huge.json")],
        capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)))
    assert done.returncode == exits.UNUSABLE
    assert done.stdout.startswith("INVALID RECORD_TOO_LARGE: ")


def test_diff_tells_the_first_divergence_and_exits_1(
        judged: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    put(Path("a.json"))
    put(Path("b.json"), "FAIL", event=OTHER)
    assert commands.run(["diff", "a.json", "a.json"]) == exits.OK
    assert commands.run(["diff", "a.json", "b.json"]) == exits.VIOLATION
    assert ("first divergence: run/only, event 0 (run_finished), outcome"
            in capsys.readouterr().out)
    assert commands.run(["diff", "a.json", "b.json", "--json"]) == exits.VIOLATION
    assert json.loads(capsys.readouterr().out)["divergence"]["b"] == "raised"


def test_what_does_not_check_is_neither_compared_nor_explained(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.json"
    path.write_text("{}")
    for arguments in (["diff", str(path), str(path)], ["explain", str(path)]):
        assert commands.run(arguments) == exits.UNUSABLE
        assert "[RECORD_FORMAT]" in capsys.readouterr().err


def test_a_certificate_is_explained_check_by_check(
        judged: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "x.json")
    assert commands.run(["explain", str(tmp_path / "x.json")]) == exits.OK
    out = capsys.readouterr().out
    assert "verdict: PASS (openai-agents 0.24.0)" in out
    assert "promise: " in out
