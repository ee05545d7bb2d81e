"""Published evidence on the command line: the history matrix, the bundle, the checksums."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentrunproof import canonical
from agentrunproof.attest import sums
from agentrunproof.attest.sums import COVERED
from agentrunproof.checker.bundle import CERTIFICATES
from agentrunproof.cli import commands, exits
from agentrunproof.record.bundle import MARKER
from tests.histories import PYTHON, RECORD, Bundle

CERTIFICATE = f"{CERTIFICATES}0.0.2-python-{PYTHON}/greeting.json"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = commands.run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    return code, json.loads(out)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bundle(here: Path) -> Bundle:
    """A bundle in ``evidence``, its locks in ``locks``."""
    made = Bundle()
    for name, data in made.files.items():
        (here / "evidence" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "evidence" / name).write_bytes(data)
    (here / "locks").mkdir()
    for sdk, lock in made.locks.items():
        (here / "locks" / f"{sdk}.txt").write_bytes(lock)
    return made


@pytest.mark.sdk
def test_a_history_matrix_is_judged_with_the_certificates_beside_it(
        bundle: Bundle, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    id = canonical.parse(bundle.files[RECORD])["id"]
    code, out, _ = run(capsys, "check-history-matrix", f"evidence/{RECORD}")
    assert (code, out.splitlines()[0]) == (exits.OK, f"VALID {id}")
    (here / "evidence" / CERTIFICATES).rename(here / "moved")
    code, found = table(capsys, "check-history-matrix", f"evidence/{RECORD}", "--certificates",
                        "moved")
    assert (code, found["valid"], found["code"], found["id"]) == (exits.OK, True, "OK", id)
    code, found = table(capsys, "check-history-matrix", f"evidence/{RECORD}", "--certificates",
                        "moved", "--reproduced")
    assert (code, found["valid"], found["code"]) == (exits.UNUSABLE, False, "OBSERVATION_UNKNOWN")
    code, out, err = run(capsys, "check-history-matrix", f"evidence/{RECORD}")
    assert (code, out) == (exits.UNUSABLE, "")
    assert err == ("error: evidence/certificates: no such folder (name it with --certificates) "
                   "[FOLDER_NOT_FOUND]\n")


def _link(path: Path, target: Path) -> None:
    path.symlink_to(target)


FILES: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: (folder / CERTIFICATE).unlink(), "CERTIFICATE_MISSING"),
    (lambda folder: (folder / CERTIFICATES / "column.json").touch(), "CERTIFICATE_EXTRA"),
    (lambda folder: (folder / CERTIFICATES / ".hidden").touch(), "CERTIFICATE_EXTRA"),
    (lambda folder: (folder / f"{CERTIFICATE}.txt").touch(), "CERTIFICATE_EXTRA"),
    (lambda folder: _link(folder / CERTIFICATES / "link.json", folder / CERTIFICATE),
     "CERTIFICATE_EXTRA"),
    (lambda folder: (folder / CERTIFICATE).write_bytes(b"{"), "JSON_SYNTAX"),
    (lambda folder: (folder / RECORD).write_bytes(b"{}"), "HISTORY_FORMAT"),
]


@pytest.mark.sdk
@pytest.mark.parametrize(("change", "code"), FILES)
def test_a_history_matrix_with_other_files_is_refused_in_one_line(
        bundle: Bundle, here: Path, capsys: pytest.CaptureFixture[str],
        change: Callable[[Path], object], code: str) -> None:
    change(here / "evidence")
    exit, out, err = run(capsys, "check-history-matrix", f"evidence/{RECORD}")
    assert (exit, err) == (exits.UNUSABLE, "")
    assert out.startswith(f"INVALID {code}: ")
    assert len(out.splitlines()) == 1


@pytest.mark.sdk
def test_a_bundle_is_judged_with_its_locks_or_without(
        bundle: Bundle, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check-bundle", "evidence", "--locks", "locks")
    assert (code, out.splitlines()[0]) == (exits.OK, f"VALID {bundle.value['id']}")
    assert "locks" not in out
    code, found = table(capsys, "check-bundle", "evidence")
    assert (code, found["file"], found["valid"], found["id"]) == (
        exits.OK, "evidence", True, bundle.value["id"])
    assert found["notes"][-1] == "locks not looked at: name their folder with --locks"


@pytest.mark.sdk
@pytest.mark.parametrize(("change", "code"), [
    (lambda here: (here / "evidence" / MARKER).unlink(), "BUNDLE_UNFINISHED"),
    (lambda here: (here / "evidence" / CERTIFICATE).unlink(), "MEMBER_MISSING"),
    (lambda here: (here / "evidence" / ".hidden").touch(), "MEMBER_EXTRA"),
    (lambda here: (here / "evidence" / "x.txt").touch(), "MEMBER_EXTRA"),
    (lambda here: _link(here / "evidence" / "x.json", here / "evidence" / RECORD), "MEMBER_EXTRA"),
    (lambda here: _link(here / "evidence" / "folder", here / "locks"), "MEMBER_EXTRA"),
    (lambda here: _link(here / "evidence" / "dead", here / "nowhere"), "MEMBER_EXTRA"),
    (lambda here: os.mkfifo(here / "evidence" / "pipe"), "MEMBER_EXTRA"),
    (lambda here: (here / "evidence" / CERTIFICATE).write_bytes(b""), "MEMBER_DIFFERS"),
    (lambda here: (here / "locks" / "0.8.0.txt").unlink(), "RECORD_NOT_FOUND"),
    (lambda here: (here / "locks" / "0.8.0.txt").write_text("x"), "LOCK_DIFFERS"),
])
def test_a_bundle_with_other_files_is_refused_in_one_line(
        bundle: Bundle, here: Path, capsys: pytest.CaptureFixture[str],
        change: Callable[[Path], object], code: str) -> None:
    change(here)
    exit, out, err = run(capsys, "check-bundle", "evidence", "--locks", "locks")
    assert (exit, err) == (exits.UNUSABLE, "")
    assert out.startswith(f"INVALID {code}: ")
    assert len(out.splitlines()) == 1
    exit, found = table(capsys, "check-bundle", "evidence", "--locks", "locks")
    assert (exit, found["valid"], found["code"]) == (exits.UNUSABLE, False, code)


@pytest.fixture
def listed(here: Path) -> Path:
    """SHA256SUMS over a file in each folder that it covers."""
    digests = {}
    for folder in COVERED:
        (here / folder).mkdir()
        (here / folder / "x").write_text(folder)
        digests[f"{folder}/x"] = canonical.digest_bytes(folder.encode()).removeprefix("sha256:")
    (here / "SHA256SUMS").write_text(sums.text(digests))
    return here / "SHA256SUMS"


def test_checksums_of_all_files_hold(listed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    id = canonical.digest_bytes(listed.read_bytes())
    code, out, err = run(capsys, "check-sums", "SHA256SUMS")
    assert (code, err) == (exits.OK, "")
    assert out == f"VALID {id}\n  note: 4 files in evidence, history, requirements, scenarios\n"
    code, found = table(capsys, "check-sums", str(listed))
    assert (code, found["file"], found["valid"], found["code"], found["id"]) == (
        exits.OK, str(listed), True, "OK", id)


@pytest.mark.parametrize(("change", "code"), [
    (lambda here: (here / "history" / "x").unlink(), "SUMS_MISSING"),
    (lambda here: (here / "history" / ".y").touch(), "SUMS_EXTRA"),
    (lambda here: (here / "evidence" / "deep" / "er").mkdir(parents=True)
     or (here / "evidence" / "deep" / "er" / "x").touch(), "SUMS_EXTRA"),
    (lambda here: _link(here / "history" / "y", here / "history" / "x"), "SUMS_EXTRA"),
    (lambda here: (here / "history" / "x").write_text("other"), "SUMS_DIFFER"),
    (lambda here: (here / "SHA256SUMS").write_bytes(b""), "SUMS_EXTRA"),
    (lambda here: (here / "SHA256SUMS").write_bytes(b"\xff\n"), "SUMS_FORMAT"),
    (lambda here: (here / "SHA256SUMS").write_text(f"{'a' * 64}  ../x\n"), "SUMS_FORMAT"),
    (lambda here: (here / "SHA256SUMS").write_text(f"{'a' * 64}  SHA256SUMS\n"), "SUMS_FOLDER"),
    (lambda here: (here / "history" / "x").unlink() or (here / "history" / "x").mkdir(),
     "SUMS_MISSING"),
    (lambda here: (here / "history" / "x").unlink() or os.mkfifo(here / "history" / "x"),
     "RECORD_NOT_A_FILE"),
])
def test_checksums_of_other_files_are_refused_in_one_line(
        listed: Path, here: Path, capsys: pytest.CaptureFixture[str],
        change: Callable[[Path], object], code: str) -> None:
    change(here)
    exit, out, err = run(capsys, "check-sums", "SHA256SUMS")
    assert (exit, err) == (exits.UNUSABLE, "")
    assert out.startswith(f"INVALID {code}: ")
    assert len(out.splitlines()) == 1
    exit, found = table(capsys, "check-sums", "SHA256SUMS")
    assert (exit, found["valid"], found["code"]) == (exits.UNUSABLE, False, code)


@pytest.mark.parametrize(("arguments", "code"), [
    (["check-history-matrix", "nowhere/matrix.json"], "RECORD_NOT_FOUND"),
    (["check-history-matrix", "."], "RECORD_NOT_A_FILE"),
    (["check-bundle", "nowhere"], "FOLDER_NOT_FOUND"),
    (["check-bundle", "file"], "FOLDER_NOT_FOUND"),
    (["check-sums", "nowhere/SHA256SUMS"], "RECORD_NOT_FOUND"),
    (["check-sums", "file"], "FOLDER_NOT_FOUND"),  # none of the folders is beside it
])
def test_what_is_not_there_is_2_and_told_in_one_line(
        here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: str) -> None:
    (here / "file").touch()
    exit, out, err = run(capsys, *arguments)
    assert (exit, out) == (exits.UNUSABLE, "")
    assert err.startswith("error: ")
    assert err.endswith(f"[{code}]\n")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("command", ["check-history-matrix", "check-bundle", "check-sums"])
def test_wrong_usage_is_2_and_shows_the_usage(
        capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, err = run(capsys, command)
    assert (code, out) == (exits.UNUSABLE, "")
    assert f"Usage: agentrunproof {command}" in err


def test_an_empty_folder_is_no_bundle(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "empty").mkdir()
    code, out, _ = run(capsys, "check-bundle", "empty")
    assert code == exits.UNUSABLE
    assert out.startswith(f"INVALID BUNDLE_UNFINISHED: there is no {MARKER}")
