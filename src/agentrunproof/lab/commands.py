"""A command of the user's, run against an SDK release together with their own project.

The command gets an environment of its own: the user's project, installed editable, with what it
depends on; pytest; and the SDK with exactly the dependencies of the release's own environment.
Neither the project's metadata nor its lock file nor its virtual environment is read or changed.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.errors import LabError
from agentrunproof.lab import environments, releases, uv
from agentrunproof.lab.environments import Environment
from agentrunproof.machine import cache_folder
from agentrunproof.record import layout
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column

#: Bytes of a command's output that are kept, from its end.
LOG_BYTES = 2**20

#: Exit codes with a meaning of their own, those of ``git bisect run``.
UNTESTABLE_EXIT = 125
NOT_RUN_EXITS = (126, 127)

#: Files that say what a project is; the environment is made anew when one of them changes.
_METADATA = ("pyproject.toml", "setup.py", "setup.cfg")

#: Tells a command in which column it runs, such as ``0.24.0-python-3.12``.
COLUMN_VARIABLE = "AGENTRUNPROOF_COLUMN"

#: Seconds between two looks at whether a command is still wanted.
_PULSE = 0.5


@dataclass(frozen=True)
class Command:
    """A command, and the project that it is about.

    Args:
        words: program and arguments; the program is looked for in the environment first.
        folder: where it runs; the project there is installed, if there is one.
        install: further requirements, such as ``pytest-asyncio``.
    """

    words: tuple[str, ...]
    folder: str
    install: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """A row's name for it, made of its words."""
        words = re.sub(r"[^a-z0-9]+", "-", " ".join(self.words).lower()).strip("-")
        tail = canonical.digest({"command": list(self.words)})[7:15]
        return f"run-{words[:40].strip('-')}-{tail}".replace("--", "-")


def run(command: Command, column: Column, base: Environment,
        say: Callable[[str], None] | None = None) -> tuple[Finding, bytes]:
    """Run a command in a column.

    Args:
        command: what to run.
        column: in which column.
        base: the column's environment, whose dependencies are taken over.
        say: told in a line what is being done; what it raises ends the command.

    Returns:
        What its exit says, and the end of its output.

    Raises:
        LabError: the project cannot be installed beside that release, or the command not run.
    """
    home = _home(command, column)
    if not uv.interpreter(home).exists():
        if say is not None:
            say(f"{column.key}: installing the project")
        environments.build(home, lambda draft: _install(draft, command, column, base))
    code, log = _execute(command, column, home, say)
    return _judge(command, code, log), log


def _home(command: Command, column: Column) -> Path:
    folder = Path(command.folder)
    metadata = {name: canonical.digest_bytes((folder / name).read_bytes())
                for name in _METADATA if (folder / name).is_file()}
    wheels = [canonical.digest_bytes((folder / word).read_bytes())
              for word in command.install if (folder / word).is_file()]
    digest = canonical.digest({"folder": command.folder, "metadata": metadata,
                               "install": [*command.install, *wheels]})
    return cache_folder() / f"project-{digest[7:23]}-{column.key}"


def _install(draft: Path, command: Command, column: Column, base: Environment) -> None:
    purpose = uv.Purpose(column.sdk, column.python)
    environments.make_interpreter(draft, purpose, base.python)
    constraints = draft / "constraints.txt"
    held = sorted(environments.versions(base).items())
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in held), "utf-8")
    folder = Path(command.folder)
    project = ["--editable", str(folder)] if any(
        (folder / name).is_file() for name in ("pyproject.toml", "setup.py")) else []
    try:
        uv.run(["pip", "install", "--no-config", "--python", str(uv.interpreter(draft)),
                "--constraints", str(constraints), f"{releases.DISTRIBUTION}=={column.sdk}",
                "pytest", *command.install, *project], purpose)
    except LabError as error:
        if error.code != "INSTALL_FAILED":
            raise
        raise LabError("PROJECT_CONFLICT", f"the project cannot be installed beside {purpose}: "
                       + error.message.partition(": ")[2],
                       "if it needs newer dependencies than that release had, free one with "
                       "--with NAME=latest") from error


def _execute(command: Command, column: Column, home: Path,
             say: Callable[[str], None] | None) -> tuple[int, bytes]:
    import subprocess
    import tempfile

    scripts = uv.interpreter(home).parent
    place = {**os.environ, "VIRTUAL_ENV": str(home), "PYTHONDONTWRITEBYTECODE": "1",
             COLUMN_VARIABLE: column.key,
             "PATH": os.pathsep.join([str(scripts), os.environ.get("PATH", "")])}
    place.pop("PYTHONHOME", None)
    program = _program(command.words[0], scripts)
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen([program, *command.words[1:]], cwd=command.folder,
                                       env=place, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            raise LabError("COMMAND_NOT_RUN", f"{command.words[0]}: {error.strerror or error}",
                           "install it with --install, or give its path") from error
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=_PULSE)
                    break
                if say is not None:
                    say(f"{column.key}: {' '.join(command.words)}")
        finally:
            if hasattr(os, "killpg"):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - LOG_BYTES))
        return process.returncode, output.read()


def _program(word: str, scripts: Path) -> str:
    """The program's path if the environment has it, else the word itself."""
    import shutil

    return shutil.which(word, path=str(scripts)) or word


def _judge(command: Command, code: int, log: bytes) -> Finding:
    if code == 0:
        return layout.of_exit("PASS", "OK")
    if code == UNTESTABLE_EXIT:
        return layout.of_exit("UNTESTABLE", f"EXIT_{code}")
    if 0 < code < 128 and code not in NOT_RUN_EXITS:
        return layout.of_exit("FAIL", f"EXIT_{code}")
    said = log.decode("utf-8", "replace").strip().splitlines()
    ending = f"signal {-code}" if code < 0 else f"exit code {code}"
    raise LabError("COMMAND_DIED", f"{command.words[0]} ended with {ending}",
                   f"its last words: {said[-1][:200]}" if said else "")
