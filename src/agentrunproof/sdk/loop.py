"""An event loop on virtual time.

When nothing is ready and no thread works for the loop, its clock jumps to the next timer: tool
timeouts, retry backoff and delays cost no time and happen in the same order under any load. When
there is no timer either, nothing can ever happen again, and the loop says so at once instead of
hanging.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from concurrent.futures import Executor
from typing import Any


class Deadlock(RuntimeError):
    """Every task waits for something that can no longer happen."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A selector loop whose `time` is virtual, in seconds from 0."""

    def __init__(self) -> None:
        self._now = 0.0
        self._at_work = 0
        self._threads_before = set(threading.enumerate())
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Any, *args: Any
    ) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        self._at_work += 1
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _: asyncio.Future[Any]) -> None:
        self._at_work -= 1

    @property
    def threads_at_work(self) -> bool:
        """Whether a thread may yet wake this loop: an executor's, or one started since."""
        return self._at_work > 0 or any(
            thread not in self._threads_before and not thread.name.startswith("asyncio_")
            for thread in threading.enumerate())

    def jump(self, seconds: float) -> None:
        self._now += seconds


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout == 0 and len(self.get_map()) == 1:
            return []  # the loop has work, and only its own wake-up could be read, as well later
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self._loop.threads_at_work:
            # A thread's result comes before any timer, however long it takes in real time.
            return super().select(None)
        if timeout is None:
            raise Deadlock("nothing is left that could wake the run")
        self._loop.jump(timeout)
        return super().select(0)
