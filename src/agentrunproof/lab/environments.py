"""Isolated environments: one per SDK release, Python and pins, kept in a cache folder.

Dependencies are resolved as of the release's own days into a lock (``pylock.toml``, which stands
in the environment and names every wheel by its SHA-256), and what the lock names is installed.

An environment is built beside its final place and renamed into it, so what stands there is whole.
Of two processes that build the same one, the first to finish wins and the other throws its own
away.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from agentrunproof.errors import LabError
from agentrunproof.lab import releases, uv
from agentrunproof.machine import cache_folder

if TYPE_CHECKING:
    from importlib.metadata import Distribution

Say = Callable[[str], None]

LOCK = "pylock.toml"

_PYTHON = re.compile(r"3\.\d+")

#: A date after all others, for packages that are taken as new as they get.
_END_OF_TIME = "9999-01-01T00:00:00Z"


@dataclass(frozen=True)
class Environment:
    """An interpreter that has the SDK; `sdk` is None where it has whatever is installed.

    Args:
        python: the interpreter.
        sdk: release of the SDK.
        wheel: SHA-256 of the wheel it was installed from, where that is known.
    """

    python: Path
    sdk: str | None = None
    wheel: str | None = None


def current() -> Environment:
    """The running interpreter and the SDK installed beside us."""
    return Environment(Path(sys.executable))


def isolated(sdk: str, python: str | None = None, say: Say | None = None,
             pins: Sequence[str] = ()) -> Environment:
    """The environment of a release, built if it is not in the cache.

    Args:
        sdk: release number of the SDK, such as ``0.20.0``.
        python: version such as ``3.12``; the running one by default, if the release allows it.
        say: told in a line what is being done, if it takes long.
        pins: ``name=version`` of dependencies of the SDK; ``lowest`` is the lowest version that
            the release allows, ``latest`` the highest one at the time of building.

    Raises:
        LabError: no such release or Python, no network, no room, or uv failed.
    """
    release = releases.find(sdk)
    version = _choose_python(release, python)
    home = cache_folder() / "+".join(
        (f"{releases.DISTRIBUTION}-{sdk}-python-{version}", *pins))
    if not uv.interpreter(home).exists():
        if say is not None:
            say(f"making an environment for {releases.DISTRIBUTION} {sdk}, Python {version}"
                + "".join(f", {pin}" for pin in pins))
        wanted = _Wanted(uv.Purpose(sdk, version), release, tuple(pins))
        build(home, lambda draft: _install(draft, wanted))
    return Environment(uv.interpreter(home), sdk, _wheel(home))


def cached() -> dict[str, list[str]]:
    """The Pythons for which a release has an environment in the cache, by release.

    Environments with pins are left out.
    """
    found: dict[str, list[str]] = {}
    pattern = re.compile(re.escape(releases.DISTRIBUTION) + r"-([0-9.]+)-python-(3\.[0-9]+)")
    for home in cache_folder().glob(f"{releases.DISTRIBUTION}-*"):
        match = pattern.fullmatch(home.name)
        if match is not None and uv.interpreter(home).exists():
            found.setdefault(match[1], []).append(match[2])
    return found


def installed() -> str | None:
    """The release that is installed beside us, if any is."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(releases.DISTRIBUTION)
    except PackageNotFoundError:
        return None


def running() -> str:
    """The running Python, such as ``3.12``."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def build(home: Path, install: Callable[[Path], None]) -> None:
    """Have a folder filled by `install` and give it the name `home` once it is whole.

    Raises:
        LabError: the cache cannot be written, or what `install` raises.
    """
    import shutil
    import tempfile

    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=home.parent))
    except OSError as error:
        raise LabError("CACHE_UNWRITABLE",
                       f"cannot write in {home.parent}: {error.strerror or error}",
                       "set AGENTRUNPROOF_CACHE to a folder of yours") from error
    try:
        install(draft)
        try:
            draft.rename(home)
        except OSError:
            if not uv.interpreter(home).exists():  # its Python was removed or replaced since
                shutil.rmtree(home)
                draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def make_interpreter(draft: Path, purpose: uv.Purpose, like: Path | None = None) -> None:
    """Put an empty virtual environment of the wanted Python into `draft`.

    Args:
        draft: where.
        purpose: what for.
        like: an interpreter of that Python, if one is at hand.
    """
    # uv takes the base interpreter of the one that is named: no search, no download.
    own = sys.executable if purpose.python == running() else purpose.python
    wanted = str(like) if like is not None else own
    uv.run(["venv", "--no-config", "--no-project", "--relocatable", "--allow-existing",
            "--python", wanted, str(draft)], purpose)


def versions(environment: Environment) -> Mapping[str, str]:
    """Versions of all that is installed in an isolated environment, by normalised name."""
    return {normalised(package): package.version for package in distributions(environment)}


def distributions(environment: Environment) -> list[Distribution]:
    """All that is installed in an isolated environment."""
    from importlib.metadata import distributions

    home = environment.python.parent.parent
    places = [*home.glob("lib/python3.*/site-packages"), home / "Lib" / "site-packages"]
    return list(distributions(path=[str(place) for place in places]))


def normalised(package: Distribution) -> str:
    """The name of a package as indexes have it (PEP 503)."""
    return str(canonicalize_name(package.metadata["Name"]))


@dataclass(frozen=True)
class _Wanted:
    """What is to be installed, and for what."""

    purpose: uv.Purpose
    release: releases.Release | None
    pins: tuple[str, ...]


def _choose_python(release: releases.Release | None, asked: str | None) -> str:
    version = asked or running()
    if not _PYTHON.fullmatch(version):
        raise LabError("PYTHON_SYNTAX", f"--python {version!r} is not a Python version",
                       "write it like 3.12")
    if release is not None and releases.parse(version).release < release.oldest_python:
        raise LabError("PYTHON_TOO_OLD",
                       f"{releases.DISTRIBUTION} {release.version} needs Python "
                       f"{release.requires_python}, not {version}",
                       "name another with --python")
    return version


def _install(draft: Path, wanted: _Wanted) -> None:
    make_interpreter(draft, wanted.purpose)
    python, lock = str(uv.interpreter(draft)), draft / LOCK
    dated = [] if wanted.release is None else ["--exclude-newer", wanted.release.exclude_newer]
    requirements, options = _pinned(wanted)
    uv.run(["pip", "compile", "--no-config", "--python", python, *dated, *options, "--no-header",
            "--format", LOCK, "--output-file", str(lock), "-"], wanted.purpose,
           stdin="\n".join(requirements) + "\n")
    names = {package["name"] for package in packages(draft)}
    for pin in wanted.pins:
        if pin.split("=")[0] not in names:
            raise LabError("PIN_UNKNOWN", f"--with {pin}: {wanted.purpose} does not depend on it",
                           "pin what it depends on, such as openai or pydantic")
    uv.run(["pip", "sync", "--no-config", "--python", python, str(lock)], wanted.purpose)


def _pinned(wanted: _Wanted) -> tuple[list[str], list[str]]:
    """Requirements and options for uv that stand for the release and the pins."""
    requirements = [f"{releases.DISTRIBUTION}=={wanted.purpose.sdk}"]
    options: list[str] = []
    for pin in wanted.pins:
        name, _, version = pin.partition("=")
        if version == "lowest":  # of what is required directly; all else stays as high as it gets
            requirements.append(name)
            options += ["--resolution", "lowest-direct"] * ("--resolution" not in options)
            continue
        if wanted.release is not None:
            options += ["--exclude-newer-package", f"{name}={_END_OF_TIME}"]
        if version != "latest":
            requirements.append(f"{name}=={version}")
    return requirements, options


def packages(home: Path) -> list[dict[str, Any]]:
    """The packages that the lock in an environment resolved to; nothing where it has none."""
    from agentrunproof.plan.loader import parse_toml

    lock = home / LOCK
    if not lock.is_file():
        return []
    packages: list[dict[str, Any]] = parse_toml(lock.read_text("utf-8"), str(lock))["packages"]
    return packages


def _wheel(home: Path) -> str | None:
    for package in packages(home):
        if package["name"] == releases.DISTRIBUTION:
            digests = [wheel["hashes"]["sha256"] for wheel in package.get("wheels", ())]
            return f"sha256:{digests[0]}" if digests else None
    return None
