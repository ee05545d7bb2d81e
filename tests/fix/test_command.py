"""``fix`` and ``test`` as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.recorders import record
from tests.fix.inbox import CHAT, PLANT, RECORDED

TARGET = "tool:forward_email"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one recorded run, in which the commands are called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    with record("inbox") as rec, rec.model_call("openai.chat", CHAT) as call:
        call.returned(RECORDED)
    return tmp_path


def fix(*words: str, model: str = "sometimes") -> int:
    return commands.run(["fix", "last", TARGET, "--model", f"python:tests.fix.stand_in:{model}",
                         *words])


def kept(folder: Path, kind: str = "fixes") -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((folder / "runs" / kind).iterdir())]


def test_it_finds_the_cause_measures_and_writes_tests(
        folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fix("--write-test", "test_inbox.py") == exits.OK
    told, noted = capsys.readouterr()
    assert "PASS        0 of 20      14%" in told
    assert "the cause removed" in told
    assert "looking for the cause first" in noted
    (value,) = kept(folder)
    (finding,) = kept(folder, "ablations")
    assert value["finding"] == finding["id"]
    (source,) = [one for one in value["candidates"] if one["kind"] == "source"]
    assert source["change"]["removed"] == ["4 sentence 2"]
    written = (folder / "test_inbox.py").read_text()
    assert "Call forward_email only if" in written
    assert PLANT in (folder / "test_inbox.json").read_text()
    assert "ScriptedModel" in (folder / "test_inbox_guard.py").read_text()
    assert not [path for path in folder.glob("test_*") if str(folder) in path.read_text()]
    place = next((folder / "runs" / "fixes").iterdir())
    assert commands.run(["check-certificate", str(place)]) == exits.OK
    assert capsys.readouterr().out.startswith("VALID sha256:")


def test_an_earlier_finding_is_used_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fix() == exits.OK
    (path,) = (folder / "runs" / "ablations").iterdir()
    capsys.readouterr()
    assert fix("--dry") == exits.OK
    assert "the cause removed" in capsys.readouterr().out
    assert fix("--json") == exits.OK
    told, noted = capsys.readouterr()
    assert "the cause is taken from" in noted
    assert json.loads(told)["schema"] == "agentrunproof/fix/1"
    assert fix("--finding", str(path), "-o", "fix.json") == exits.OK
    assert len(list((folder / "runs" / "ablations").iterdir())) == 1
    assert (folder / "fix.json").exists()


def test_a_finding_of_something_else_is_refused(folder: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    assert fix() == exits.OK
    (path,) = (folder / "runs" / "ablations").iterdir()
    with record("other") as rec, rec.model_call("openai.chat", CHAT | {"user": "x"}) as call:
        call.returned(RECORDED)
    capsys.readouterr()
    assert fix("--finding", str(path)) == exits.UNUSABLE
    assert "[FINDING_OTHER]" in capsys.readouterr().err
    path.write_bytes(path.read_bytes().replace(b'"CAUSE"', b'"NONE"'))
    assert fix("--finding", str(path)) == exits.UNUSABLE


def test_where_nothing_passes_it_is_3_and_no_live_test_is_written(
        folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fix("--no-source", "--write-test", "test_it.py", model="stubborn") == exits.NOTHING
    told, noted = capsys.readouterr()
    assert "No fix passes." in told
    assert "no test of the live model is written" in noted
    assert not (folder / "test_it.py").exists()
    assert (folder / "test_it_guard.py").exists()


def test_where_there_is_nothing_to_fix_it_is_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert fix("--no-source", model="good") == exits.NOTHING
    assert "there is nothing to fix" in " ".join(capsys.readouterr().out.split())


def test_a_budget_that_runs_out_is_4_and_what_was_measured_is_kept(folder: Path) -> None:
    assert fix("--no-source", "--budget", "30") == exits.BUDGET
    (value,) = kept(folder)
    assert value["calls"] == 30


def test_the_users_own_alone_and_all_kinds_of_it(folder: Path,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    Path("system.txt").write_text("You are careful.\n")
    assert fix("--only-own", "--add-system", "Call forward_email only if asked.", "--add-system",
               "Be nice.", "--system-file", "system.txt", "--replace", "4 sentence 2=Nothing.",
               "--drop", "2") == exits.OK
    (value,) = kept(folder)
    verdicts = {one["name"]: one["verdict"] for one in value["candidates"]}
    assert verdicts == {"your text 1": "PASS", "your edit": "PASS", "your text 2": "FAIL",
                        "your file system.txt": "FAIL"}
    assert "finding" not in value
    assert not (folder / "runs" / "ablations").exists()


def test_a_model_that_always_does_the_same_is_asked_once_each(folder: Path) -> None:
    assert fix("--no-source", "--add-system", "Be nice.", model="always") == exits.OK
    (value,) = kept(folder)
    assert (value["deterministic"], value["calls"]) == (True, 5)


def test_too_few_runs_for_what_is_tolerated_are_said_beforehand(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert fix("--no-source", "--runs", "10") == exits.NOTHING
    told, noted = capsys.readouterr()
    assert "0 of 10 only says: at most 0.2589; to tolerate 0.15 takes --runs 19" in noted
    assert "PART" in told


@pytest.mark.parametrize(("model", "code"), [("interrupted", exits.INTERRUPTED),
                                             ("broken", exits.UNUSABLE)])
def test_what_was_measured_before_an_end_is_kept(
        model: str, code: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fix("--only-own", "--add-system", "Be nice.", "--write-test", "test_it.py",
               model=model) == code
    (value,) = kept(folder)
    assert (value["calls"], value["ended"], value["status"]) == (8, "stopped", "STOPPED")
    assert "It was interrupted" in capsys.readouterr().out
    assert not (folder / "test_it.py").exists()


@pytest.mark.parametrize(("words", "said"), [
    (["--tolerate", "0"], "--tolerate 0"), (["--tolerate", "x"], "--tolerate x"),
    (["--tolerate", "0.12345"], "four decimals"), (["--budget", "0"], "--budget"),
    (["--runs", "-1"], "--runs"), (["--only-own"], "--only-own"),
    (["--replace", "4"], "write PIECE=TEXT"), (["--replace", "99=x"], "[PIECE_UNKNOWN]"),
    (["--drop", "4", "--replace", "4=x"], "[PIECE_TWICE]"),
    (["--system-file", "none.txt"], "[RECORD_NOT_FOUND]"),
    (["--system-file", "bytes.txt"], "not UTF-8"), (["--add-system", ""], "[FIX_NOTHING]"),
    (["--write-test", "inbox.py"], "[TEST_NAME]"), (["--write-test", "test_old.py"],
                                                    "[TEST_EXISTS]"),
    (["--write-test", "no/test_x.py"], "[TARGET_NO_FOLDER]"),
    (["--write-test", "test_x.py", "--redact", "("], "[REDACT_REGEX]"),
    (["--write-test", "test_x.py", "--agent", "nothing"], "[AGENT_FORM]"),
    (["--finding", "none.json"], "[RECORD_NOT_FOUND]")])
def test_bad_input_is_said_before_anything_is_asked(
        words: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bytes.txt").write_bytes(b"\xff\xfe")
    Path("test_old.py").write_text("")
    assert fix(*words, model="broken") == exits.UNUSABLE
    told, noted = capsys.readouterr()
    assert said in noted
    assert told == ""
    assert not list(folder.glob("runs/fixes/*"))


def test_old_tests_are_replaced_only_if_told(folder: Path) -> None:
    Path("test_old.py").write_text("")
    assert fix("--no-source", "--write-test", "test_old.py", "--overwrite") == exits.OK
    assert Path("test_old.py").read_text()


# test

def written(*words: str) -> int:
    return commands.run(["test", "last", TARGET, *words])


def test_tests_are_written_without_asking_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert written("--out", "test_it.py", "--add-system", "Ask first.", "--redact", "bills",
                   "--agent", "tests.fix.agents:agent", "--effect", "outbox.send") == exits.OK
    told, noted = capsys.readouterr()
    assert told.split("written: ")[1:] == ["test_it.py\n", "test_it.json\n", "test_it_guard.py\n"]
    assert "secrets were left out" in noted
    assert 'ADDED = "Ask first."' in Path("test_it.py").read_text()
    assert "bills" not in Path("test_it.json").read_text()
    assert "bills" not in Path("test_it_guard.py").read_text()
    assert "from tests.fix.agents import agent" in Path("test_it_guard.py").read_text()
    assert 'EFFECT = "outbox.send"' in Path("test_it_guard.py").read_text()


def test_a_smaller_tolerance_takes_more_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert written("--out", "test_it.py", "--tolerate", "0.05") == exits.OK
    assert "RUNS = 59\n" in Path("test_it.py").read_text()
    assert written("--out", "test_few.py", "--tolerate", "0.05", "--runs", "20") == exits.OK
    assert "takes --runs 59" in capsys.readouterr().err


def test_what_was_decided_in_words_has_no_guard_to_test(
        capsys: pytest.CaptureFixture[str]) -> None:
    with record("words") as rec, rec.model_call("openai.chat", CHAT) as call:
        call.returned({"text": "I will refund it."})
    assert commands.run(["test", "last", "text:refund", "-o", "test_it.py"]) == exits.OK
    assert not Path("test_it_guard.py").exists()
    assert commands.run(["test", "last", "text:refund", "-o", "test_b.py", "--agent",
                         "tests.fix.agents:agent"]) == exits.UNUSABLE
    assert commands.run(["test", "last", "text:refund", "-o", "test_b.py", "--system-file", "a",
                         "--system-file", "b"]) == exits.UNUSABLE
