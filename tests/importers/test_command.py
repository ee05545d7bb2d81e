"""``import``: what it prints and where it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.record import run_reader
from agentrunproof.runs import folder

SAMPLES = Path(__file__).parent / "samples"


def test_it_says_what_it_understood_and_what_it_left(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    assert commands.run(["import", str(SAMPLES / "genai_attributes.jsonl"), "-o", str(path)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "read as     otlp",
        "understood  2 model calls, 1 tool call, 5 messages",
        "other       agent",
        "kept as is  gen_ai.input.messages, gen_ai.provider.name x2, gen_ai.usage.input_tokens x2, "
        "kind x4, run: service.name",
        "left        message part blob",
        f"written     {path}"]
    assert said.err == "note: spans: GenAI 4\n"
    assert len(run_reader.read(path.read_bytes(), "x").calls()) == 2


def test_json_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    assert commands.run(["import", str(SAMPLES / "chat_conversation.json"), "-o", str(path),
                         "--json"]) == exits.OK
    said = json.loads(capsys.readouterr().out)
    assert said["understood"] == {"model_calls": 2, "tool_calls": 1, "messages": 5,
                                  "inferred_model_calls": 2, "unanswered_model_calls": 0,
                                  "other": {}}
    assert said["left"] == {"message after the last reply": 1}
    assert said["run"] == str(path)


def test_without_output_it_joins_the_recorded_runs(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path / "runs"))
    assert commands.run(["import", str(SAMPLES / "langfuse.json")]) == exits.OK
    assert commands.run(["show", "last", "1"]) == exits.OK
    assert "gpt-4o-mini" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_only_the_owner_may_read_what_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert commands.run(["import", str(SAMPLES / "chat_request.json"), "-o", str(path)]) == exits.OK
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_trace_itself_is_never_overwritten(tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes((SAMPLES / "chat_request.json").read_bytes())
    assert commands.run(["import", str(path), "-o", str(path)]) == exits.UNUSABLE
    assert "is the trace itself" in capsys.readouterr().err
    assert path.read_bytes() == (SAMPLES / "chat_request.json").read_bytes()
