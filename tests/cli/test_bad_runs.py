"""Run files and traces that are no good, given to every command that reads them: one clear line
with what to do, exit 2, and nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.record.run_writer import RunWriter

Change = Callable[[list[bytes]], bytes]


def run_lines() -> list[bytes]:
    """A good run of two requests and a tool, as lines; each request repeats the one before."""
    made: list[bytes] = []
    writer = RunWriter(made.append)
    writer.start("inbox")
    messages: list[dict[str, Any]] = []
    for number in (1, 2):
        messages = [*messages, {"role": "user", "content": f"Hello {number}, " + "a word " * 9}]
        writer.model_called(f"m{number}", "openai.chat", {"model": "x", "messages": messages})
        writer.model_responded(f"m{number}", {"text": "Ho", "tool_calls": [
            {"id": "c", "name": "look", "arguments": {}}]})
    writer.event("tool_started", call="t1", tool="look", arguments={})
    writer.event("tool_finished", call="t1", output=None)
    writer.finish("completed")
    return b"".join(made).splitlines(keepends=True)


LINES = run_lines()
GOOD = b"".join(LINES)
#: The number of the line that the cases below put before the last one.
EXTRA = len(LINES)


def with_line(line: bytes | dict[str, Any]) -> bytes:
    """The run with one more line before its last."""
    text = line if isinstance(line, bytes) else json.dumps({"seq": 90, **line}).encode()
    last = LINES[-1].replace(b'"seq":7', b'"seq":99')
    return b"".join([*LINES[:-1], text, b"\n", last])


def asked(**fields: Any) -> dict[str, Any]:
    return {"kind": "model_called", "call": "m9", "dialect": "openai.chat", "body": {}, **fields}


def answered(decision: Any) -> dict[str, Any]:
    return {"kind": "model_responded", "call": "m9", "decision": decision}


def nested(levels: int) -> bytes:
    return b'{"item":90,"value":' + b"[" * levels + b"]" * levels + b"}"


#: what the file is -> its bytes, the line that is named (0: none), and what is said of it
LINE_BY_LINE: dict[str, tuple[bytes, str]] = {
    "a corrupt line": (with_line(b"{oops"), "not JSON"),
    "two values in a line": (with_line(b'{"item":90,"value":1}{"item":91}'), "Extra data"),
    "a value over two lines": (with_line(b'{"item":90,"value":[1,\n2]}'), "not JSON"),
    "null": (with_line(b"null"), "expected a table, found null"),
    "a list": (with_line(b"[1]"), "expected a table, found a list"),
    "a text for a number": (with_line({"kind": "claim", "seq": "a"}), "seq: expected a whole"),
    "a list for a table": (with_line(asked(body=[])), "body: expected a table"),
    "a number for a text": (with_line(asked(call=9)), "call: expected a text, found 9"),
    "true for a number": (with_line(b'{"item":true,"value":1}'), "expected a whole number"),
    "a text for an id": (with_line(b'{"item":"90","value":1}'), "expected a whole number"),
    "a negative count": (with_line(b'{"list":90,"items":[],"after":0,"keep":-1}'), "keep"),
    "an item twice": (with_line(b'{"item":0,"value":1}'), "item 0 stands twice"),
    "a call twice": (with_line(asked(call="m1")), "'m1' stands twice"),
    "an event twice": (with_line(LINES[-2]), "seq 6 comes after seq 6"),
    "no UTF-8": (with_line(b'{"item":90,"value":"\xff"}'), "not UTF-8"),
    "a missing base": (with_line(b'{"list":90,"items":[],"after":66}'), "begins with list 66"),
    "missing content": (with_line(asked(body={"messages": None}, lists={"messages": 66})),
                        "list 66"),
    "an unknown event": (with_line({"kind": "model_caled"}), "did you mean 'model_called'"),
    "an event of no name": (with_line({"kind": 7}), "events: run_started, model_called"),
    "an unknown dialect": (with_line(asked(dialect="openai.chta")), "did you mean 'openai.chat'"),
    "NaN": (with_line(b'{"item":90,"value":NaN}'), "NaN is no number of JSON"),
    "Infinity": (with_line(b'{"item":90,"value":-Infinity}'), "-Infinity is no number"),
    "too great a number": (with_line(b'{"item":90,"value":1e999}'), "greater than any number"),
    "too long a number": (with_line(b'{"item":90,"value":' + b"9" * 5000 + b"}"), "more digits"),
    "deep nesting": (with_line(nested(100_000)), "too deep"),
    "nesting as deep as Python": (with_line(nested(900)), "too deep (more than 128 levels)"),
    "a raw control character": (with_line(b'{"item":90,"value":"\0"}'), "not JSON"),
}
ODD_DECISIONS: list[tuple[Any, str]] = [
    ({}, "text is missing"), ({"text": 5}, "text: expected a text"),
    ({"text": "", "tool_calls": {}}, "tool_calls: expected a list"),
    ({"text": "", "tool_calls": [7]}, "not only tables"),
    ({"text": "", "tool_calls": [{"id": "", "name": None, "arguments": 1}]}, "name: expected"),
    ({"text": "", "tool_calls": [{"id": "", "name": "x"}]}, "arguments is missing")]
WHOLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"), "blank": (b" \n\n", "empty"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "looks like UTF-16"),
    "UTF-16 without a mark": (GOOD.decode().encode("utf-16-le"), "looks like UTF-16"),
    "UTF-32": (GOOD.decode().encode("utf-32"), "looks like UTF-16"),
    "a byte order mark": (b"\xef\xbb\xbf" + GOOD, "byte order mark"),
    "plain text": (b"Hello,\nthis is me.\n", ":1: not JSON"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not UTF-8"),
    "one huge line": (b"x" * 5_000_000, ":1: not JSON"),
    "a newer version": (GOOD.replace(b"run/1", b"run/2"), "upgrade this one"),
}
READERS = (["show"], ["show", "last"], ["show", "--json"], ["import"])


def refused(words: list[str], path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says of a file that it refuses; nothing is written."""
    command, *rest = words
    output = path.with_name("written.jsonl")
    more = ["-o", str(output)] if command == "import" else rest
    assert commands.run([command, str(path), *more]) == exits.UNUSABLE
    said = capsys.readouterr()
    assert said.out == ""
    assert not output.exists()
    (line,) = said.err.splitlines()
    assert line.startswith(f"error: {path}")
    assert " (" in line  # what to do
    return line


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("name", LINE_BY_LINE)
def test_a_bad_line_is_named_with_file_and_line(name: str, words: list[str], tmp_path: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    data, said = LINE_BY_LINE[name]
    path = tmp_path / "run.jsonl"
    path.write_bytes(data)
    line = refused(words, path, capsys)
    assert f"{path}:{EXTRA}: " in line
    assert said in line
    assert "--skip-bad-lines" in line
    assert path.read_bytes() == data


@pytest.mark.parametrize("name", LINE_BY_LINE)
def test_the_rest_of_a_run_is_read_without_the_bad_line(
        name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, written = tmp_path / "run.jsonl", tmp_path / "written.jsonl"
    path.write_bytes(LINE_BY_LINE[name][0])
    assert commands.run(["show", str(path), "1", "--skip-bad-lines", "--json"]) == exits.OK
    shown, noted = capsys.readouterr()
    assert json.loads(shown)["body"]["messages"][0]["content"].startswith("Hello 1")
    if "missing" in name:  # its line is kept; a request that needs what is not there says so
        assert noted == ""
        return
    assert f"{path}:{EXTRA}: left out: " in noted
    assert commands.run(["import", str(path), "-o", str(written), "--skip-bad-lines"]) == exits.OK
    assert written.read_bytes().count(b'"kind":"model_called"') == 2


@pytest.mark.parametrize(("decision", "said"), ODD_DECISIONS)
def test_a_decision_of_another_form_is_named(decision: Any, said: str, tmp_path: Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(with_line(json.dumps({"seq": 80, **asked()}).encode() + b"\n"
                               + json.dumps({"seq": 81, **answered(decision)}).encode()))
    line = refused(["show"], path, capsys)
    assert f"{path}:{EXTRA + 1}: " in line
    assert said in line


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("name", WHOLE)
def test_what_is_no_run_is_refused_in_one_line(name: str, words: list[str], tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    data, said = WHOLE[name]
    path = tmp_path / "run.jsonl"
    path.write_bytes(data)
    assert said in refused(words, path, capsys)


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize(("make", "said"), [
    (lambda path: None, "no such file"), (Path.mkdir, "is a directory"),
    (lambda path: path.symlink_to(path), "symbolic links"),
    pytest.param(os.devnull, "is a device", marks=pytest.mark.skipif(
        os.name == "nt", reason="devices of POSIX")),
    pytest.param(lambda path: os.mkfifo(path), "is a named pipe", marks=pytest.mark.skipif(
        not hasattr(os, "mkfifo"), reason="needs named pipes"))],
    ids=["missing", "directory", "link to itself", "device", "pipe"])
def test_what_is_no_file_is_refused_at_once(make: Any, said: str, words: list[str],
                                            tmp_path: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.jsonl"
    if isinstance(make, str):
        path.symlink_to(make)
    else:
        make(path)
    assert said in refused(words, path, capsys)


def test_a_last_line_that_was_cut_off_is_left_out_and_said_by_all(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, written = tmp_path / "run.jsonl", tmp_path / "written.jsonl"
    path.write_bytes(GOOD[:-9])
    for words in (["show", str(path)], ["import", str(path), "-o", str(written)]):
        assert commands.run(words) == exits.OK
        assert f"note: {path}:{len(LINES)}: the last line is cut off" in capsys.readouterr().err
    assert b'"kind":"tool_finished"' in written.read_bytes()


@pytest.mark.parametrize("change", [
    lambda data: data.replace(b"\n", b"\r\n"), lambda data: data + b"\n\n \n",
    lambda data: data.replace(b"Hello 2", b"\\ud83d \\u0000 Hello 2"),
    lambda data: data.replace(b'"name":"inbox"', b'"name":"inbox","clock":{"at":1e300}'),
    lambda data: data.replace(b'"name":"inbox"', b'"name":"inbox","clock":{"at":"now"}'),
    lambda data: data.replace(b"a word", b"a word" * 10_000)],
    ids=["Windows line ends", "empty lines", "half a surrogate pair", "a time without a date",
         "a time that is none", "huge lines"])
def test_what_is_odd_and_no_error_is_shown_and_imported(
        change: Callable[[bytes], bytes], tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    path, written = tmp_path / "run.jsonl", tmp_path / "written.jsonl"
    path.write_bytes(change(GOOD))
    for words in (["show", str(path)], ["show", str(path), "2"], ["show", str(path), "--json"],
                  ["import", str(path), "-o", str(written)], ["show", str(written), "2"]):
        assert commands.run(words) == exits.OK
        assert capsys.readouterr().err == ""


def test_a_request_that_its_api_must_refuse_is_shown(tmp_path: Path,
                                                     capsys: pytest.CaptureFixture[str]) -> None:
    """It was recorded because it was sent; that it is wrong may be the very thing to see."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(with_line(asked(body={
        "messages": [5, None, {"role": 5, "content": {"a": 1}, "tool_calls": [7, {"function": 3}]}],
        "tools": [3, {"function": "x"}], "model": ["x"]})))
    assert commands.run(["show", str(path), "last"]) == exits.OK
    assert "no reply was recorded" in capsys.readouterr().out


def test_a_run_that_grows_while_it_is_read_is_used_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(LINES[:-1]))
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab") as file:
            number = 100
            while not stop.is_set():
                line = {"seq": number, "kind": "claim", "text": "x" * 5000}
                file.write(json.dumps(line).encode() + b"\n")
                number += 1

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        codes = [commands.run(["show", str(path), "1"]) for _ in range(5)]
    finally:
        stop.set()
        thread.join()
    assert codes == [exits.OK] * 5


@pytest.mark.parametrize("words", [["show", "run.jsonl"], ["show", "run.jsonl", "1"],
                                   ["show", "run.jsonl", "1", "--json"], ["runs"],
                                   ["import", "run.jsonl"]], ids=" ".join)
def test_a_terminal_that_knows_no_unicode_breaks_nothing(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_bytes(
        GOOD.replace(b"Hello 1", "Grüße \U0001f600".encode()).replace(b"inbox", "Büro".encode()))
    done = subprocess.run(
        [sys.executable, "-m", "agentrunproof", *words], cwd=tmp_path, capture_output=True,
        check=False, env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii",
                          "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert (done.returncode, done.stderr) == (exits.OK, b"")
    assert done.stdout.isascii()
    if "--json" in words:
        body = json.loads(done.stdout)["body"]
        assert body["messages"][0]["content"].startswith("Grüße \U0001f600")


def test_a_folder_that_cannot_be_written_to_is_named(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.jsonl").write_bytes(GOOD)
    (tmp_path / "file").touch()
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "file" / "runs"))
    assert commands.run(["import", str(tmp_path / "run.jsonl")]) == exits.UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / 'file' / 'runs'}: not a directory" in line
    assert "-o" in line
    assert "AGENTRUNPROOF_RUNS" in line


def test_a_disk_that_is_full_leaves_no_part_of_a_run(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    (tmp_path / "run.jsonl").write_bytes(GOOD)
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(os, "write", full)
    assert commands.run(["import", str(tmp_path / "run.jsonl")]) == exits.UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    assert "no space left on device" in line
    assert list((tmp_path / "runs").glob("*.jsonl")) == []


def test_runs_that_are_no_good_are_listed_with_what_is_wrong(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    for name, (data, _) in WHOLE.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    (tmp_path / "whole.jsonl").write_bytes(GOOD)
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path))
    assert commands.run(["runs", "--json"]) == exits.OK
    rows = json.loads(capsys.readouterr().out)
    assert {row["run"] for row in rows if "error" in row} == set(WHOLE)
    assert [row["model_calls"] for row in rows if "error" not in row] == [2]
