"""Certificates checked on several cores at once.

What comes of it is what the checker says of each file alone, in the same order.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from agentrunproof.checker.judgement import refused
from agentrunproof.checker.members import Assessed, assess
from agentrunproof.errors import RecordError
from agentrunproof.record import store

#: Told how many files have been checked, of how many.
Tick = Callable[[int, int], None]

#: Files that are checked sooner than another process starts.
_FEW = 64
_CHUNK = 16


class Jury:
    """Assesses files by their names, as `checker.members.Members` asks for it.

    Args:
        files: by name.
        reproduced: accept only observations that this version has made itself.
        jobs: processes at once; 2 if there are as many cores, unless told otherwise.
        tick: told of each file that is done.
    """

    def __init__(self, files: Mapping[str, Path], *, reproduced: bool = False,
                 jobs: int | None = None, tick: Tick | None = None) -> None:
        self._files = files
        self._assess = functools.partial(assess_file, reproduced=reproduced)
        self._jobs = min(2, os.cpu_count() or 1) if jobs is None else jobs
        self._tick = tick

    def __call__(self, names: Sequence[str]) -> Iterator[Assessed]:
        """What the checker says of each, in this order; closing it ends what still runs."""
        files = [self._files[name] for name in names]
        alone = self._jobs < 2 or len(files) <= _FEW
        found = map(self._assess, files) if alone else self._at_once(files)
        for done, one in zip(itertools.count(1), found):
            if self._tick is not None:
                self._tick(done, len(files))
            yield one

    def _at_once(self, files: Sequence[Path]) -> Iterator[Assessed]:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(self._jobs, multiprocessing.get_context(_start_method()),
                                 _leave_interrupts) as pool:
            try:
                yield from pool.map(self._assess, files, chunksize=_CHUNK)
            finally:
                pool.shutdown(cancel_futures=True)


def assess_file(path: Path, *, reproduced: bool = False) -> Assessed:
    """Check the certificate in a file; one that cannot be read is not valid."""
    try:
        data = store.read(path)
    except RecordError as error:
        return refused(error), None
    return assess(data, reproduced)


def _start_method() -> str:
    """Forking is quickest, and safe where no thread can hold a lock."""
    alone = sys.platform == "linux" and threading.active_count() == 1
    return "fork" if alone else "spawn"


def _leave_interrupts() -> None:
    """Ctrl-C is for the parent, which ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
