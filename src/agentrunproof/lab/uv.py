"""uv as a tool: found beside us, run apart from the user's settings, its failures told apart.

Nothing of the user's is touched: not their project, their virtual environment or their uv
configuration. Settings of package indexes that stand in the process environment do hold.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentrunproof.errors import LabError
from agentrunproof.lab import releases

#: What names an environment by itself would contradict the one that we name.
_NAMES_ANOTHER = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_SYSTEM_PYTHON", "UV_PYTHON")

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

#: uv asks `sysconfig`, which before Python 3.12 shows other threads a table that it still fills.
_FINDING = threading.Lock()


@dataclass(frozen=True)
class Purpose:
    """What an environment is made for, to be named when that fails."""

    sdk: str
    python: str

    def __str__(self) -> str:
        return f"{releases.DISTRIBUTION} {self.sdk}"


def run(arguments: Sequence[str], purpose: Purpose, *, stdin: str = "") -> None:
    """Run uv; if it cannot reach the network, once more with what it has cached.

    Args:
        arguments: of uv, the subcommand first; ``--no-config`` must be among them.
        purpose: named in errors.
        stdin: what it reads.

    Raises:
        LabError: it failed.
    """
    try:
        _run(arguments, purpose, stdin)
    except LabError as error:
        if error.code != "NO_NETWORK":
            raise
        try:
            _run(["--offline", *arguments], purpose, stdin)
        except LabError:
            raise error from None


def interpreter(home: Path) -> Path:
    """The Python of the virtual environment in `home`."""
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(arguments: Sequence[str], purpose: Purpose, stdin: str) -> None:
    import subprocess

    ours = {name: value for name, value in os.environ.items() if name not in _NAMES_ANOTHER}
    try:
        done = subprocess.run([_find(), "--quiet", *arguments], env=ours, check=False,
                              input=stdin, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise LabError("UV_UNUSABLE", f"uv could not be started: {error.strerror or error}",
                       "install the uv package beside agentrunproof") from error
    if done.returncode != 0:
        raise _explain(done.stderr, purpose)


def _find() -> str:
    try:
        from uv import find_uv_bin

        with _FINDING:
            return str(find_uv_bin())
    except (ImportError, FileNotFoundError) as error:
        raise LabError("UV_UNUSABLE", "uv is not installed beside agentrunproof",
                       "pip install uv into the same environment") from error


def _explain(said: str, purpose: Purpose) -> LabError:
    if f"no version of {releases.DISTRIBUTION}=={purpose.sdk}" in said:
        return releases.unknown(purpose.sdk)
    for pattern, code, message, hint in _CAUSES:
        if re.search(pattern, said, re.IGNORECASE):
            return LabError(code, f"{purpose}: " + message.format(python=purpose.python), hint)
    reason = "; ".join(line.strip() for line in said.splitlines() if line.strip())
    return LabError("INSTALL_FAILED", f"{purpose} could not be installed: "
                    + (reason[-400:] or "uv said nothing"))
