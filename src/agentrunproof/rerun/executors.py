"""Where reruns are made: in threads here, or on a Dask cluster."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, TypeVar

from agentrunproof import machine
from agentrunproof.rerun.model import Model, ModelError

T = TypeVar("T")

#: Requests under way at once at an API, unless told otherwise.
WORKERS = 8
#: Seconds for threads to end what they do when nobody needs it any more.
_LEAVE = 2.0


def workers_for(model: Model, wanted: int | None = None) -> int:
    """How many requests may be under way: what the user says, else one at a local model.

    Raises:
        ModelError: ``WORKERS``: less than one is wanted.
    """
    if wanted is not None and wanted < 1:
        raise ModelError("WORKERS", f"--workers {wanted}: nobody would ask the model",
                         "give at least 1")
    return wanted or (1 if model.local else WORKERS)


def of_uri(uri: str | None, workers: int) -> Executor:
    """The executor that ``--executor`` names; as a context manager it leaves nothing behind.

    Args:
        uri: None or ``local`` for threads here, or ``dask://HOST:PORT``.
        workers: threads; a cluster has its own number.

    Raises:
        LabError: ``EXECUTOR_UNKNOWN``, ``EXECUTOR_UNUSABLE``.
    """
    address = machine.cluster_of(uri)
    return Threads(workers) if address is None else Dask(address)


class Threads(Executor):
    """A few threads that keep nobody waiting.

    The standard library joins its pool's threads when the program ends, however long a request
    takes; a Ctrl-C would wait for it.

    Args:
        workers: how many threads.
    """

    def __init__(self, workers: int) -> None:
        self._todo: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._open = True
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        if not self._open:
            raise RuntimeError("submitted after the end")
        future: Future[T] = Future()

        def run() -> None:
            if not self._open:
                future.cancel()
            if future.set_running_or_notify_cancel():
                try:
                    result = fn(*args, **kwargs)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)

        self._todo.put(run)
        return future

    def _work(self) -> None:
        while (run := self._todo.get()) is not None:
            run()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Begin nothing more; what runs is waited for a moment, if at all."""
        self._open = False
        for _ in self._threads:
            self._todo.put(None)
        until = time.monotonic() + (_LEAVE if wait else 0)
        for thread in self._threads:
            thread.join(timeout=max(0, until - time.monotonic()))


class Dask(Executor):
    """The workers of a Dask cluster, which must have this version of agentrunproof.

    Args:
        address: host and port of its scheduler.
    """

    def __init__(self, address: str) -> None:
        _, self._client = machine.dask(address)
        self._inner = self._client.get_executor(pure=False)
        self._made: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = self._inner.submit(fn, *args, **kwargs)
        self._made.add(future)
        future.add_done_callback(self._made.discard)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Begin nothing more, and leave the cluster."""
        for future in list(self._made):
            future.cancel()
        with suppress(TimeoutError):
            self._client.close(timeout=_LEAVE)
