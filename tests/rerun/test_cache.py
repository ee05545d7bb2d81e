"""The cache of replies: many writers, damaged entries, disks that refuse."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from agentrunproof.rerun.cache import Cache

KEYS = [f"{n:064x}" for n in range(8)]


def test_what_was_put_comes_back_and_nothing_else(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "new" / "folder")
    assert cache.get(KEYS[0]) is None
    cache.put(KEYS[0], {"text": "\u00e9\ud800", "n": [1.5, None]})
    assert cache.get(KEYS[0]) == {"text": "\u00e9\ud800", "n": [1.5, None]}
    assert cache.get(KEYS[1]) is None


def test_the_replies_are_in_the_folder_of_caches_unless_told_otherwise(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(tmp_path))
    assert Cache().folder == tmp_path / "replies"


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_nobody_else_may_read_replies(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "replies")
    cache.put(KEYS[0], "private")
    (file,) = (path for path in cache.folder.rglob("*") if path.is_file())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [
    lambda content: b"", lambda content: content[:-1], lambda content: content[:70],
    lambda content: content.replace(b"reply", b"other"), lambda content: b"\xff" + content])
def test_a_damaged_entry_is_none_and_is_replaced(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    cache = Cache(tmp_path)
    cache.put(KEYS[0], {"text": "the reply"})
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(damage(file.read_bytes()))
    assert cache.get(KEYS[0]) is None
    cache.put(KEYS[0], "again")
    assert cache.get(KEYS[0]) == "again"


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    told: list[str] = []
    cache = Cache(tmp_path / "file", told.append)
    for key in KEYS:
        cache.put(key, "x")
        assert cache.get(key) is None
    assert len(told) == 1
    assert str(tmp_path / "file") in told[0]


def test_a_full_disk_leaves_no_draft_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                            ) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    told: list[str] = []
    Cache(tmp_path, told.append).put(KEYS[0], "x")
    assert told == [f"replies cannot be cached in {tmp_path}: no space left on device"]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_is_no_json_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(KEYS[0], object())
    assert cache.get(KEYS[0]) is None


_WRITER = """
import sys
from pathlib import Path
from agentrunproof.rerun.cache import Cache
folder, name, keys = sys.argv[1], sys.argv[2], sys.argv[3:]
cache = Cache(Path(folder))
for n in range(60):
    for key in keys:
        cache.put(key, {"by": name, "n": n, "fill": name * 3000})
        found = cache.get(key)
        assert found["fill"] == found["by"] * 3000, found
"""


def test_processes_that_write_the_same_entries_at_once_never_see_half_of_one(
        tmp_path: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path), name, *KEYS[:2]],
                                 stderr=subprocess.PIPE, text=True) for name in "abcd"]
    errors = [child.communicate(timeout=60)[1] for child in children]
    assert [child.returncode for child in children] == [0] * 4, errors
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    for key in KEYS[:2]:
        found = Cache(tmp_path).get(key)
        assert (found["n"], found["fill"]) == (59, found["by"] * 3000)
