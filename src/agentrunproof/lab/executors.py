"""Where columns run: in threads here, each with child processes of its own, or on a cluster.

An executor takes a task that can be pickled and columns, and gives each column's result as it is
there. A task handles its own errors; what goes wrong beyond it (a lost machine) comes back as
the exception in place of a result.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Protocol

from agentrunproof import machine
from agentrunproof.lab.columns import Job, Result, Say, run_column
from agentrunproof.record.matrix import Column

#: Columns that run at once, unless told otherwise.
JOBS = 2

Task = tuple[Job, Column]
Done = tuple[Column, Result | Exception]


class Executor(Protocol):
    """Runs columns; closing the iterator ends what still runs."""

    def run(self, tasks: Sequence[Task], say: Say) -> Generator[Done, None, None]:
        """Results in the order in which they come."""
        ...


def of_uri(uri: str | None, jobs: int = JOBS) -> Executor:
    """The executor that ``--executor`` names; None or ``local`` is this machine.

    Raises:
        LabError: ``EXECUTOR_UNKNOWN``, or ``EXECUTOR_UNUSABLE``.
    """
    address = machine.cluster_of(uri)
    return Local(jobs) if address is None else Dask(address)


class _Stopped(BaseException):
    """The run is over; no handler of errors may take this for one."""


class Local:
    """Some threads, each with one column at a time and a child process for its plans."""

    def __init__(self, jobs: int = JOBS, work: Callable[..., Result] = run_column) -> None:
        self._jobs = max(1, jobs)
        self._work = work

    def run(self, tasks: Sequence[Task], say: Say) -> Generator[Done, None, None]:
        stop = threading.Event()
        todo: queue.SimpleQueue[Task] = queue.SimpleQueue()
        done: queue.SimpleQueue[Done] = queue.SimpleQueue()
        for task in tasks:
            todo.put(task)

        def heard(message: str) -> None:
            if stop.is_set():
                raise _Stopped
            say(message)

        def loop() -> None:
            with suppress(queue.Empty, _Stopped):
                while not stop.is_set():
                    job, column = todo.get_nowait()
                    try:
                        done.put((column, self._work(job, column, heard)))
                    except Exception as error:
                        done.put((column, error))

        # Daemons: a thread that waits for a hung worker must not keep Ctrl-C waiting.
        threads = [threading.Thread(target=loop, daemon=True) for _ in range(self._jobs)]
        for thread in threads:
            thread.start()
        try:
            for _ in tasks:
                yield done.get()
        finally:
            stop.set()
            for thread in threads:
                thread.join(timeout=2.0)


class Dask:
    """The workers of a Dask cluster, which must have this version of agentrunproof."""

    def __init__(self, address: str) -> None:
        self._dask, self._client = machine.dask(address)

    def run(self, tasks: Sequence[Task], say: Say) -> Generator[Done, None, None]:
        futures = {self._client.submit(run_column, job, column, pure=False): column
                   for job, column in tasks}
        try:
            for future in self._dask.as_completed(list(futures)):
                column = futures[future]
                say(f"{column.key}: back from the cluster")
                error = future.exception()
                yield column, error if error is not None else future.result()
        finally:
            self._client.cancel([future for future in futures if not future.done()])
            self._client.close()
