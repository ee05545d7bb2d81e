"""The process of an SDK worker: request lines in, message lines out, and how it ended.

It cannot be trusted to live: foreign code may hang in C, exit, or take the process with it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

from agentrunproof.errors import LabError

#: Seconds of silence a worker is allowed beyond the deadline of a phase: importing the SDK from a
#: cold disk, mostly.
GRACE = 60.0

_STDERR_LINES = 40

#: Whoever waits for a line, of whichever process, waits here.
_NEWS = threading.Condition()


class Teller(Protocol):
    """Has reports, that can be taken, and is due when it has been silent for too long."""

    @property
    def reports(self) -> int: ...

    @property
    def due(self) -> float: ...


TellerT = TypeVar("TellerT", bound=Teller)


class Child:
    """One worker process.

    Args:
        python: the interpreter whose environment has the SDK.
        script: what it runs.

    Raises:
        LabError: ``PYTHON_UNUSABLE``, there is no such interpreter.
    """

    def __init__(self, python: Path, script: Path) -> None:
        self.reports = 0  # that can be taken; its end counts as one
        self._owed = 0  # requests whose end it has not told
        self._patience, self._heard = GRACE, time.monotonic()
        self._lines: deque[bytes] = deque()
        self._said: deque[bytes] = deque(maxlen=_STDERR_LINES)
        try:
            self._process = subprocess.Popen(
                [str(python), "-I", "-X", "utf8", str(script)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            raise LabError("PYTHON_UNUSABLE",
                           f"{python} could not be started: {error.strerror or error}") from error
        self._readers = (self._read(self._process.stdout, self._hear, b""),
                         self._read(self._process.stderr, self._said.append, None))

    @staticmethod
    def _read(pipe: IO[bytes] | None, take: Callable[[bytes], None],
              end: bytes | None) -> threading.Thread:
        assert pipe is not None

        def loop() -> None:
            for line in pipe:
                take(line)
            if end is not None:
                take(end)

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        return thread

    def _hear(self, line: bytes) -> None:
        with _NEWS:
            self._lines.append(line)
            self._heard = time.monotonic()
            self.reports += _is_report(line)
            _NEWS.notify_all()

    @property
    def due(self) -> float:
        """When it will have been silent for too long, on the monotonic clock."""
        return self._heard + self._patience

    def ask(self, request: bytes, patience: float) -> None:
        """Hand it a request, before or after it has answered the last.

        Args:
            request: a line.
            patience: seconds for which it may be silent from now on.
        """
        self._owed += 1
        self._patience = patience
        if not self._lines:
            self._heard = time.monotonic()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it is gone already: its output tells how it ended
            self._process.stdin.write(request)
            self._process.stdin.flush()

    def take(self) -> tuple[str, Any] | None:
        """Its next message, which is waited for; None at the end of its output.

        Raises:
            LabError: ``WORKER_STUCK``, it was silent for too long.
            ValueError: a line is not an object with one key.
        """
        with _NEWS:
            while not self._lines:
                left = self.due - time.monotonic()
                if left <= 0:
                    raise LabError(
                        "WORKER_STUCK",
                        f"the SDK worker said nothing for {self._patience:g} seconds",
                        "it was ended; a tool may hang in code that cannot be interrupted")
                _NEWS.wait(left)
            line = self._lines.popleft()
            self.reports -= _is_report(line)
        if not line:
            return None
        ((name, body),) = dict(json.loads(line)).items()
        self._owed -= name == "footer"
        return name, body

    def is_at_rest(self) -> bool:
        """Whether it waits for a request, once it has told the end of each that it was given."""
        with suppress(LabError, LookupError, TypeError, ValueError):
            while self._owed:
                if self.take() is None:
                    return False
            return not self.is_over()
        return False

    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def end(self, patience: float) -> int:
        """The exit code (a signal's is negative) of a process that may take so many seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=patience)
        self.kill()
        return self._process.returncode

    def kill(self) -> None:
        """End the process with all its children and wait for it."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()
        with suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        for reader in self._readers:
            reader.join(timeout=5.0)

    def last_words(self) -> str:
        """The last line that it wrote to stderr, as a hint."""
        said = b"".join(self._said).decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return f"its last words: {last[:300]}" if last else ""


def first_to_tell(tellers: Sequence[TellerT]) -> TellerT:
    """Who has the most reports, once one of them has any; or who is silent for too long."""
    with _NEWS:
        while True:
            most = max(tellers, key=lambda teller: teller.reports)
            if most.reports:
                return most
            due = min(tellers, key=lambda teller: teller.due)
            left = due.due - time.monotonic()
            if left <= 0:
                return due
            _NEWS.wait(left)


def _is_report(line: bytes) -> bool:
    """Whether a line ends what is told of a plan; so does the end of the output."""
    return not line or line.startswith((b'{"done"', b'{"error"'))
