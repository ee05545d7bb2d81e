"""``odds`` and ``rerun``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrunproof.cli import commands, exits
from tests.cli.recorded import NOISY, SURE, inbox, model_file

TARGET = "tool:forward_email"
CAUSE = "4.body sentence 3"


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTRUNPROOF_RUNS", str(tmp_path / "runs"))
    return inbox()


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = exits.OK) -> str:
    found = commands.run(words)
    read = capsys.readouterr()
    assert found == code, read.err
    return read.out if code != exits.UNUSABLE else read.err


def test_odds_counts_fresh_samples(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("odds", "last", TARGET, "--model", model_file(tmp_path, NOISY), "--runs", "30")
    table = json.loads(said(capsys, *words, "--json"))
    (samples,) = table["samples"]
    counted = {row["decision"]: (row["runs"], row["met"]) for row in samples["decisions"]}
    forwarded, met = counted['forward_email({"id": 7})']
    assert (samples["runs"], samples["hits"], met) == (30, forwarded, True)
    assert 20 <= forwarded < 30  # nine of ten
    assert counted["An invoice of 120 EUR."] == (30 - forwarded, False)
    text = said(capsys, *words)  # the same seed again
    assert f"unchanged  {forwarded} of 30 (" in text
    assert f"    {forwarded}  * forward_email(" in text


def test_what_a_model_prints_is_no_result(
        capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = model_file(tmp_path, "print('imported')\ndef model(body):\n    print('asked')\n"
                       "    return 'No.'")
    code = commands.run(["odds", "last", TARGET, "--model", model, "--runs", "3", "--json"])
    read = capsys.readouterr()
    assert code == exits.NOTHING
    assert json.loads(read.out)["samples"][0]["runs"] == 3
    assert read.err.split() == ["imported", "asked", "asked", "asked"]


def test_odds_of_what_is_never_decided_are_nothing(
        capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, "odds", "last", TARGET, "--model",
                model_file(tmp_path, "def model(body): return 'No.'"), code=exits.NOTHING)
    assert "unchanged  0 of 20 (0% to 17%) decided so" in text


def test_a_deterministic_model_is_asked_once(
        capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, "odds", "last", TARGET, "--model", model_file(tmp_path, SURE))
    assert "unchanged  1 of 1" in text
    assert "always answer the same" in text


def test_an_interrupt_tells_what_there_is(
        capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = ("count = iter(range(4))\ndef model(body):\n"
              "    if next(count, None) is None: raise KeyboardInterrupt\n    return 'No.'\n")
    text = said(capsys, "odds", "last", TARGET, "--model", model_file(tmp_path, source),
                code=exits.INTERRUPTED)
    assert "unchanged  0 of 4 (" in text
    assert "interrupted before all 20" in text


def test_a_dropped_piece_is_gone_and_shown_beside_the_unchanged_request(
        capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("rerun", "last", TARGET, "--model", model_file(tmp_path, NOISY), "--drop", CAUSE)
    text = said(capsys, *words, code=exits.NOTHING)
    assert "edited     0 of 10 (0% to 31%) decided so" in text
    both = json.loads(said(capsys, *words, "--beside", "--json"))["samples"]
    assert [(one["request"], one["hits"] > 5, one["runs"]) for one in both] == [
        ("unchanged", True, 10), ("edited", False, 10)]


def test_a_replaced_piece_says_the_new_text(
        capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    echo = "import json\ndef model(body): return json.loads(body['messages'][3]['content'])['body']"
    text = said(capsys, "rerun", "last", "text:Keep = it", "--model", model_file(tmp_path, echo),
                "--call", "m2", "--replace", f"{CAUSE}=Keep = it.", "--runs", "1")
    assert "edited     1 of 1" in text


@pytest.mark.parametrize(("words", "message"), [
    (["--drop", "4.body sentense 3"], "did you mean '4.body sentence 3'"),
    (["--replace", "2"], "is written PIECE=TEXT"),
    (["--replace", "2=a", "--replace", "2=b"], "'2' is replaced twice"),
    (["--drop", "2", "--replace", "2=b"], "both left out and replaced"),
    (["--runs", "0"], "--runs 0: give at least 1"),
])
def test_bad_edits_are_refused_before_anything_is_asked(
        words: list[str], message: str, capsys: pytest.CaptureFixture[str],
        tmp_path: Path) -> None:
    source = "def model(body): raise SystemExit('was asked')"
    text = said(capsys, "rerun", "last", TARGET, "--model", model_file(tmp_path, source), *words,
                code=exits.UNUSABLE)
    assert message in " ".join(text.split())
