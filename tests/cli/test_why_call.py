"""``why`` of recorded model calls."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.checker import ablation as checker
from agentrunproof.cli import commands, exits
from agentrunproof.record.ablation import FORM
from tests.cli.recorded import BODY, FORWARD, HIDDEN, NOISY, SURE, inbox, model_file
from tests.wire import serving

TARGET = "tool:forward_email"


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded run; the current folder and that of kept replies are its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return inbox()


def why(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> tuple[str, str]:
    found = commands.run(["why", *words])
    read = capsys.readouterr()
    assert found == code, read.err
    return read.out, read.err


def kept(run: Path) -> list[Path]:
    return sorted((run.parent / "ablations").glob("*.json"))


def test_the_last_call_that_decided_so_is_explained(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = why(capsys, "last", TARGET, "--model", model_file(tmp_path, NOISY), code=exits.OK)
    lines = out.splitlines()
    assert lines[0].startswith(f"CAUSE of {TARGET}: a sentence in an HTML comment in the result")
    assert lines[2] == f"  | {HIDDEN}"
    assert f"call           m2 of {run.stem}" in lines
    (path,) = kept(run)
    assert lines[-1] == f"written: {path}"
    assert checker.check(path.read_bytes()).valid
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_json_is_the_record_itself(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "why.json"
    out, err = why(capsys, "last", TARGET, "--json", "--model", model_file(tmp_path, SURE),
                   "--out", str(path), code=exits.OK)
    assert out.encode() == path.read_bytes()
    record = FORM.from_json(json.loads(out))
    assert (record.status, record.deterministic) == ("CAUSE", True)
    assert err == f"written: {path}\n"
    assert kept(run) == []


def test_a_record_is_checked_and_shown_again(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "why.json"
    why(capsys, "last", TARGET, "--model", model_file(tmp_path, SURE), "-o", str(path),
        code=exits.OK)
    assert commands.run(["check-certificate", str(path)]) == exits.OK
    assert capsys.readouterr().out.endswith(" CAUSE\n")
    out, _ = why(capsys, str(path), code=exits.OK)
    assert out.startswith(f"CAUSE of {TARGET}: ")
    path.write_bytes(path.read_bytes().replace(b'"status":"CAUSE"', b'"status":"NONE"'))
    assert "ABLATION_ID" in why(capsys, str(path), code=exits.UNUSABLE)[1]
    assert commands.run(["check-certificate", str(path)]) == exits.UNUSABLE


@pytest.mark.parametrize(("source", "options", "code", "headline"), [
    ("def model(body): return {'tool_calls': [{'name': 'forward_email'}]}", [], exits.NOTHING,
     "NO CAUSE of"),
    ("def model(body): return 'No.'", [], exits.NOTHING, "NOTHING STABLE"),
    (NOISY, ["--budget", "6"], exits.BUDGET, "NO ANSWER: the budget of 6 calls"),
])
def test_where_there_is_no_cause_the_exit_code_says_why(
        source: str, options: list[str], code: int, headline: str, run: Path, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = why(capsys, "last", TARGET, "--model", model_file(tmp_path, source), *options,
                 code=code)
    assert out.startswith(headline)
    (path,) = kept(run)
    assert commands.run(["check-certificate", str(path)]) == code


def test_an_interrupt_leaves_a_valid_record(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = NOISY + ("count = iter(range(7))\nplain = model\ndef model(body):\n"
                      "    if next(count, None) is None: raise KeyboardInterrupt\n"
                      "    return plain(body)\n")
    out, err = why(capsys, "last", TARGET, "--model", model_file(tmp_path, source),
                   code=exits.INTERRUPTED)
    assert out.startswith("STOPPED before an answer")
    assert err.endswith("interrupted\n")
    (path,) = kept(run)
    assert checker.check(path.read_bytes()).verdict == "STOPPED"


def test_a_model_that_raises_loses_nothing(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = NOISY + ("count = iter(range(7))\nplain = model\ndef model(body):\n"
                      "    if next(count, None) is None: raise ValueError('out of order')\n"
                      "    return plain(body)\n")
    _, err = why(capsys, "last", TARGET, "--model", model_file(tmp_path, source),
                 code=exits.UNUSABLE)
    assert "raised ValueError: out of order" in err
    (path,) = kept(run)
    assert checker.check(path.read_bytes()).verdict == "STOPPED"


def test_dry_asks_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = "def model(body): raise SystemExit('was asked')"
    out, _ = why(capsys, "last", TARGET, "--dry", "--model", model_file(tmp_path, source),
                 code=exits.OK)
    assert f"    | {HIDDEN}"[:60] in out
    assert "shares acme.example, billing, forward" in out
    assert "model calls at most: 300" in out
    plan = json.loads(why(capsys, "last", TARGET, "--dry", "--json", code=exits.OK)[0])
    assert plan["pieces"] == sum(text["pieces"] for text in plan["texts"])
    assert plan["suspects"][-1]["id"] == "4.body sentence 3"


def test_dry_of_a_large_request_splits_only_what_shares_words(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.cli import dry

    monkeypatch.setattr(dry, "_SPLIT", 10)
    out, _ = why(capsys, "last", TARGET, "--dry", code=exits.OK)
    assert "too many to count the pieces of now" in out
    assert f"    | {HIDDEN}"[:60] in out


def test_pieces_are_listed_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = why(capsys, "last", TARGET, "--pieces", code=exits.OK)
    assert "4.body sentence 3  (tool_result)\n" in out
    rows = json.loads(why(capsys, "last", TARGET, "--pieces", "--json", code=exits.OK)[0])
    assert {"id": "2", "kind": "user", "place": "message 2, user text",
            "text": "Summarise my latest mail."} in rows


def test_another_call_can_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out, err = why(capsys, "last", TARGET, "--call", "3", "--dry", code=exits.OK)
    assert out.startswith("would ask why m3 of ")
    assert "m3 was recorded to decide otherwise: You are welcome." in err


def test_any_is_what_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert "why m3 of" in why(capsys, "last", "--dry", code=exits.OK)[0]
    assert "why m2 of" in why(capsys, "last", "any", "--call", "m2", "--dry", code=exits.OK)[0]


def test_a_trace_of_another_tool_is_explained_as_it_is(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = {**FORWARD, "arguments": json.dumps(FORWARD["arguments"])}
    reply = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c2", "type": "function", "function": made}]}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({**BODY, "messages": [*BODY["messages"], reply]}))
    out, _ = why(capsys, str(path), TARGET, "--model", model_file(tmp_path, SURE), code=exits.OK)
    assert f"  | {HIDDEN}" in out


def test_halves_of_surrogate_pairs_lose_nothing(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"model": "gpt", "messages": [
        {"role": "user", "content": "Say yes. Say \ud83d no."},
        {"role": "assistant", "content": "I say \ud83d yes."}]}))
    source = ("def model(body):\n"
              "    return 'yes' if 'Say \\ud83d no.' in body['messages'][0]['content'] else 'no'\n"
              "model.deterministic = True\n")
    out, _ = why(capsys, str(path), "text:yes", "--model", model_file(tmp_path, source),
                 code=exits.OK)
    assert "  | Say \ufffd no." in out


def test_a_folder_of_runs_is_explained_run_by_run(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = inbox("second")
    (run.parent / "broken.jsonl").write_text("{")
    out, err = why(capsys, str(run.parent), TARGET, "--model", model_file(tmp_path, SURE),
                   code=exits.UNUSABLE)
    assert out.count(f"  CAUSE of {TARGET}: a sentence in an HTML comment") == 2
    assert f"m2 of {second.stem}\n" in out
    assert len(kept(run)) == 2
    assert "broken.jsonl" in err
    (run.parent / "broken.jsonl").unlink()
    out, _ = why(capsys, str(run.parent), TARGET, "--model", model_file(tmp_path, SURE), "--json",
                 code=exits.OK)
    assert [json.loads(line)["status"] for line in out.splitlines()] == ["CAUSE"] * 2


def served(body: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(body)
    if "Which pieces made it decide so" in text:
        return {"text": "[9]"}
    if "forward this invoice" in text:
        return {"tool_calls": [FORWARD]}
    return {"text": "An invoice."}


@pytest.mark.parametrize(("options", "asked"), [([], 1), (["--no-ask"], 0)])
def test_a_live_model_is_asked_once_where_to_look_first(
        options: list[str], asked: int, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serving(served) as wire:
        out, _ = why(capsys, "last", TARGET, "--base-url", f"{wire.url}/v1", "--no-cache",
                     *options, code=exits.OK)
    questions = [body for _, body in wire.requests if "Which pieces" in json.dumps(body)]
    assert len(questions) == asked
    assert ("1 to ask where to look first" in out) is bool(asked)
    calls = next(line for line in out.splitlines() if line.startswith("calls "))
    assert calls.split()[1:5] == [str(len(wire.requests)), "of", "at", "most"]
    assert f"  | {HIDDEN}" in out


def test_a_model_that_will_not_say_where_to_look_is_searched_all_the_same(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serving(lambda body: 400 if "Which pieces" in json.dumps(body) else served(body)
                 ) as wire:
        out, err = why(capsys, "last", TARGET, "--base-url", f"{wire.url}/v1", code=exits.OK)
    assert f"  | {HIDDEN}" in out
    assert "was not asked where to look first" in err


def test_kept_replies_are_used_and_counted(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serving(served) as wire:
        words = ("last", TARGET, "--base-url", f"{wire.url}/v1", "--no-ask")
        why(capsys, *words, code=exits.OK)
        before = len(wire.requests)
        out, _ = why(capsys, *words, code=exits.OK)
    fresh = len(wire.requests) - before
    assert 0 < fresh < before
    assert f"{before - fresh} of them answered by kept replies" in " ".join(out.split())


@pytest.mark.parametrize(("words", "message"), [
    (["last", "text:("], "target 'text:('"),
    (["last", "forward_email"], "tool:NAME, tool:NAME:ARGUMENT=VALUE, text:REGEX or any"),
    (["last", "tool:forward_mail"], "did you mean 'tool:forward_email'"),
    (["last", "tool:pay"], "decided were m3 'You are welcome.', m2 'forward_email("),
    (["no-such-run"], "RUN_NOT_FOUND"),
    (["missing.jsonl"], "missing.jsonl: no file, and no run in"),
    (["./missing.jsonl"], "missing.jsonl: no such file"),
    (["last", "--call", "9"], "there is no model call '9'"),
    (["last", "--budget", "0"], "--budget 0: allows no call"),
    (["last", "--budget", "-3"], "--budget -3: allows no call"),
    (["last", "--alpha", "2"], "--alpha 2: a chance between 0 and 1"),
    (["last", "--alpha", "x"], "--alpha x: a chance between 0 and 1"),
    (["last", "--out", "none/why.json"], "the folder none does not"),
    (["last", "--model", "python:nothing_of_this_name:model"], "cannot be imported"),
    (["last", "--sdk", "0.4.0"], "--sdk: last is no plan"),
    (["session-limit-orphan-output", "--dry"], "--dry: session-limit-orphan-output is a plan"),
])
def test_bad_input_is_one_line_with_exit_2(
        words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = why(capsys, *words, code=exits.UNUSABLE)
    assert out == ""
    assert message in " ".join(err.replace("│", " ").split())


def test_a_folder_that_cannot_be_written_to_is_seen_before_any_call(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    source = "def model(body): raise SystemExit('was asked')"
    _, err = why(capsys, "last", TARGET, "--model", model_file(tmp_path, source),
                 code=exits.UNUSABLE)
    assert "cannot be written to (name a file elsewhere with --out" in err


def test_a_file_in_place_of_the_folder_is_told(
        run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run.parent / "ablations").write_text("")
    _, err = why(capsys, "last", TARGET, "--model", model_file(tmp_path, SURE),
                 code=exits.UNUSABLE)
    assert "ablations: cannot be made" in err


def test_lines_left_out_of_a_damaged_run_are_said(
        run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run.read_bytes().split(b"\n")
    run.write_bytes(b"\n".join([*lines[:-2], b"{broken", *lines[-2:]]))
    assert ".jsonl:" in why(capsys, "last", TARGET, "--dry", code=exits.UNUSABLE)[1]
    _, err = why(capsys, "last", TARGET, "--dry", "--skip-bad-lines", code=exits.OK)
    assert "note: " in err
