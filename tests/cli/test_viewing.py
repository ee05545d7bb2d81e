"""``view``."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.recorders import record
from tests.report.test_page import data_of

MODEL = '''
def model(body):
    orders = "Pay it now." in str(body)
    return {"text": "" if orders else "Hm.", "tool_calls": [{"name": "pay"}] if orders else []}
model.deterministic = True
'''


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run in which a model pays, in a folder of its own with the model's file."""
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "payer.py").write_text(MODEL)
    with record("payer") as rec:
        body = {"model": "gpt", "messages": [
            {"role": "user", "content": "Hello. Pay it now. Bye."}]}
        with rec.model_call("openai.chat", body) as call:
            call.returned({"tool_calls": [{"name": "pay"}], "text": ""})
    assert rec.path is not None
    return rec.path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that were opened in the browser."""
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: addresses.append(url) or True)
    return addresses


def found(page: Path) -> Any:
    return [[claim["quotes"][0][1] for claim in one["claims"]]
            for one in data_of(page.read_text("utf-8"))["calls"][0]["findings"]]


def test_the_page_is_written_beside_the_run_and_opened(
        run: Path, opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["view"]) == exits.OK
    page = run.with_suffix(".view.html")
    assert capsys.readouterr().out == f"{page}\n"
    assert opened == [page.as_uri()]
    assert page.stat().st_mode & 0o777 == 0o600
    assert data_of(page.read_text("utf-8"))["name"] == "payer"
    assert commands.run(["runs"]) == exits.OK
    assert capsys.readouterr().out.count("payer") == 1


def test_it_is_written_elsewhere_and_not_opened_when_told_so(
        run: Path, opened: list[str], tmp_path: Path) -> None:
    assert commands.run(["view", str(run), "-o", str(tmp_path / "a.html"), "--no-open"]) == 0
    assert (tmp_path / "a.html").exists()
    assert opened == []


def test_what_why_found_is_on_the_page(run: Path, opened: list[str], tmp_path: Path) -> None:
    page = run.with_suffix(".view.html")
    assert commands.run(["why", "last", "tool:pay", "--model", "python:payer.py:model"]) == 0
    assert commands.run(["view"]) == exits.OK
    assert found(page) == [["Pay it now."]]
    (kept,) = (tmp_path / "runs" / "ablations").iterdir()
    named = kept.rename(tmp_path / "why.json")
    assert commands.run(["view"]) == exits.OK
    assert found(page) == []
    assert commands.run(["view", "--finding", str(named)]) == exits.OK
    assert found(page) == [["Pay it now."]]


def test_a_record_of_another_request_is_refused_if_named_and_left_out_if_kept(
        run: Path, opened: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["why", "last", "tool:pay", "--model", "python:payer.py:model"]) == 0
    (kept,) = (tmp_path / "runs" / "ablations").iterdir()
    run.write_bytes(run.read_bytes().replace(b"Bye.", b"So long."))
    assert commands.run(["view"]) == exits.OK
    assert found(run.with_suffix(".view.html")) == []
    capsys.readouterr()
    assert commands.run(["view", "--finding", str(kept)]) == exits.UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    assert "[FINDING_OTHER]" in line


def test_a_damaged_record_is_left_out_and_named(run: Path, opened: list[str], tmp_path: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "runs" / "ablations").mkdir()
    (tmp_path / "runs" / "ablations" / f"{run.stem}-m1-0123abcd.json").write_text("{")
    assert commands.run(["view"]) == exits.OK
    assert f"note: {run.stem}-m1-0123abcd.json is left out: " in capsys.readouterr().err


@pytest.mark.parametrize(("words", "code"), [
    (["nothing"], "RUN_NOT_FOUND"), (["last", "-o", "missing/a.html"], "TARGET_NO_FOLDER"),
    (["last", "-o", "."], "TARGET_NOT_A_FILE")])
def test_bad_input_is_one_line(run: Path, opened: list[str], words: list[str], code: str,
                               capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["view", *words]) == exits.UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"[{code}]")
    assert opened == []


def test_the_run_itself_is_never_overwritten(run: Path, opened: list[str],
                                             capsys: pytest.CaptureFixture[str]) -> None:
    before = run.read_bytes()
    assert commands.run(["view", "last", "-o", str(run)]) == exits.UNUSABLE
    assert "[VIEW_TARGET]" in capsys.readouterr().err
    assert run.read_bytes() == before


def test_where_no_browser_opens_that_is_said(run: Path, monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert commands.run(["view"]) == exits.OK
    assert "no browser could be opened" in capsys.readouterr().err
