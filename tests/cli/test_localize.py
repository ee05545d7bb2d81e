"""``localize``, ``check-localization`` and ``bench localize``, as users meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrunproof.cli.commands import run
from agentrunproof.record import certificate as records
from agentrunproof.record.events import make
from agentrunproof.record.run_writer import RunWriter
from tests.plans import certificate


def _written(path: Path, *, tool_fails: bool = True, outcome: str = "raised") -> Path:
    """A run that writes a config and then fails, or does not, on reading it."""
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("deploy")
    writer.model_called("m1", "openai.chat", {"model": "x", "messages": [
        {"role": "user", "content": "Deploy it; environment is production."}]})
    writer.model_responded("m1", {"tool_calls": [{
        "id": "c1", "name": "write_config",
        "arguments": {"path": "config.yaml", "environment": "staging"}}], "text": ""})
    writer.event("tool_started", call="t1", tool="write_config", asked_by="m1",
                 arguments={"path": "config.yaml", "environment": "staging"})
    writer.event("tool_finished", call="t1", output="written")
    writer.event("tool_started", call="t2", tool="pytest", arguments={"config": "config.yaml"})
    writer.event("tool_finished", call="t2", output={"exit_code": int(tool_fails)})
    writer.finish(outcome)
    path.write_bytes(b"".join(lines))
    return path


def test_the_onset_is_named_with_its_reasons_and_what_to_do_next(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _written(tmp_path / "run.jsonl")
    assert run(["localize", str(file)]) == 0
    told = capsys.readouterr().out
    words = " ".join(told.split())
    assert "Observed failure step 5 pytest exited with 1" in words
    assert "Suspected onset step 3 the model (answer): write_config" in words
    assert "step 5 (pytest) failed on 'config.yaml', last written by step 4" in words
    assert "environment is 'staging', the task says 'production'" in words
    assert f"test it agentrunproof why {file} 3" in words
    assert max(len(line) for line in told.splitlines() if str(file) not in line) <= 80


def test_a_run_that_went_well_yields_no_claim_unless_the_user_says_that_it_failed(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(_written(tmp_path / "run.jsonl", tool_fails=False, outcome="completed"))
    assert run(["localize", file]) == 3
    assert capsys.readouterr().out.startswith("No onset: no failure is seen in 6 steps\n")
    assert run(["localize", file, "--failed"]) == 0
    assert "Suspected onset" in capsys.readouterr().out


def test_the_record_is_printed_written_and_checked(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = str(_written(tmp_path / "run.jsonl")), tmp_path / "found.json"
    assert run(["localize", file, "--json", "--out", str(out)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(out.read_bytes())
    assert printed["suspects"][0]["step"] == 3
    assert run(["check-localization", str(out), "--trace", file]) == 0
    assert capsys.readouterr().out.startswith("VALID sha256:")
    out.write_bytes(out.read_bytes().replace(b'"step":3', b'"step":4'))
    assert run(["check-localization", str(out)]) == 2
    assert "INVALID LOCALIZATION_ID" in capsys.readouterr().out


def test_the_page_is_written_beside_the_answer_for_runs_and_certificates(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    assert run(["localize", str(_written(tmp_path / "run.jsonl")), "--html", str(page)]) == 0
    said = capsys.readouterr()
    assert "Suspected onset" in said.out
    assert f"written: {page}" in said.err
    assert "Suspected onset:" in page.read_text(encoding="utf-8")
    assert page.stat().st_mode & 0o077 == 0
    file = tmp_path / "certificate.json"
    file.write_bytes(records.to_bytes(certificate(
        make("run_started", agent="a"), make("run_finished", outcome="completed"),
        make("model_called", agent="a"))))
    assert run(["localize", str(file), "--html", str(page), "--json"]) == 3
    json.loads(capsys.readouterr().out)
    assert "No onset" in page.read_text(encoding="utf-8")
    assert run(["localize", str(file), "--html", str(tmp_path / "none" / "x.html")]) == 2
    assert "the folder" in capsys.readouterr().err


def test_neither_page_nor_record_replaces_the_run_or_each_other(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _written(tmp_path / "run.jsonl")
    before, other = file.read_bytes(), str(tmp_path / "other")
    for words in (["--html", str(file)], ["--out", str(file)], ["--out", other, "--html", other]):
        assert run(["localize", str(file), *words]) == 2
        assert "LOCALIZE_TARGET" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_a_chat_log_is_read_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"messages": [
        {"role": "user", "content": "Cancel order 77."},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "cancel_order", "arguments": '{"order": "78"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "cancelled"},
        {"role": "assistant", "content": "Order 77 is cancelled."}]}), encoding="utf-8")
    assert run(["localize", str(file)]) == 3
    assert run(["localize", str(file), "--failed", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))
    first = printed["suspects"][0]
    assert "state-change" in {term["name"] for term in first["terms"]}


@pytest.mark.parametrize(("content", "said"), [
    (b"", "IMPORT_EMPTY"), (b'{"messages": [', "IMPORT_SYNTAX"), (b"\x00\x01\x02\x03",
                                                                 "IMPORT_ENCODING"),
    (b'{"a": 1}', "IMPORT_FORMAT"),
    (b'{"seq":0,"kind":"run_started","schema":"agentrunproof/run/1","name":"x"}\n',
     "LOCALIZE_EMPTY"),
    (b'{"seq":0,"kind":"run_started","schema":"agentrunproof/run/1","name":"x"}\n'
     b'{"seq":0,"kind":"claim","text":"a"}\n', "RUN_DUPLICATE"),
    (b'{"schema":"agentrunproof/certificate/1"}', "RECORD_"),
])
def test_what_cannot_be_localized_is_refused_in_one_line(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(content)
    assert run(["localize", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error


@pytest.mark.parametrize(("content", "said"), [
    (b"\x1f\x8b\x08rest", "no text, but a gzip archive (unpack it first)"),
    (b"PK\x03\x04rest", "no text, but a ZIP archive"),
    (bytes(range(256)) * 8, "binary file"),
    (b"step,tool\n1,ls\n", "not JSON: Expecting value at column 1 (all formats"),
    (b'{"a": 1}', "run: its first line is no event (seq, kind); runopsy: "),
])
def test_what_is_no_trace_is_told_by_what_it_is(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, said: str) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(content)
    assert run(["localize", str(file)]) == 2
    assert said in capsys.readouterr().err


def test_of_several_recorded_runs_in_a_file_one_is_named(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = _written(tmp_path / "a.jsonl").read_bytes()
    file = tmp_path / "both.jsonl"
    file.write_bytes(first + first.replace(b'"name":"deploy"', b'"name":"again"'))
    for words in (["localize"], ["import"], ["why"], ["show"]):
        assert run([*words, str(file)]) == 2
        assert "holds 2 runs: deploy, again" in capsys.readouterr().err
    assert run(["localize", str(file), "--run", "again"]) == 0
    assert f"agentrunproof why {file} 3 --run again\n" in capsys.readouterr().out
    assert run(["why", str(file), "3", "--run", "again", "--dry"]) == 0
    assert "m1" in capsys.readouterr().out
    assert run(["why", str(file), "--from-localization", "--run", "again", "--dry"]) == 0
    assert run(["import", str(file), "--run", "again", "-o", str(tmp_path / "one.jsonl")]) == 0
    assert run(["localize", str(tmp_path / "one.jsonl")]) == 0


def test_a_failure_without_a_suspect_is_told_all_the_same(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(b"".join(_written(tmp_path / "r.jsonl", tool_fails=False).read_bytes()
                              .splitlines(keepends=True)[:-1]))
    assert run(["localize", str(file)]) == 3
    told = capsys.readouterr().out
    assert "no end of the run was recorded" in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize(("reward", "code"), [(0.0, 0), (1.0, 3)])
def test_a_trace_that_says_that_its_run_failed_needs_nobody_to_say_it(
        reward: float, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "episode.json"
    file.write_text(json.dumps({"reward": reward, "traj": [
        {"role": "user", "content": "Cancel order 77."},
        {"role": "assistant", "content": "Your order with the number 78 is cancelled now."},
        {"role": "user", "content": "###STOP###"}]}), encoding="utf-8")
    assert run(["localize", str(file)]) == code
    told = capsys.readouterr().out
    assert ("the run ended: failed" in told) == (code == 0)
    assert ("[index 1]" in told) == (code == 0)  # where the message stands in the file


def test_steps_are_told_by_what_their_trace_calls_them_too(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "events.jsonl", tmp_path / "page.html"
    file.write_text("".join(json.dumps({
        "run_id": "r", "sequence": number, "event_id": f"ev-{number}", "kind": "tool_call",
        "tool": {"name": "build", "status": "error" if number == 2 else "ok"}}) + "\n"
        for number in (1, 2)), encoding="utf-8")
    assert run(["localize", str(file), "--html", str(page)]) == 0
    assert "[event_id ev-2]" in capsys.readouterr().out
    assert "event_id ev-2" in page.read_text(encoding="utf-8")
    assert run(["localize", str(file), "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert [step["facts"]["source"] for step in steps if step["kind"] == "tool"] == [
        "event_id ev-1", "event_id ev-2"]


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["localize", "nowhere.json"]) == 2
    assert "nowhere.json" in capsys.readouterr().err


def test_a_certificate_is_looked_at_too(tmp_path: Path,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    events = [make("run_started", agent="a"), make("tool_started", tool="charge", call="c1"),
              make("tool_failed", tool="charge", call="c1", error={"message": "no money"}),
              make("run_finished", outcome="raised")]
    file = tmp_path / "certificate.json"
    file.write_bytes(records.to_bytes(certificate(*events)))
    assert run(["localize", str(file)]) == 0
    assert "charge failed: no money" in capsys.readouterr().out


def test_the_benchmark_prints_a_table_of_all_strategies(
        capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "localize", "--compare"]) == 0
    told = capsys.readouterr().out
    assert "runopsy_bench, detectable only: 18 went wrong, 1 healthy" in told
    assert told.count("earliest failing step") == 4
    assert max(map(len, told.splitlines())) <= 80


def test_the_benchmark_takes_other_sets_and_prints_json(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"id": "a", "onset": None, "messages": [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}) + "\n",
        encoding="utf-8")
    assert run(["bench", "localize", "--dataset", str(file), "--json"]) == 0
    row, = json.loads(capsys.readouterr().out)
    ours = row["scores"][-1]
    assert ours["top_1"]["rate"] == "not scored"
    assert ours["false_onsets"]["hits"] == "0"
    assert run(["bench", "localize", "--dataset", str(file)]) == 0
    assert "onset not scored" in capsys.readouterr().out
