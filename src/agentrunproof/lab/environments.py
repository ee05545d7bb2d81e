"""Isolated environments: one per SDK release and Python, made by uv, kept in a cache folder.

Nothing of the user's is touched: not their project, their virtual environment or their uv
configuration. Settings of package indexes that stand in the process environment do hold.

An environment is built beside its final place and renamed into it, so what stands there is whole.
Of two processes that build the same one, the first to finish wins and the other throws its own
away.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentrunproof.errors import LabError
from agentrunproof.lab import releases

Say = Callable[[str], None]

_PYTHON = re.compile(r"3\.\d+")


@dataclass(frozen=True)
class Environment:
    """An interpreter that has the SDK; `sdk` is None where it has whatever is installed."""

    python: Path
    sdk: str | None = None


def current() -> Environment:
    """The running interpreter and the SDK installed beside us."""
    return Environment(Path(sys.executable))


def isolated(sdk: str, python: str | None = None, say: Say | None = None) -> Environment:
    """The environment of a release, built if it is not in the cache.

    Args:
        sdk: release number of the SDK, such as ``0.20.0``.
        python: version such as ``3.12``; the running one by default, if the release allows it.
        say: told in a line what is being done, if it takes long.

    Raises:
        LabError: no such release or Python, no network, no room, or uv failed.
    """
    release = releases.find(sdk)
    version = _choose_python(release, python)
    home = cache_folder() / f"{releases.DISTRIBUTION}-{sdk}-python-{version}"
    if not _interpreter(home).exists():
        if say is not None:
            say(f"making an environment for {releases.DISTRIBUTION} {sdk}, Python {version}")
        _build(home, sdk, version, release)
    return Environment(_interpreter(home), sdk)


def cache_folder() -> Path:
    """Where environments are kept.

    ``$AGENTRUNPROOF_CACHE``, else ``agentrunproof`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``.
    """
    if own := os.environ.get("AGENTRUNPROOF_CACHE"):
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).absolute() if shared else Path.home() / ".cache") / "agentrunproof"


def _running() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _choose_python(release: releases.Release | None, asked: str | None) -> str:
    version = asked or _running()
    if not _PYTHON.fullmatch(version):
        raise LabError("PYTHON_SYNTAX", f"--python {version!r} is not a Python version",
                       "write it like 3.12")
    if release is not None and releases.parse(version) < release.oldest_python:
        raise LabError("PYTHON_TOO_OLD",
                       f"{releases.DISTRIBUTION} {release.version} needs Python "
                       f"{release.requires_python}, not {version}",
                       "name another with --python")
    return version


def _build(home: Path, sdk: str, python: str, release: releases.Release | None) -> None:
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
        # uv names the base interpreter itself where it is the running one: no search, no download.
        wanted = sys.executable if python == _running() else python
        _uv(["venv", "--no-config", "--no-project", "--relocatable", "--allow-existing",
             "--python", wanted, str(draft)], sdk, python)
        dated = ["--exclude-newer", release.exclude_newer] if release is not None else []
        _uv(["pip", "install", "--no-config", "--python", str(_interpreter(draft)), *dated,
             f"{releases.DISTRIBUTION}=={sdk}"], sdk, python)
        try:
            draft.rename(home)
        except OSError:
            if not _interpreter(home).exists():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _interpreter(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _uv(arguments: list[str], sdk: str, python: str) -> None:
    """Run uv.

    Raises:
        LabError: it failed; what it said is told apart here.
    """
    import subprocess

    # What names an environment by itself would contradict the one named by --python.
    ours = {name: value for name, value in os.environ.items()
            if name not in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_SYSTEM_PYTHON", "UV_PYTHON")}
    try:
        done = subprocess.run([_find_uv(), "--quiet", *arguments], env=ours, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace")
    except OSError as error:
        raise LabError("UV_UNUSABLE", f"uv could not be started: {error.strerror or error}",
                       "install the uv package beside agentrunproof") from error
    if done.returncode != 0:
        raise _explain(done.stderr, sdk, python)


def _find_uv() -> str:
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise LabError("UV_UNUSABLE", "uv is not installed beside agentrunproof",
                       "pip install uv into the same environment") from error


#: What uv says -> code, message, hint. The first that occurs decides.
_CAUSES: tuple[tuple[str, str, str, str], ...] = (
    ("no space left|quota exceeded", "DISK_FULL", "the disk is full",
     "make room, or set AGENTRUNPROOF_CACHE to a folder on another disk"),
    ("no interpreter found|failed to download `?http|invalid version request", "PYTHON_UNKNOWN",
     "Python {python} is not here and could not be fetched",
     "name another with --python, or install that one"),
    ("network was disabled|failed to fetch|error sending request|dns error|connect error",
     "NO_NETWORK", "the package index cannot be reached",
     "connect, or leave --sdk out to use the installed SDK"),
)


def _explain(said: str, sdk: str, python: str) -> LabError:
    if f"no version of {releases.DISTRIBUTION}=={sdk}" in said:
        return releases.unknown(sdk)
    for pattern, code, message, hint in _CAUSES:
        if re.search(pattern, said, re.IGNORECASE):
            return LabError(code, f"{releases.DISTRIBUTION} {sdk}: "
                                  + message.format(python=python), hint)
    reason = "; ".join(line.strip() for line in said.splitlines() if line.strip())
    return LabError("INSTALL_FAILED",
                    f"{releases.DISTRIBUTION} {sdk} could not be installed: "
                    + (reason[:400] or "uv said nothing"))
