"""``runs`` and ``show``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.recorders import record

CHAT = {"model": "gpt", "temperature": 0.5, "messages": [
    {"role": "system", "content": "Be good."},
    {"role": "user", "content": "Read this: " + "word " * 100 + "\x1b[31mred\x07"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a result"}]}],
    "tools": [{"type": "function", "function": {"name": "look", "description": "Looks."}}]}
MESSAGES = {"model": "claude", "system": "Be good.", "messages": [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look",
                                       "input": {"q": 1}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1",
                                  "content": "a result"}]}],
    "tools": [{"name": "look", "description": "Looks.", "input_schema": {}}]}
RESPONSES = {"model": "gpt", "instructions": "Be good.", "input": [
    {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "a result"}],
    "tools": [{"type": "function", "name": "look", "description": "Looks."}]}


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorded run with a call of each dialect, one that failed and one without an answer."""
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    with record("inbox") as rec:
        for dialect, body in (("openai.chat", CHAT), ("anthropic.messages", MESSAGES),
                              ("openai.responses", RESPONSES)):
            with rec.agent("reader"), rec.model_call(dialect, body) as call:
                call.returned({"tool_calls": [{"name": "look", "arguments": {"q": 1}}],
                               "text": "I will look."})
        with rec.tool_call("look", {"q": 1}) as tool:
            tool.returned({"found": "it"})
        with rec.model_call("openai.chat", {"messages": []}) as call:
            call.failed({"type": "HTTP 500", "message": "overloaded"})
        rec.model_call("openai.chat", {"messages": []})
    assert rec.path is not None
    return rec.path


def out(capsys: pytest.CaptureFixture[str], *words: str, code: int = exits.OK) -> str:
    assert commands.run(words) == code
    read = capsys.readouterr()
    return read.out if code == exits.OK else read.err


def test_runs_are_listed(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = out(capsys, "runs")
    assert listed.splitlines()[0] == run.stem
    assert "completed  5 model calls" in listed
    (row,) = json.loads(out(capsys, "runs", "--json"))
    assert (row["run"], row["name"], row["state"], row["model_calls"]) == (
        run.stem, "inbox", "completed", 5)


def test_a_run_that_cannot_be_read_does_not_hide_the_others(
        run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run.parent / "broken.jsonl").write_bytes(b"\xff\xfeno")
    listed = out(capsys, "runs")
    assert "unreadable: " in listed
    assert "5 model calls" in listed


def test_no_runs_are_no_error(capsys: pytest.CaptureFixture[str], tmp_path: Path,
                              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "none"))
    assert out(capsys, "runs").startswith("no recorded runs in ")
    assert json.loads(out(capsys, "runs", "--json")) == []


def test_a_run_is_shown_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    shown = out(capsys, "show", "last")
    for said in ("inbox", "m1     reader  gpt", '-> look {"q": 1}', "says I will look.",
                 't1     look {"q": 1}  (asked by m3)', '= {"found": "it"}',
                 "failed: HTTP 500: overloaded"):
        assert said in shown
    assert max(map(len, shown.splitlines())) <= 80
    told = json.loads(out(capsys, "show", "inbox", "--json"))
    assert [call["state"] for call in told["calls"]] == ["answered"] * 3 + ["failed", "open"]


@pytest.mark.parametrize("call", ["1", "m2", "m3"])
def test_a_call_of_every_dialect_is_shown_with_all_it_holds(
        call: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = out(capsys, "show", "last", call)
    for said in ("system", "Be good.", "user", "-> look", "c1", "a result", "tool look", "Looks.",
                 '=> the model\n  -> look {"q": 1}\n  I will look.'):
        assert said in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown
    assert "\x07" not in shown
    told = json.loads(out(capsys, "show", "last", call, "--json"))
    assert told["body"] == {"1": CHAT, "m2": MESSAGES, "m3": RESPONSES}[call]
    assert told["decision"]["text"] == "I will look."


def test_calls_without_an_answer_say_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert "failed: HTTP 500: overloaded" in out(capsys, "show", "last", "4")
    assert "no reply was recorded" in out(capsys, "show", "last", "last")


def test_bad_lines_are_named_and_left_out_on_demand(run: Path,
                                                    capsys: pytest.CaptureFixture[str]) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join([*lines[:5], b"oops\n", *lines[5:]]))
    said = out(capsys, "show", "last", code=exits.UNUSABLE)
    assert said == (f"error: {run}:6: not JSON: Expecting value at column 1 "
                    "(--skip-bad-lines leaves such lines out) [RUN_SYNTAX]\n")
    assert commands.run(["show", "last", "--skip-bad-lines"]) == exits.OK
    shown, noted = capsys.readouterr()
    assert "5 model calls" in shown
    assert f"note: {run}:6: left out" in noted


@pytest.mark.parametrize(("words", "code"), [
    (["show", "nothing"], "RUN_NOT_FOUND"), (["show", "last", "m77"], "RUN_CALL"),
    (["show", "./nothing.jsonl"], "RECORD_NOT_FOUND"), (["show", "."], "RECORD_NOT_A_FILE")])
def test_what_is_not_there_is_one_line_and_2(words: list[str], code: str,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    said = out(capsys, *words, code=exits.UNUSABLE)
    assert f"[{code}]" in said
    assert len(said.splitlines()) == 1
