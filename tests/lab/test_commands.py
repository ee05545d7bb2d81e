"""Commands against a release, with a uv that is a script of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentrunproof.errors import LabError
from agentrunproof.lab import columns, commands, environments
from agentrunproof.lab.columns import Job
from agentrunproof.lab.commands import Command
from agentrunproof.record.layout import of_exit
from agentrunproof.record.matrix import Column
from tests.lab.conftest import replace_uv

#: Makes environments whose interpreter is ours, and notes what is installed into them.
FAKE_UV = """
    #!{python}
    import json, os, sys
    from pathlib import Path
    with open({log!r}, "a") as log:
        log.write(json.dumps(sys.argv[1:]) + "\\n")
    if "venv" in sys.argv:
        scripts = Path(sys.argv[-1], "bin")
        scripts.mkdir(parents=True)
        (scripts / "python").symlink_to({python!r})
        (scripts / "tool").write_text("#!/bin/sh\\necho from the environment\\n")
        (scripts / "tool").chmod(0o755)
    if "compile" in sys.argv:
        Path(sys.argv[sys.argv.index("--output-file") + 1]).write_text(
            '[[packages]]\\nname = "openai-agents"\\n')
    if "sync" in sys.argv:
        packages = Path(sys.argv[-1]).parent / "lib/python3.12/site-packages"
        for name, version in ("OpenAI", "2.9.0"), ("openai_agents", "0.20.0"):
            info = packages / (name + "-" + version + ".dist-info")
            info.mkdir(parents=True)
            (info / "METADATA").write_text("Name: " + name + "\\nVersion: " + version + "\\n")
    if "install" in sys.argv and os.environ.get("CONFLICT"):
        sys.exit(os.environ["CONFLICT"])
"""

COLUMN = Column(sdk="0.20.0", python="3.12")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return replace_uv(FAKE_UV, tmp_path, monkeypatch)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[project]\nname = 'ours'\n")
    return folder


def run(project: Path, *words: str, install: tuple[str, ...] = ()) -> columns.Result:
    return columns.run_column(Job(command=Command(words, str(project), install)), COLUMN)


def installs(log: Path) -> list[list[str]]:
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    return [call for call in calls if "install" in call]


def test_the_project_is_installed_editable_beside_the_release_and_its_dependencies(
        log: Path, project: Path) -> None:
    before = sorted(project.iterdir())
    run(project, "tool", install=("pytest-asyncio",))
    (call,) = installs(log)
    assert call[-5:] == ["openai-agents==0.20.0", "pytest", "pytest-asyncio", "--editable",
                         str(project)]
    (home,) = environments.cache_folder().glob("project-*")
    assert (home / "constraints.txt").read_text().split() == [
        "openai==2.9.0", "openai-agents==0.20.0"]
    assert sorted(project.iterdir()) == before


def test_a_folder_without_a_project_is_only_where_the_command_runs(
        log: Path, tmp_path: Path) -> None:
    result = run(tmp_path, "python", "-c", "import os; print(os.getcwd())")
    assert "--editable" not in installs(log)[0]
    assert result.log.decode().strip() == str(tmp_path)


def test_the_environment_is_made_anew_when_the_metadata_changes(log: Path, project: Path) -> None:
    run(project, "tool")
    run(project, "tool")
    assert len(installs(log)) == 1
    (project / "pyproject.toml").write_text("[project]\nname = 'theirs'\n")
    run(project, "tool")
    run(project, "tool", install=("attrs",))
    assert len(installs(log)) == 3


def test_a_wheel_of_the_same_name_is_installed_again_when_it_differs(
        log: Path, project: Path) -> None:
    (project / "ours.whl").write_bytes(b"one")
    run(project, "tool", install=("ours.whl",))
    run(project, "tool", install=("ours.whl",))
    assert len(installs(log)) == 1
    (project / "ours.whl").write_bytes(b"two")
    run(project, "tool", install=("ours.whl",))
    assert len(installs(log)) == 2


def test_a_command_is_told_its_column(log: Path, project: Path) -> None:
    result = run(project, "python", "-c", "import os; print(os.environ['AGENTRUNPROOF_COLUMN'])")
    assert result.log.decode().strip() == COLUMN.key


def test_programs_of_the_environment_come_first(log: Path, project: Path) -> None:
    result = run(project, "tool")
    assert (result.commanded, result.log) == (of_exit("PASS", "OK"), b"from the environment\n")


@pytest.mark.parametrize(("code", "verdict", "word"), [
    (0, "PASS", "OK"), (1, "FAIL", "EXIT_1"), (5, "FAIL", "EXIT_5"),
    (125, "UNTESTABLE", "EXIT_125"),
])
def test_the_exit_code_is_the_verdict(
        log: Path, project: Path, code: int, verdict: str, word: str) -> None:
    result = run(project, "python", "-c", f"import sys; sys.exit({code})")
    assert result.commanded == of_exit(verdict, word)  # type: ignore[arg-type]
    assert result.errors == {}


@pytest.mark.parametrize(("ending", "said"), [
    ("print('bye'); sys.exit(127)", "exit code 127"),
    ("sys.stdout.write('bye'); sys.stdout.flush(); os.kill(os.getpid(), 9)", "signal 9"),
])
def test_a_command_that_did_not_run_or_was_killed_is_an_error(
        log: Path, project: Path, ending: str, said: str) -> None:
    result = run(project, "python", "-c", f"import os, sys; {ending}")
    (error,) = result.errors.values()
    assert error.code == "COMMAND_DIED"
    assert said in error.message
    assert "bye" in error.hint
    assert result.commanded is None


def test_a_program_that_is_nowhere_is_an_error(log: Path, project: Path) -> None:
    (error,) = run(project, "no-such-program").errors.values()
    assert error.code == "COMMAND_NOT_RUN"


def test_a_project_that_does_not_go_with_the_release_is_an_error_that_says_so(
        log: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFLICT", "error: No solution found; ours wants openai-agents>=0.22")
    (error,) = run(project, "tool").errors.values()
    assert error.code == "PROJECT_CONFLICT"
    assert "ours wants openai-agents>=0.22" in error.message


def test_only_the_end_of_a_long_output_is_kept(
        log: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "LOG_BYTES", 10)
    assert run(project, "python", "-c", "print('x' * 1000 + 'the end')").log == b"xxthe end\n"


def test_what_is_no_longer_wanted_is_ended(
        log: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Enough(BaseException):
        pass

    def say(message: str) -> None:
        if "forever" in message:
            raise Enough

    monkeypatch.setattr(commands, "_PULSE", 0.01)
    command = Command(("python", "-c", "while True: pass  # forever"), str(project))
    with pytest.raises(Enough):
        columns.run_column(Job(command=command), COLUMN, say)


def test_a_command_has_a_name_of_its_own() -> None:
    names = [Command(words, "").name for words in (
        ("pytest", "-q", "tests/x.py"), ("pytest", "-q tests/x.py"), ("--",), ("ä" * 99,))]
    assert len(set(names)) == 4
    assert names[0].startswith("run-pytest-q-tests-x-py-")


def test_a_missing_release_is_an_error_of_the_column(log: Path, project: Path) -> None:
    job = Job(command=Command(("tool",), str(project)))
    result = columns.run_column(job, Column(sdk="0.20.9", python="3.12"))
    (error,) = result.errors.values()
    assert isinstance(error, LabError)
    assert error.code == "RELEASE_UNKNOWN"
