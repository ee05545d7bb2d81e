"""Where runs are kept, and how a user's word finds one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentrunproof.errors import RecordError
from agentrunproof.recorders import record
from agentrunproof.runs import folder
from agentrunproof.runs.file import create, create_at


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Three recorded runs, in the order of their recording."""
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path / "runs"))
    paths = []
    for name in ("inbox", "ops/night shift", "inbox"):
        with record(name) as rec:
            pass
        assert rec.path is not None
        paths.append(rec.path)
    return paths


def test_runs_are_kept_below_the_current_folder_unless_a_variable_says_where(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(folder.VARIABLE, raising=False)
    with record("here"):
        pass
    (path,) = folder.files()
    assert path.parent == Path(".agentrunproof", "runs")
    assert (path.parent / ".gitignore").read_text() == "*\n"
    assert folder.label_of(path) == "here"
    monkeypatch.setenv(folder.VARIABLE, str(tmp_path / "elsewhere"))
    assert folder.files() == []


def test_words_that_users_type_find_their_run(runs: list[Path], tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder.files() == runs
    assert folder.find("last") == runs[2]
    assert folder.find("inbox") == runs[2]  # the latest that was called so
    assert folder.find("ops-night-shift") == runs[1]
    assert folder.find(runs[0].name) == folder.find(runs[0].stem) == runs[0]
    assert folder.find(runs[0].stem[:-1]) == runs[0]
    assert folder.find(str(runs[0])) == runs[0]
    monkeypatch.chdir(tmp_path)
    assert folder.find("runs/other.jsonl") == Path("runs/other.jsonl")  # reading it says the rest
    (tmp_path / "last").touch()
    assert folder.find("last") == Path("last")  # a file of that name is what was named


@pytest.mark.parametrize(("word", "code", "said"), [
    ("2", "RUN_AMBIGUOUS", "3 runs"), ("inbx", "RUN_NOT_FOUND", "did you mean 'inbox'"),
    ("zzz", "RUN_NOT_FOUND", "the latest is"), ("", "RUN_NOT_FOUND", "the latest is"),
    ("zzz.jsonl", "RUN_NOT_FOUND", "no file")])
def test_words_that_find_nothing_are_answered(runs: list[Path], word: str, code: str,
                                              said: str) -> None:
    with pytest.raises(RecordError, match=said) as caught:
        folder.find(word)
    assert caught.value.code == code


def test_where_there_is_no_run_one_is_told_how_to_record(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"record\("):
        folder.find("last", tmp_path / "none")


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="not a directory") as caught:
        folder.files(tmp_path / "file")
    assert caught.value.code == "RUNS_FOLDER"


@pytest.mark.parametrize(("make", "code"), [
    (lambda path: None, "RECORD_NOT_FOUND"), (Path.mkdir, "RECORD_NOT_A_FILE"),
    (Path.touch, "RUN_EMPTY")])
def test_files_that_cannot_be_read_are_named(tmp_path: Path, make: object, code: str) -> None:
    path = tmp_path / "x.jsonl"
    make(path)  # type: ignore[operator]
    with pytest.raises(RecordError) as caught:
        folder.load(path)
    assert caught.value.code == code
    assert str(path) in caught.value.message


def test_names_of_files_hold_only_what_every_file_system_takes(tmp_path: Path) -> None:
    for name in ("../../etc/passwd", "a b", "ü😀", "", ".", "x" * 300, "-n", "con:aux"):
        made = create(name, tmp_path)
        made.close()
        assert made.path.parent == tmp_path
        assert made.path.name.isascii()
        assert len(made.path.name) < 100
        assert folder.label_of(made.path)


def test_a_named_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    made = [create_at(path) for _ in range(3)]
    for one in made:
        one.append(b"x\n")
        one.close()
        one.close()
    assert [one.path.name for one in made] == ["run.jsonl", "run-2.jsonl", "run-3.jsonl"]
