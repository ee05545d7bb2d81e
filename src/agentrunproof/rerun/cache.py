"""Replies of models on disk, so that a search that is made again asks for nothing twice.

An entry is one file, named by what was asked and written whole beside its place, then renamed
into it: any number of threads, processes and machines on one disk may read and write at once. It
begins with the digest of what follows, so an entry that is damaged is none.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentrunproof import machine
from agentrunproof.rerun.model import Tell, silent


class Cache:
    """Replies by what was asked.

    Args:
        folder: where, made when needed; ``replies`` in the folder of caches unless given.
        tell: told once if nothing can be kept; the replies are used all the same.
    """

    def __init__(self, folder: Path | None = None, tell: Tell = silent) -> None:
        self.folder = machine.cache_folder() / "replies" if folder is None else folder
        self._tell = tell
        self._lock = threading.Lock()
        self._useless = False

    def get(self, key: str) -> Any:
        """The reply that is kept under a key (hexadecimal digits), or None."""
        try:
            digest, _, content = self._path(key).read_bytes().partition(b"\n")
            if digest == _digest(content):
                return json.loads(content)
        except (OSError, ValueError, RecursionError):
            pass
        return None

    def put(self, key: str, reply: Any) -> None:
        """Keep a reply, if it can be."""
        if self._useless:
            return
        try:
            content = json.dumps(reply).encode()
        except (TypeError, ValueError, RecursionError):  # no JSON: of a model of one's own
            return
        try:
            self._write(self._path(key), _digest(content) + b"\n" + content)
        except OSError as problem:
            with self._lock:
                told, self._useless = self._useless, True
            if not told:
                self._tell(f"replies cannot be cached in {self.folder}: "
                           f"{(problem.strerror or str(problem)).lower()}")

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=".draft-", dir=path.parent)  # of mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(draft, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
