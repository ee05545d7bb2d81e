"""Records on disk: bounded reads, and writes that leave the whole file or nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agentrunproof.canonical import MAX_BYTES
from agentrunproof.errors import RecordError

#: So many bytes more than a file had are read of it, if it grows meanwhile.
_GROWTH = 2**20
_KINDS = (
    (stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISLNK, "a symbolic link"),
)


def read(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file (a symbolic link to one will do).

    Its size is asked for first, so a huge file is refused without being loaded, and of a file that
    is being written no more is read than there was (and a little).

    Args:
        path: the file.
        max_bytes: the greatest size accepted.

    Raises:
        RecordError: ``RECORD_NOT_FOUND``, ``RECORD_NOT_A_FILE``, ``RECORD_TOO_LARGE`` or
            ``RECORD_UNREADABLE``.
    """
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):  # opening a pipe or a device may already do harm
            raise RecordError("RECORD_NOT_A_FILE", f"{path}: is {_kind(status.st_mode)}, "
                              "not a file", "name a file")
        if status.st_size > max_bytes:
            raise _too_large(path, status.st_size, max_bytes)
        with open(path, "rb") as file:
            data = file.read(min(max_bytes, status.st_size + _GROWTH) + 1)
    except FileNotFoundError:
        raise RecordError("RECORD_NOT_FOUND", f"{path}: no such file",
                          "check the path") from None
    except (OSError, ValueError) as problem:
        raise RecordError("RECORD_UNREADABLE", f"{path}: {_reason(problem)}",
                          "check the path and its permissions") from None
    if len(data) > max_bytes:  # it grew meanwhile
        raise _too_large(path, len(data), max_bytes)
    return data


def write(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write a file as a whole: readers see the old content or the new, never a part.

    The bytes go to a new file in the same folder, are flushed to disk, and take the name last.

    Args:
        path: the file to make or replace; its folder must exist.
        data: all of its content.
        mode: its permissions, from which the umask takes.

    Raises:
        RecordError: ``TARGET_NOT_A_FILE``, ``TARGET_NO_FOLDER`` or ``TARGET_UNWRITABLE``.
    """
    check_target(path)
    temporary = path.with_name(f".agentrunproof-{os.urandom(8).hex()}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL
                         | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), mode)
    except OSError as problem:
        raise RecordError("TARGET_UNWRITABLE", f"{path}: {_reason(problem)}",
                          "choose a folder you may write to") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as problem:
        raise RecordError("TARGET_UNWRITABLE", f"{path}: {_reason(problem)}") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path) -> None:
    """Refuse a target that `write` would refuse, before work is spent on its content."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if not path.parent.is_dir():
            raise RecordError("TARGET_NO_FOLDER", f"{path}: the folder {path.parent} does not "
                              "exist", "make the folder first") from None
        return
    except (OSError, ValueError) as problem:
        raise RecordError("TARGET_UNWRITABLE", f"{path}: {_reason(problem)}") from None
    if not stat.S_ISREG(mode):
        raise RecordError("TARGET_NOT_A_FILE", f"{path}: is {_kind(mode)}, not a regular file",
                          "name a new or an ordinary file")


def _kind(mode: int) -> str:
    return next((words for test, words in _KINDS if test(mode)), "a special file")


def _too_large(path: Path, size: int, limit: int) -> RecordError:
    return RecordError("RECORD_TOO_LARGE", f"{path}: {size} bytes, more than the limit of {limit}",
                       "no record is this big; check the path")


def _reason(problem: Exception) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()
