"""Hash-locked environments: made of the wheels that a lock names, and of nothing else.

A lock is made of an isolated environment (`of_environment`) and lists the wheels that were used
there, so it holds for that platform and Python only. `Locked` makes environments of locks, each
new, for evidence that says what it was made in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from agentrunproof.errors import LabError, RecordError
from agentrunproof.lab import environments, releases, uv
from agentrunproof.lab.environments import Environment, Say
from agentrunproof.record import lock as locks
from agentrunproof.record import store
from agentrunproof.record.lock import Lock, Wheel
from agentrunproof.record.matrix import Column


def file_name(sdk: str) -> str:
    """The name of the lock of a release in a folder of locks."""
    return f"{sdk}.txt"


def read(path: Path) -> Lock:
    """A lock from its file.

    Raises:
        RecordError: it is not there, or not a lock; with the file's name.
    """
    try:
        return locks.read(store.read(path))
    except RecordError as error:
        if error.code != "LOCK_FORMAT":
            raise
        raise RecordError(error.code, f"{path}: {error.message}", error.hint) from error


def of_environment(environment: Environment) -> Lock:
    """The wheels of which an isolated environment was made.

    Raises:
        LabError: ``LOCK_UNKNOWN`` where that cannot be told.
    """
    home = environment.python.parent.parent
    resolved = {package["name"]: package for package in environments.packages(home)}
    wheels = []
    for installed in environments.distributions(environment):
        name = environments.normalised(installed)
        found = _used(resolved.get(name, {}).get("wheels", ()), installed)
        if found is None:
            raise LabError("LOCK_UNKNOWN", f"{home}: no telling of which wheel {name} was "
                           "installed", "delete the environment and have it made anew")
        wheels.append(Wheel(name, installed.version, f"sha256:{found['hashes']['sha256']}"))
    return Lock(tuple(sorted(wheels)))


@dataclass(frozen=True)
class Locked:
    """Makes environments of locks.

    Args:
        locks: the folder of the locks.
        folder: where environments go; no two of one column.
    """

    locks: Path
    folder: Path

    def __call__(self, column: Column, say: Say | None = None) -> Environment:
        """A new environment of exactly the wheels in the lock of a column's release.

        Raises:
            LabError: it cannot be made, came out otherwise than locked, or the lock is one of
                another release.
            RecordError: there is no lock of that release, or it is none.
        """
        path = self.locks / file_name(column.sdk)
        lock = read(path)
        if lock.sdk.version != column.sdk:
            raise LabError("LOCK_OF_OTHER_RELEASE", f"{path}: is a lock of {releases.DISTRIBUTION} "
                           f"{lock.sdk.version}")
        if say is not None:
            say(f"{column.key}: making a new environment of {path}")
        home = self.folder / column.key
        environments.build(home, lambda draft: _install(draft, path, column))
        made = Environment(uv.interpreter(home), column.sdk, lock.sdk.digest)
        locked = {wheel.name: wheel.version for wheel in lock.wheels}
        if environments.versions(made) != locked:
            raise LabError("ENVIRONMENT_DIFFERS", f"{column.key}: what was installed is not what "
                           f"{path} names")
        return made


def _install(draft: Path, lock: Path, column: Column) -> None:
    purpose = uv.Purpose(column.sdk, column.python)
    environments.make_interpreter(draft, purpose)
    uv.run(["pip", "sync", "--no-config", "--python", str(uv.interpreter(draft)),
            "--require-hashes", "--only-binary", ":all:", str(lock)], purpose)


def _used(wheels: Any, installed: Any) -> Any:
    """The wheel of which a package was installed: the one of its tags, or the only one."""
    said = (installed.read_text("WHEEL") or "").splitlines()
    tags = {line.removeprefix("Tag: ") for line in said if line.startswith("Tag: ")}
    fitting = [wheel for wheel in wheels if _tags(wheel.get("url", "")) == tags]
    candidates = fitting if len(wheels) > 1 else list(wheels)
    return candidates[0] if len(candidates) == 1 else None


def _tags(url: str) -> set[str]:
    """The tags in a wheel's name, each of its compressed sets written out (PEP 425)."""
    try:
        return {str(tag) for tag in parse_wheel_filename(url.rpartition("/")[2])[3]}
    except InvalidWheelFilename:
        return set()
