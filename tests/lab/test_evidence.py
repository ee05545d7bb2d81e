"""Canonical evidence: an exact commit, the conditions, and a folder that is whole or nothing."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentrunproof import canonical
from agentrunproof.checker import bundle as checker
from agentrunproof.errors import LabError, RecordError
from agentrunproof.lab import evidence
from agentrunproof.record import bundle as bundles
from agentrunproof.record import store
from agentrunproof.record.bundle import MARKER, Bundle, BundleProducer, Conditions
from agentrunproof.record.certificate import Producer
from tests.histories import lock_of
from tests.plans import PRODUCER

PLACES = Conditions(system="linux", machine="x86_64", implementation="cpython", python="3.12.1",
                    environments="fresh", network="audit-hook+namespace",
                    acquisition="index-before-runs")
MEMBERS = {"matrix.json": b"{}\n", "certificates/a/x.json": b"1\n",
           "certificates/b/x.json": b"2\n"}
WHOLE = Bundle(producer=BundleProducer(version="0.1.0", commit="0" * 40), conditions=PLACES,
               environments=(), record=evidence.RECORD,
               members={name: canonical.digest_bytes(data) for name, data in MEMBERS.items()})


def code_of(problem: pytest.ExceptionInfo[LabError]) -> str:
    return problem.value.code


# --- the commit

@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one commit, untouched."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "sub").mkdir()
    (folder / "sub" / "file").write_text("as committed\n")
    (folder / ".gitignore").write_text("build/\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet",
        "--message", "one")
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True,
                          text=True).stdout


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@needs_git
def test_a_clean_checkout_tells_its_commit(checkout: Path) -> None:
    (checkout / "build").mkdir()
    (checkout / "build" / "ignored").touch()
    assert evidence.clean_commit(checkout) == git(checkout, "rev-parse", "HEAD").strip()


@needs_git
@pytest.mark.parametrize("change", [
    lambda folder: (folder / "sub" / "file").write_text("other\n"),
    lambda folder: (folder / "sub" / "file").unlink(),
    lambda folder: (folder / "sub" / "new").touch(),
    lambda folder: ((folder / "new").touch(), git(folder, "add", "new")),
], ids=["modified", "deleted", "untracked", "staged"])
def test_a_checkout_with_changes_has_no_commit(checkout: Path, change: object) -> None:
    change(checkout)  # type: ignore[operator]
    with pytest.raises(LabError) as caught:
        evidence.clean_commit(checkout)
    assert code_of(caught) == "CHECKOUT_CHANGED"
    assert "\n" not in caught.value.message


@needs_git
def test_what_is_no_checkout_has_no_commit(
        checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "--quiet")
    for folder in (tmp_path / "none", tmp_path / "empty", tmp_path / "missing", checkout / "sub"):
        with pytest.raises(LabError) as caught:
            evidence.clean_commit(folder)
        assert code_of(caught) == "COMMIT_UNKNOWN"
    monkeypatch.setenv("PATH", str(tmp_path))  # no git there
    with pytest.raises(LabError) as caught:
        evidence.clean_commit(checkout)
    assert code_of(caught) == "COMMIT_UNKNOWN"


# --- the conditions

@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that will do, and an environment on it."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "pyvenv.cfg").write_text("home = /x\nimplementation = CPython\n"
                                                  "version_info = 3.12.1\n")
    return tmp_path / "home"


def maker(**other: str) -> Producer:
    return dataclasses.replace(PRODUCER, **{  # type: ignore[arg-type]
        "python": "3.12.1", "network": "audit-hook+namespace", **other})


def test_the_canonical_conditions_are_told(home: Path) -> None:
    assert evidence.conditions([maker(), maker()], [home, home]) == PLACES


@pytest.mark.parametrize(("producers", "named"), [
    ([maker(), maker(network="audit-hook")], "network"),
    ([maker(network="audit-hook")], "network"),
    ([maker(), maker(python="3.12.2")], "python"),
    ([maker(python="3.13.0")], "python"),
    ([], "python"),
])
def test_certificates_made_otherwise_are_no_evidence(
        home: Path, producers: list[Producer], named: str) -> None:
    with pytest.raises(LabError) as caught:
        evidence.conditions(producers, [home])
    assert code_of(caught) == "CONDITIONS_NOT_CANONICAL"
    assert named in caught.value.message


@pytest.mark.parametrize("said", ["implementation = PyPy\n", "home = /x\n"])
def test_another_implementation_is_no_evidence(home: Path, tmp_path: Path, said: str) -> None:
    (tmp_path / "pyvenv.cfg").write_text(said)
    with pytest.raises(LabError) as caught:
        evidence.conditions([maker()], [home, tmp_path])
    assert code_of(caught) == "CONDITIONS_NOT_CANONICAL"


@pytest.mark.parametrize(("name", "value"), [("system", "darwin"), ("machine", "aarch64")])
def test_another_machine_gives_no_evidence(
        home: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    if name == "system":
        monkeypatch.setattr(sys, "platform", value)
    else:
        monkeypatch.setattr(platform, "machine", lambda: value)
    with pytest.raises(LabError) as caught:
        evidence.conditions([maker()], [home])
    assert code_of(caught) == "CONDITIONS_NOT_CANONICAL"
    assert name in caught.value.message


def test_a_bundle_is_described_by_the_digests_of_locks_and_files(tmp_path: Path) -> None:
    for sdk in ("0.9.0", "0.10.0"):
        (tmp_path / f"{sdk}.txt").write_text(lock_of(sdk).text())
    made = evidence.describe("1" * 40, PLACES, tmp_path, ["0.10.0", "0.9.0"], MEMBERS)
    assert [(one.sdk, one.wheel, one.lock) for one in made.environments] == [
        (sdk, lock_of(sdk).sdk.digest, canonical.digest_bytes(lock_of(sdk).text().encode()))
        for sdk in ("0.9.0", "0.10.0")]
    assert (made.producer.commit, made.record, made.members) == ("1" * 40, "matrix.json",
                                                                 WHOLE.members)
    with pytest.raises(RecordError, match=r"0\.8\.0\.txt: no such file"):
        evidence.describe("1" * 40, PLACES, tmp_path, ["0.8.0"], MEMBERS)


# --- the folder

def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in evidence.files_in(folder)}


def test_files_take_the_place_of_earlier_ones_and_the_marker_comes_last(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "new" / "evidence"
    evidence.replace(folder, {**MEMBERS, "certificates/old/y.json": b"0\n"}, WHOLE)
    written: list[str] = []
    write = store.write

    def noted(path: Path, data: bytes) -> None:
        assert not (folder / MARKER).exists()
        write(path, data)
        written.append(path.relative_to(folder).as_posix())

    monkeypatch.setattr(store, "write", noted)
    evidence.replace(folder, MEMBERS, WHOLE)
    assert written == [*MEMBERS, MARKER]
    assert contents(folder) == {**MEMBERS, MARKER: bundles.FORM.to_bytes(WHOLE)}


def test_a_rehearsal_takes_the_marker_away(tmp_path: Path) -> None:
    evidence.replace(tmp_path, MEMBERS, WHOLE)
    evidence.replace(tmp_path, MEMBERS, None)
    assert contents(tmp_path) == MEMBERS


@pytest.mark.parametrize("problem", [
    RecordError("TARGET_UNWRITABLE", "no space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_what_was_interrupted_can_never_pass_for_evidence(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, problem: BaseException) -> None:
    evidence.replace(tmp_path, MEMBERS, WHOLE)
    write, left = store.write, [at]

    def fails(path: Path, data: bytes) -> None:
        if not left[0]:
            raise problem
        left[0] -= 1
        write(path, data)

    monkeypatch.setattr(store, "write", fails)
    with pytest.raises(type(problem)):
        evidence.replace(tmp_path, MEMBERS, WHOLE)
    found = contents(tmp_path)
    assert list(found) == sorted(list(MEMBERS)[:at])
    assert checker.check(found, found.__getitem__).code == "BUNDLE_UNFINISHED"


@pytest.mark.parametrize("name", ["notes.txt", ".git", "a"])
def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path, name: str) -> None:
    evidence.replace(tmp_path, MEMBERS, WHOLE)
    (tmp_path / name).mkdir()
    with pytest.raises(LabError) as caught:
        evidence.replace(tmp_path, {}, None)
    assert code_of(caught) == "FOLDER_NOT_EVIDENCE"
    assert name in caught.value.message
    assert contents(tmp_path) == {**MEMBERS, MARKER: bundles.FORM.to_bytes(WHOLE)}


def test_a_folder_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(LabError) as caught:
            evidence.replace(folder, MEMBERS, WHOLE)
        assert code_of(caught) == "FOLDER_UNWRITABLE"


def test_certificates_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").touch()
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "certificates").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LabError) as caught:
        evidence.replace(tmp_path / "evidence", MEMBERS, WHOLE)
    assert code_of(caught) == "FOLDER_UNWRITABLE"
    assert contents(tmp_path / "elsewhere") == {"mine": b""}


def test_all_files_of_a_folder_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a" / ".b").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    for name in ("x", ".hidden", "a/.b/y"):
        (tmp_path / name).touch()
    (tmp_path / "file-link").symlink_to("x")
    (tmp_path / "folder-link").symlink_to("a")
    (tmp_path / "dead-link").symlink_to("nowhere")
    names = [".hidden", "a/.b/y", "dead-link", "file-link", "folder-link", "x"]
    assert evidence.files_in(tmp_path) == names
