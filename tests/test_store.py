"""Records on disk: bounded reads, atomic writes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from agentrunproof.errors import RecordError
from agentrunproof.record import store

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX files")


def test_what_was_written_is_read_back_with_ordinary_permissions(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    old = os.umask(0o022)
    try:
        store.write(target, b"{}\n")
    finally:
        os.umask(old)
    assert store.read(target) == b"{}\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o644


def test_an_existing_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(b"old and long")
    store.write(target, b"new")
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("fault", ["fsync", "replace"])
def test_a_failed_write_keeps_the_old_content_and_leaves_nothing_behind(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    monkeypatch.setattr(os, fault, fail)
    with pytest.raises(RecordError, match="no space left") as caught:
        store.write(target, b"new")
    assert caught.value.code == "TARGET_UNWRITABLE"
    assert target.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def _refused(action: object, *args: object) -> str:
    with pytest.raises(RecordError) as caught:
        action(*args)  # type: ignore[operator]
    assert str(args[0]) in caught.value.message
    return caught.value.code


def test_special_targets_are_refused(tmp_path: Path) -> None:
    assert _refused(store.write, tmp_path, b"") == "TARGET_NOT_A_FILE"
    assert _refused(store.write, tmp_path / "no" / "a.json", b"") == "TARGET_NO_FOLDER"
    (tmp_path / "file").write_bytes(b"kept")
    assert _refused(store.write, tmp_path / "file" / "a.json", b"") == "TARGET_NO_FOLDER"
    assert (tmp_path / "file").read_bytes() == b"kept"


@posix
def test_links_and_pipes_are_refused_as_targets_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"kept")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "pipe"):
        assert _refused(store.write, tmp_path / name, b"new") == "TARGET_NOT_A_FILE"
    assert (tmp_path / "real").read_bytes() == b"kept"
    assert not (tmp_path / "nowhere").exists()


@posix
def test_a_device_is_refused_as_a_target_before_anything_is_written() -> None:
    with pytest.raises(RecordError) as caught:
        store.check_target(Path(os.devnull))
    assert caught.value.code == "TARGET_NOT_A_FILE"


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    assert _refused(store.read, tmp_path) == "RECORD_NOT_A_FILE"
    assert _refused(store.read, tmp_path / "missing") == "RECORD_NOT_FOUND"
    assert _refused(store.read, Path("nul\0byte")) == "RECORD_UNREADABLE"


@posix
def test_a_pipe_or_device_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert _refused(store.read, tmp_path / "pipe") == "RECORD_NOT_A_FILE"
    assert _refused(store.read, Path(os.devnull)) == "RECORD_NOT_A_FILE"


def test_a_file_beyond_the_limit_is_refused_by_its_size_alone(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(200 * 2**20)  # sparse: takes no space
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("it was opened"))
    assert _refused(store.read, huge) == "RECORD_TOO_LARGE"
