"""Hash-locked environments: which wheels one was made of, and one made of exactly these."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrunproof.errors import LabError, RecordError
from agentrunproof.lab import environments, locks, uv
from agentrunproof.lab.environments import Environment
from agentrunproof.lab.locks import Locked
from agentrunproof.record.lock import Lock, Wheel
from agentrunproof.record.matrix import Column
from agentrunproof.record.sdk_releases import DISTRIBUTION

COLUMN = Column(sdk="0.20.0", python="3.12")
LOCK = Lock((Wheel("openai", "2.9.0", "sha256:" + "1" * 64),
             Wheel(DISTRIBUTION, "0.20.0", "sha256:" + "2" * 64)))
PURE = "openai-1.0-py3-none-any.whl"
LINUX = "openai-1.0-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
MAC = "openai-1.0-cp312-cp312-macosx_11_0_arm64.whl"


@pytest.fixture
def locked(tmp_path: Path, log: Path) -> Locked:
    """Makes environments of the one lock there is, with a fake uv."""
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "0.20.0.txt").write_text(LOCK.text())
    return Locked(tmp_path / "locks", tmp_path / "environments")


@pytest.mark.parametrize(("name", "tags"), [
    (PURE, {"py3-none-any"}),
    ("https://files/a/six-1.16.0-py2.py3-none-any.whl", {"py2-none-any", "py3-none-any"}),
    ("x-1.0-1-cp312-abi3-win_amd64.whl", {"cp312-abi3-win_amd64"}),
    (LINUX, {"cp312-cp312-manylinux_2_17_x86_64", "cp312-cp312-manylinux2014_x86_64"}),
])
def test_a_wheels_name_tells_all_its_tags(name: str, tags: set[str]) -> None:
    assert locks._tags(name) == tags


def made_of(names: list[str], *tags: str) -> Environment:
    """An environment with openai installed from one of these wheels, by its tags."""
    environment = environments.isolated("0.20.0", "3.12")
    home = environment.python.parent.parent
    wheels = "".join(f'{{ url = "https://files/{name}", hashes = {{ sha256 = "{n:064x}" }} }},'
                     for n, name in enumerate(names))
    (home / environments.LOCK).write_text("".join(
        f'[[packages]]\nname = "{name}"\nversion = "1.0"\nwheels = [{found}]\n'
        for name, found in (("openai", wheels), (DISTRIBUTION, f'{{ url = "https://files/{PURE}", '
                                                 f'hashes = {{ sha256 = "{"ab" * 32}" }} }}'))))
    info = home / "lib/python3.12/site-packages/OpenAI-1.0.dist-info"
    (info / "WHEEL").write_text("Wheel-Version: 1.0\n" + "".join(f"Tag: {tag}\n" for tag in tags))
    return environment


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("names", "tags", "used"), [
    ([PURE], ["py3-none-any"], 0),
    ([PURE], [], 0),  # the only one, whatever it says of itself
    ([MAC, LINUX, PURE], ["cp312-cp312-manylinux2014_x86_64",
                          "cp312-cp312-manylinux_2_17_x86_64"], 1),
    ([MAC, LINUX, PURE], ["py3-none-any"], 2),
])
def test_a_lock_names_the_wheel_that_was_installed(
        names: list[str], tags: list[str], used: int) -> None:
    lock = locks.of_environment(made_of(names, *tags))
    assert lock.wheels == (Wheel("openai", "1.0", f"sha256:{used:064x}"),
                           Wheel(DISTRIBUTION, "1.0", "sha256:" + "ab" * 32))


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("names", "tags"), [
    ([], ["py3-none-any"]),  # made from a source distribution
    ([LINUX, MAC], ["py3-none-any"]),
    ([LINUX, MAC], ["cp312-cp312-manylinux2014_x86_64"]),  # half of a set of tags
    ([LINUX, LINUX], ["cp312-cp312-manylinux2014_x86_64", "cp312-cp312-manylinux_2_17_x86_64"]),
])
def test_without_telling_which_wheel_it_was_there_is_no_lock(
        names: list[str], tags: list[str]) -> None:
    environment = made_of(names, *tags)
    with pytest.raises(LabError) as caught:
        locks.of_environment(environment)
    assert caught.value.code == "LOCK_UNKNOWN"
    assert "openai" in caught.value.message


@pytest.mark.usefixtures("log")
def test_an_environment_without_a_resolution_has_no_lock() -> None:
    environment = environments.isolated("0.20.0", "3.12")
    (environment.python.parent.parent / environments.LOCK).unlink()
    with pytest.raises(LabError) as caught:
        locks.of_environment(environment)
    assert caught.value.code == "LOCK_UNKNOWN"


def test_a_locked_environment_is_new_and_made_of_the_lock_alone(
        locked: Locked, log: Path) -> None:
    said: list[str] = []
    environment = locked(COLUMN, said.append)
    assert environments.versions(environment) == {"openai": "2.9.0", DISTRIBUTION: "0.20.0"}
    assert (environment.sdk, environment.wheel) == ("0.20.0", LOCK.sdk.digest)
    assert environment.python == uv.interpreter(locked.folder / COLUMN.key)
    venv, sync = (json.loads(line)["args"] for line in log.read_text().splitlines())
    assert {"venv", "--no-config", "--no-project"} < set(venv)
    assert {"pip", "sync", "--no-config", "--require-hashes"} < set(sync)
    assert sync[sync.index("--only-binary") + 1] == ":all:"
    assert sync[-1] == str(locked.locks / "0.20.0.txt")
    assert said == [f"{COLUMN.key}: making a new environment of {sync[-1]}"]


def test_what_was_installed_otherwise_than_locked_is_noticed(
        locked: Locked, monkeypatch: pytest.MonkeyPatch) -> None:
    real = uv.run

    def more(arguments: list[str], purpose: uv.Purpose, *, stdin: str = "") -> None:
        real(arguments, purpose, stdin=stdin)
        if "sync" in arguments:
            home = Path(arguments[arguments.index("--python") + 1]).parent.parent
            info = home / "lib/python3.12/site-packages/attrs-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text("Name: attrs\nVersion: 1.0\n")

    monkeypatch.setattr(uv, "run", more)
    with pytest.raises(LabError) as caught:
        locked(COLUMN)
    assert caught.value.code == "ENVIRONMENT_DIFFERS"


def test_a_lock_of_another_release_is_refused_before_anything_runs(
        locked: Locked, log: Path) -> None:
    (locked.locks / "0.20.0.txt").rename(locked.locks / "0.19.4.txt")
    with pytest.raises(LabError) as caught:
        locked(Column(sdk="0.19.4", python="3.12"))
    assert caught.value.code == "LOCK_OF_OTHER_RELEASE"
    assert not log.exists()


def test_a_lock_that_is_missing_or_malformed_is_named(locked: Locked) -> None:
    (locked.locks / "0.19.4.txt").write_text("openai\n")
    for sdk, code in (("0.19.3", "RECORD_NOT_FOUND"), ("0.19.4", "LOCK_FORMAT")):
        with pytest.raises(RecordError) as caught:
            locked(Column(sdk=sdk, python="3.12"))
        assert caught.value.code == code
        assert f"{sdk}.txt: " in caught.value.message
    assert not locked.folder.exists()


def test_an_environment_that_cannot_be_made_leaves_nothing(
        locked: Locked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL_AT", "sync")
    monkeypatch.setenv("SAY", "error: Hash mismatch for `openai==2.9.0`")
    with pytest.raises(LabError) as caught:
        locked(COLUMN)
    assert "\n" not in caught.value.message
    assert list(locked.folder.iterdir()) == []
