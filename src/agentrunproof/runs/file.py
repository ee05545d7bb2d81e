"""The file that a run is recorded to: made for it alone, and only ever appended to."""

from __future__ import annotations

import contextlib
import os
import re
from datetime import datetime, timezone
from pathlib import Path

from agentrunproof.runs import folder

_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) \
    | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_LABEL = 40


class RunFile:
    """One run's file, which nobody but its owner may read.

    Args:
        path: the file, which does not exist yet.

    Raises:
        OSError: it cannot be made; `FileExistsError` if it exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, _FLAGS, 0o600)

    def append(self, lines: bytes) -> None:
        """Add whole lines. They are with the operating system when this returns, so a killed
        process loses none of them.

        Raises:
            OSError: the disk is full, the file was closed. Then nothing may be added any more: a
                part of the lines may stand in the file.
        """
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(self._handle, rest):]

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def create(name: str, where: Path | None = None) -> RunFile:
    """A new file for a run called `name` in a folder of runs, which is made if need be.

    Raises:
        OSError: the folder or the file cannot be made.
    """
    where = where or folder.default()
    folder.make(where)
    label = re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:_LABEL] or "run"
    while True:
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        with contextlib.suppress(FileExistsError):
            return RunFile(where / f"{now}-{label}-{os.urandom(3).hex()}{folder.SUFFIX}")


def write(name: str, data: bytes) -> Path:
    """A whole run in a new file in the folder of runs; its path.

    Raises:
        OSError: it cannot be written; then there is no file either.
    """
    made = create(name)
    try:
        made.append(data)
    except OSError:
        made.path.unlink(missing_ok=True)
        raise
    finally:
        made.close()
    return made.path


def create_at(path: Path) -> RunFile:
    """A new file at `path`; if something stands there, with a number added to the name.

    Raises:
        OSError: it cannot be made.
    """
    number = 1
    while True:
        with contextlib.suppress(FileExistsError):
            return RunFile(path if number == 1 else path.with_stem(f"{path.stem}-{number}"))
        number += 1
