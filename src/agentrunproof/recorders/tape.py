"""The tape of a recorder: one run file, written by many threads, tasks and forked processes.

Integrations write to it; nothing of it raises. What could not be recorded is told once.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from agentrunproof.record import dialects
from agentrunproof.record.run_writer import RunWriter
from agentrunproof.recorders.linking import Asked, Links, Scope
from agentrunproof.recorders.secrets import Scrubber
from agentrunproof.runs import file as run_file

T = TypeVar("T")

_LOG = logging.getLogger("agentrunproof")
_ALL: weakref.WeakSet[Tape] = weakref.WeakSet()


class Tape:
    """Records one run; safe for threads, tasks and forked processes.

    Args:
        name: what the run is called.
        file: the file to write, or None.
        folder: the folder to make a file in, or None for that of all runs.
        redact: what is done to each text before it is written, or None.
    """

    def __init__(self, name: str, file: Path | None, folder: Path | None,
                 redact: Callable[[str], str] | None) -> None:
        self.name = name
        #: What could not be recorded.
        self.incomplete: list[str] = []
        self._place = (file, folder)
        self._scrub = Scrubber(redact, self.trouble)
        self._closed = False
        self._undo: list[Callable[[], object]] = []
        self._refine: list[Callable[[Scope], Scope]] = []
        self._numbers = {kind: itertools.count(1) for kind in "mta"}
        self._lock = threading.RLock()
        self._begin()
        _ALL.add(self)

    # life

    @property
    def path(self) -> Path | None:
        """The run's file; None if none could be made."""
        return self._file.path if self._file is not None else None

    def close(self, outcome: str = "completed", error: dict[str, str] | None = None) -> None:
        """End the run; what was wrapped is as it was before. A second time does nothing.

        Args:
            outcome: one of `record.events.RunOutcome`.
            error: what it raised, if that is known.
        """
        if self._closed:
            return
        for undo in reversed(self._undo):
            self.safely(undo)
        if os.getpid() == self._pid:  # in a forked process that recorded nothing, it's not ours
            self.write(lambda writer: self._finish(writer, outcome, error))
        self._closed = True
        if self._file is not None:
            self.safely(self._file.close)

    def _finish(self, writer: RunWriter, outcome: str, error: dict[str, str] | None) -> None:
        lost = sorted({*self.incomplete, *(f"no JSON: {what}" for what in writer.lost)})
        writer.finish(outcome, clock={"at": time.time()}, error=error,
                      **({"incomplete": lost} if lost else {}))

    def _begin(self) -> None:
        """Make a file and begin a run in it: at first, and again in a forked process."""
        self._links = Links()
        self._writer = RunWriter(self._emit, self._scrub)
        self._later: list[Callable[[RunWriter], object]] = []
        self._busy = self._broken = False
        self._file: run_file.RunFile | None = None
        self._pid = os.getpid()
        file, folder = self._place
        try:
            self._file = run_file.create_at(file) if file else run_file.create(self.name, folder)
        except OSError as error:
            self.trouble(error)
        self.write(lambda writer: writer.start(self.name, clock={"at": time.time()}))

    def _emit(self, lines: bytes) -> None:
        if self._file is None or self._broken:
            return
        try:
            self._file.append(lines)
        except OSError:  # a part of the lines may stand there: nothing may follow it
            self._broken = True
            raise

    # what integrations need

    def scope(self) -> Scope:
        """Which agent runs here, inside of which tool call."""
        scope = self.declared_scope()
        for refine in self._refine:
            with contextlib.suppress(Exception):
                scope = refine(scope)
        return scope

    def declared_scope(self) -> Scope:
        """The same by what our own blocks say, no framework asked."""
        return self._links.scope.get()

    @contextlib.contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """What happens inside happens in that scope."""
        links = self._links
        token = links.scope.set(scope)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):  # left in another context than entered
                links.scope.reset(token)

    def ask_about_scope(self, refine: Callable[[Scope], Scope]) -> None:
        """Have a framework say more exactly who acts, given what is known."""
        self._refine.append(refine)

    def on_close(self, undo: Callable[[], object]) -> None:
        """Have something undone when the run ends."""
        self._undo.append(undo)

    def next_id(self, kind: str) -> str:
        """An id for a model call (``m``), a tool call (``t``), an agent's block (``a``)."""
        return f"{kind}{next(self._numbers[kind])}"

    def write(self, action: Callable[[RunWriter], object]) -> None:
        """Write something, whole, in the order of happening."""
        with self._lock:
            self._in_own_file()
            if self._closed:
                return
            self._later.append(action)
            if self._busy:  # called by a finalizer amid of writing: right after that
                return
            self._busy = True
            try:
                while self._later:
                    self._write(self._later.pop(0))
            finally:
                self._busy = False

    def _write(self, action: Callable[[RunWriter], object]) -> None:
        writer = self._writer
        told = len(writer.lost)
        self.safely(lambda: action(writer))
        if len(writer.lost) > told:
            self._warn(f"no JSON: {writer.lost[told]}")

    def _in_own_file(self) -> None:
        """A forked process has a file of its own, once it has something to write."""
        if os.getpid() != self._pid:
            self._begin()

    def replied(self, call: str, scope: Scope, decision: dialects.Decision) -> None:
        """A model replied: the tools that it asked for can be linked to it."""
        with self._lock:
            self.safely(lambda: self._links.replied(call, scope, decision))

    def asked(self, tool: str, arguments: Any, id: str, scope: Scope) -> Asked | None:
        """What a model asked for that is done by this tool call, if it can be told."""
        with self._lock:
            self._in_own_file()
            return self.safely(lambda: self._links.take(tool, arguments, id, scope))

    def trouble(self, error: Exception) -> None:
        """Something could not be recorded."""
        words = " ".join(str(error).split())
        self._warn(f"{type(error).__name__}: {words}" if words else type(error).__name__)

    def _warn(self, what: str) -> None:
        """Say it once, remember all of it."""
        if not self.incomplete:
            _LOG.warning("agentrunproof: the recording of run %r is incomplete: %s",
                         self.name, what)
        if what not in self.incomplete and len(self.incomplete) < 100:
            self.incomplete.append(what)

    def safely(self, action: Callable[[], T]) -> T | None:
        """What `action` returns, or None where it fails, which is told."""
        try:
            return action()
        except Exception as error:
            self.trouble(error)
            return None


def _after_fork() -> None:
    """A thread that is gone may hold a lock."""
    for tape in list(_ALL):
        tape._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
