"""The environments, with a uv that is a script of ours and notes what it was asked."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path

import pytest

from agentrunproof.errors import LabError
from agentrunproof.lab import environments

#: Does what uv would: `venv` makes an interpreter, `pip install` succeeds. `SAY` makes it fail.
FAKE_UV = """
    #!{python}
    import json, os, sys
    from pathlib import Path
    with open({log!r}, "a") as log:
        log.write(json.dumps({{"args": sys.argv[1:], "env": sorted(os.environ)}}) + "\\n")
    if os.environ.get("FAIL_AT") in sys.argv:
        sys.exit(os.environ["SAY"])
    if "venv" in sys.argv:
        interpreter = Path(sys.argv[-1], "bin", "python")
        interpreter.parent.mkdir(parents=True)
        interpreter.touch()
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the fake uv, which is now in place, notes its calls."""
    log = tmp_path / "log"
    uv = tmp_path / "uv"
    uv.write_text(textwrap.dedent(FAKE_UV.format(python=sys.executable, log=str(log))).lstrip())
    uv.chmod(0o755)
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(uv))
    monkeypatch.setenv("AGENTRUNPROOF_CACHE", str(tmp_path / "cache"))
    return log


def calls(log: Path) -> list[list[str]]:
    return [json.loads(line)["args"] for line in log.read_text().splitlines()]


def test_an_environment_is_dated_to_its_release_and_isolated_from_the_user(log: Path) -> None:
    environment = environments.isolated("0.20.0")
    venv, install = calls(log)
    assert {"venv", "--no-config", "--no-project"} < set(venv)
    assert venv[venv.index("--python") + 1] == sys.executable
    assert {"pip", "install", "--no-config", "openai-agents==0.20.0"} < set(install)
    assert install[install.index("--exclude-newer") + 1] == "2026-08-12T03:12:49Z"
    assert environment.python.exists()
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert environment.python.parent.parent.name == f"openai-agents-0.20.0-python-{running}"


def test_an_environment_is_built_once(log: Path) -> None:
    said: list[str] = []
    first = environments.isolated("0.20.0", say=said.append)
    assert environments.isolated("0.20.0", say=said.append) == first
    assert len(calls(log)) == 2
    assert len(said) == 1


def test_a_release_newer_than_the_table_gets_the_newest_dependencies(log: Path) -> None:
    environments.isolated("99.0.0")
    assert all("--exclude-newer" not in call for call in calls(log))


def test_another_python_is_left_to_uv_to_find(log: Path) -> None:
    other = "3.12" if sys.version_info[:2] != (3, 12) else "3.11"
    environment = environments.isolated("0.20.0", other)
    venv, _ = calls(log)
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
    real = environments._uv

    def beaten(arguments: list[str], sdk: str, python: str) -> None:
        real(arguments, sdk, python)
        if "install" in arguments:  # the other process finishes just now
            (home / "bin").mkdir(parents=True)
            (home / "bin" / "python").write_text("the other's")

    monkeypatch.setattr(environments, "_uv", beaten)
    environment = environments.isolated("0.20.0", "3.12")
    assert environment.python.read_text() == "the other's"
    assert [entry.name for entry in environments.cache_folder().iterdir()] == [home.name]


@pytest.mark.parametrize(("step", "said", "code"), [
    ("install", "error: No solution found\n  cause: Because there is no version of "
                "openai-agents==99.0.0 and you require it", "RELEASE_UNKNOWN"),
    ("install", "error: Request failed\n  cause: Failed to fetch: `http://index/`\n"
                "  cause: dns error", "NO_NETWORK"),
    ("install", "hint: Packages were unavailable because the network was disabled", "NO_NETWORK"),
    ("install", "error: failed to write\n  cause: No space left on device (os error 28)",
     "DISK_FULL"),
    ("install", "error: something new", "INSTALL_FAILED"),
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
