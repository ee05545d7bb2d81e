"""The environments, with a uv that is a script of ours and notes what it was asked."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import pytest

from agentrunproof.errors import LabError
from agentrunproof.lab import environments, uv


def calls(log: Path) -> list[list[str]]:
    return [json.loads(line)["args"] for line in log.read_text().splitlines()]


def asked(log: Path) -> list[str]:
    """The requirements that were last locked."""
    return Path(f"{log}.asked").read_text().split()


def test_an_environment_is_dated_to_its_release_and_isolated_from_the_user(log: Path) -> None:
    environment = environments.isolated("0.20.0")
    venv, lock, install = calls(log)
    assert {"venv", "--no-config", "--no-project"} < set(venv)
    assert venv[venv.index("--python") + 1] == sys.executable
    assert {"pip", "compile", "--no-config"} < set(lock)
    assert asked(log) == ["openai-agents==0.20.0"]
    assert lock[lock.index("--exclude-newer") + 1] == "2026-08-12T03:12:49Z"
    assert {"pip", "sync", "--no-config"} < set(install)
    assert environment.python.exists()
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert environment.python.parent.parent.name == f"openai-agents-0.20.0-python-{running}"


def test_an_environment_is_built_once(log: Path) -> None:
    said: list[str] = []
    first = environments.isolated("0.20.0", say=said.append)
    assert environments.isolated("0.20.0", say=said.append) == first
    assert len(calls(log)) == 3
    assert len(said) == 1


def test_the_wheel_and_all_versions_are_on_record(log: Path) -> None:
    environment = environments.isolated("0.20.0")
    assert environment.wheel == "sha256:" + "ab" * 32
    assert environments.versions(environment) == {"openai": "1.0", "openai-agents": "1.0"}


def test_an_environment_of_an_earlier_version_is_used_without_a_lock(log: Path) -> None:
    environment = environments.isolated("0.20.0")
    (environment.python.parent.parent / environments.LOCK).unlink()
    again = environments.isolated("0.20.0")
    assert (again.python, again.wheel) == (environment.python, None)
    assert environments.versions(again) == {"openai": "1.0", "openai-agents": "1.0"}


def test_an_environment_whose_python_is_gone_is_built_again(log: Path) -> None:
    environment = environments.isolated("0.20.0")
    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python")
    assert environments.isolated("0.20.0") == environment
    assert environment.python.exists()
    (only,) = environments.cache_folder().iterdir()
    assert only == environment.python.parent.parent


@pytest.mark.parametrize(("pin", "requirement", "options"), [
    ("openai=lowest", "openai", ["--resolution", "lowest-direct"]),
    ("openai=latest", None, ["--exclude-newer-package", "openai=9999-01-01T00:00:00Z"]),
    ("openai=2.9.0", "openai==2.9.0",
     ["--exclude-newer-package", "openai=9999-01-01T00:00:00Z"]),
])
def test_a_pin_is_an_environment_of_its_own(
        log: Path, pin: str, requirement: str | None, options: list[str]) -> None:
    environment = environments.isolated("0.20.0", "3.12", pins=[pin])
    assert environment.python.parent.parent.name == f"openai-agents-0.20.0-python-3.12+{pin}"
    lock = calls(log)[1]
    start = lock.index(options[0])
    assert lock[start:start + 2] == options
    assert asked(log) == ["openai-agents==0.20.0", *([requirement] if requirement else [])]


def test_a_pin_of_what_is_no_dependency_is_refused_and_nothing_is_left(log: Path) -> None:
    with pytest.raises(LabError) as caught:
        environments.isolated("0.20.0", pins=["opnai=latest"])
    assert caught.value.code == "PIN_UNKNOWN"
    assert list(environments.cache_folder().iterdir()) == []


def test_without_network_what_uv_has_cached_will_do(
        log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAY_ONLINE", "error: dns error")
    assert environments.isolated("0.20.0").python.exists()
    assert ["--offline" in call for call in calls(log)] == [False, True] * 3


def test_the_cache_tells_which_releases_have_environments(log: Path) -> None:
    environments.isolated("0.20.0", "3.12")
    environments.isolated("0.20.0", "3.11")
    environments.isolated("0.22.0", "3.12", pins=["openai=lowest"])
    assert {sdk: sorted(pythons) for sdk, pythons in environments.cached().items()} == {
        "0.20.0": ["3.11", "3.12"]}


def test_a_release_newer_than_the_table_gets_the_newest_dependencies(log: Path) -> None:
    environments.isolated("99.0.0")
    assert all("--exclude-newer" not in call for call in calls(log))


def test_another_python_is_left_to_uv_to_find(log: Path) -> None:
    other = "3.12" if sys.version_info[:2] != (3, 12) else "3.11"
    environment = environments.isolated("0.20.0", other)
    venv = calls(log)[0]
    assert venv[venv.index("--python") + 1] == other
    assert environment.python.parent.parent.name.endswith(f"python-{other}")


def test_index_settings_hold_and_settings_of_other_environments_do_not(
        log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_DEFAULT_INDEX", "PIP_INDEX_URL", "VIRTUAL_ENV", "UV_PYTHON"):
        monkeypatch.setenv(name, "somewhere")
    environments.isolated("0.20.0")
    for line in log.read_text().splitlines():
        seen = set(json.loads(line)["env"])
        assert {"UV_DEFAULT_INDEX", "PIP_INDEX_URL"} < seen
        assert not {"VIRTUAL_ENV", "UV_PYTHON"} & seen


def test_of_two_that_build_the_same_the_first_wins(
        log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = environments.cache_folder() / "openai-agents-0.20.0-python-3.12"
    real = uv.run

    def beaten(arguments: list[str], purpose: uv.Purpose, *, stdin: str = "") -> None:
        real(arguments, purpose, stdin=stdin)
        if "sync" in arguments:  # the other process finishes just now
            (home / "bin").mkdir(parents=True)
            (home / "bin" / "python").write_text("the other's")

    monkeypatch.setattr(uv, "run", beaten)
    environment = environments.isolated("0.20.0", "3.12")
    assert environment.python.read_text() == "the other's"
    assert [entry.name for entry in environments.cache_folder().iterdir()] == [home.name]


@pytest.mark.parametrize(("step", "said", "code"), [
    ("compile", "error: No solution found\n  cause: Because there is no version of "
                "openai-agents==99.0.0 and you require it", "RELEASE_UNKNOWN"),
    ("compile", "error: Request failed\n  cause: Failed to fetch: `http://index/`\n"
                "  cause: dns error", "NO_NETWORK"),
    ("compile", "hint: Packages were unavailable because the network was disabled", "NO_NETWORK"),
    ("compile", "error: failed to write\n  cause: No space left on device (os error 28)",
     "DISK_FULL"),
    ("compile", "error: something new", "INSTALL_FAILED"),
    ("venv", "error: No interpreter found for Python 3.99 in managed installations",
     "PYTHON_UNKNOWN"),
    ("venv", "error: Request failed\n  cause: Failed to download `https://pythons/3.9`\n"
             "  cause: dns error", "PYTHON_UNKNOWN"),
])
def test_what_uv_says_becomes_one_clear_error_and_nothing_is_left_behind(
        log: Path, monkeypatch: pytest.MonkeyPatch, step: str, said: str, code: str) -> None:
    monkeypatch.setenv("FAIL_AT", step)
    monkeypatch.setenv("SAY", said)
    with pytest.raises(LabError) as caught:
        environments.isolated("99.0.0")
    assert caught.value.code == code
    assert "\n" not in caught.value.message
    assert list(environments.cache_folder().iterdir()) == []


def test_an_older_python_than_the_release_wants_is_refused_before_anything_runs(
        log: Path) -> None:
    with pytest.raises(LabError) as caught:
        environments.isolated("0.24.0", "3.9")
    assert caught.value.code == "PYTHON_TOO_OLD"
    assert not log.exists()


@pytest.mark.parametrize("written", ["3", "python3.12", "3.12.1", "2.7"])
def test_what_is_no_python_version_is_refused(log: Path, written: str) -> None:
    with pytest.raises(LabError) as caught:
        environments.isolated("0.24.0", written)
    assert caught.value.code == "PYTHON_SYNTAX"


def test_a_cache_that_cannot_be_written_is_named(
        log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(LabError) as caught:
        environments.isolated("0.20.0")
    assert caught.value.code == "CACHE_UNWRITABLE"


def test_uv_is_looked_for_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 3.12 `sysconfig`, which uv asks, shows a second thread a table half filled."""
    inside, overlapped = threading.Lock(), []

    def find() -> str:
        overlapped.append(not inside.acquire(blocking=False))
        for _ in range(1000):  # long enough for the others to come
            threading.Event().is_set()
        inside.release()
        return "uv"

    monkeypatch.setattr("uv.find_uv_bin", find)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=uv._find) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert overlapped == [False] * 8


def test_without_uv_the_error_says_what_to_install(
        log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise FileNotFoundError("uv")

    monkeypatch.setattr("uv.find_uv_bin", missing)
    with pytest.raises(LabError) as caught:
        environments.isolated("0.20.0")
    assert caught.value.code == "UV_UNUSABLE"


@pytest.mark.parametrize(("variables", "folder"), [
    ({"AGENTRUNPROOF_CACHE": "/own", "XDG_CACHE_HOME": "/shared"}, "/own"),
    ({"XDG_CACHE_HOME": "/shared"}, "/shared/agentrunproof"),
    ({}, str(Path.home() / ".cache" / "agentrunproof")),
])
def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str],
                            folder: str) -> None:
    for name in ("AGENTRUNPROOF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert environments.cache_folder() == Path(folder)


@pytest.mark.lab
def test_uv_really_builds_an_environment_with_the_release(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(tmp_path))
    environment = environments.isolated("0.20.0")
    done = subprocess.run(
        [os.fspath(environment.python), "-I", "-c",
         "from importlib.metadata import version; print(version('openai-agents'))"],
        capture_output=True, text=True, check=True)
    assert done.stdout == "0.20.0\n"
