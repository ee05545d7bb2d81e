"""The SDK worker as a child process: plans go in, finished plans come out as they finish.

The worker reads a JSON line and answers in JSON lines (`agentrunproof.sdk.worker`), as often as it
is asked. It cannot be trusted to live: foreign code may hang in C, exit, or take the process with
it. Every plan still gets its own report here, and the plans that a lost worker left behind go to a
new one.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import agentrunproof
from agentrunproof.errors import LabError
from agentrunproof.plan import capabilities, variants
from agentrunproof.plan.model import Plan
from agentrunproof.plan.variants import Variant
from agentrunproof.record import events
from agentrunproof.record.observation import Observation, PhaseRun, gathered

#: Seconds of silence a worker is allowed beyond the deadline of a phase: importing the SDK from a
#: cold disk, mostly.
GRACE = 60.0

#: Exit code of a worker that reported a phase as out of time and cannot go on.
OUT_OF_TIME = 3

_STDERR_LINES = 40


@dataclass(frozen=True)
class Request:
    """What a worker is asked to do.

    Args:
        plans: by scenario id, in the order in which they run.
        deadline: seconds of real time that one phase run may take, as a decimal.
        path: folders in which the plans' ``python:`` references are looked for.
    """

    plans: Mapping[str, Plan]
    deadline: str
    path: Sequence[str] = ()

    @cached_property
    def variants(self) -> dict[str, tuple[Variant, ...]]:
        """The variants of each plan."""
        return {id: variants.variants(plan) for id, plan in self.plans.items()}

    def line(self, ids: Sequence[str]) -> bytes:
        """The request for these of the plans, as the worker reads it."""
        plans = [{"id": id, "plan": self.plans[id].to_json(),
                  "needs": capabilities.needed(self.plans[id]),
                  "variants": {variant.name: variant.plan.to_json()
                               for variant in self.variants[id]}} for id in ids]
        body = {"plans": plans, "deadline": self.deadline, "path": list(self.path)}
        return json.dumps(body).encode() + b"\n"


@dataclass(frozen=True)
class Hello:
    """Who ran the plans: the worker's first line."""

    sdk_version: str
    sdk_files: str
    python: str
    network: str


@dataclass
class Report:
    """What became of one plan; `error` says why there may be less than all of it.

    `varied` are the runs of its variants, each with the variant's name.
    """

    id: str
    hello: Hello | None = None
    runs: list[PhaseRun] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    error: LabError | None = None
    varied: list[tuple[str, PhaseRun]] = field(default_factory=list)

    @property
    def observation(self) -> Observation:
        return gathered([*(("", run) for run in self.runs), *self.varied], self.missing)


@contextmanager
def started(python: Path, count: int, *, worker: Path | None = None, grace: float = GRACE
            ) -> Iterator[list[Worker]]:
    """Worker processes that are starting, and end with the context.

    Args:
        python: the interpreter whose environment has the SDK.
        count: how many.
        worker: another worker script than ours.
        grace: seconds of silence beyond the deadline after which one is killed.
    """
    with ExitStack() as stack:
        kept = [stack.enter_context(closing(Worker(python, worker=worker, grace=grace)))
                for _ in range(count)]
        for one in kept:
            one.start()
        yield kept


def share_out(workers: Sequence[Worker], request: Request,
              progress: Callable[[str, str], None] | None = None
              ) -> Generator[Report, None, None]:
    """Run the plans in these processes and yield one report for each.

    Reports come in the order of the plans, of several workers as they are there.

    Args:
        workers: who shares the plans; the reports are the same.
        request: the plans and how to run them.
        progress: told the scenario id and ``mode/phase`` of each finished run.
    """
    shares = _shares(request, len(workers))
    streams = [one.run(request, progress, ids)
               for one, ids in zip(workers, shares, strict=True)]
    left = [len(ids) for ids in shares]
    for _ in request.plans:
        at = max(range(len(workers)), key=lambda n: (left[n] > 0, workers[n].ready, left[n]))
        left[at] -= 1
        yield next(streams[at])


def _shares(request: Request, workers: int) -> list[list[str]]:
    """The plans of each worker: one after the other goes to whoever has the fewest runs to do."""
    shares: list[list[str]] = [[] for _ in range(workers)]
    runs = [0] * workers
    for id, plan in request.plans.items():
        least = runs.index(min(runs))
        shares[least].append(id)
        runs[least] += len(plan.phases) * (len(plan.modes) + len(request.variants[id]))
    return shares


class Worker:
    """A worker that is kept between requests, for it starts slowly; `close` ends it.

    Args:
        python: the interpreter whose environment has the SDK.
        worker: another worker script than ours.
        grace: seconds of silence beyond the deadline after which it is killed.
    """

    def __init__(self, python: Path, *, worker: Path | None = None, grace: float = GRACE) -> None:
        self._python, self._grace = python, grace
        self._script = worker or Path(agentrunproof.__file__).parent / "sdk" / "worker.py"
        self._child: _Child | None = None

    @property
    def ready(self) -> bool:
        """Whether the next report is there, or nothing more will come."""
        return self._child is not None and self._child.told > self._child.taken

    def start(self) -> None:
        """Start the process if there is none, so that it is ready when it is asked."""
        if self._child is None or not self._child.answered or self._child.is_over():
            self.close()
            self._child = _Child(self._python, self._script)

    def run(self, request: Request, progress: Callable[[str, str], None] | None = None,
            ids: Sequence[str] | None = None) -> Generator[Report, None, None]:
        """Begin at once, and yield one report for each plan, in order; see `share_out`.

        Args:
            request: the plans and how to run them.
            progress: told of each finished run.
            ids: which of the plans; None for all.
        """
        pending = list(request.plans if ids is None else ids)
        return self._reports(request, pending, self._ask(request, pending), progress)

    def _ask(self, request: Request, pending: Sequence[str]) -> _Child:
        """The process, which has been asked for these plans."""
        self.start()
        assert self._child is not None
        self._child.ask(request.line(pending), float(request.deadline) + self._grace)
        return self._child

    def _reports(self, request: Request, pending: list[str], child: _Child,
                 progress: Callable[[str, str], None] | None) -> Generator[Report, None, None]:
        try:
            while pending:
                for report in child.reports(pending, progress):
                    pending.remove(report.id)
                    yield report
                if pending:
                    child = self._ask(request, pending)
        finally:
            if not child.answered:
                self.close()

    def close(self) -> None:
        """End the process, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()


class _Child:
    """One worker process, its lines, and its end; `answered` says that it waits for a request.

    Of the reports that it has `told` (its end counts as one), so many have been `taken`.
    """

    def __init__(self, python: Path, script: Path) -> None:
        self._patience = GRACE
        self._hello: Hello | None = None
        self.answered = True
        self.told = self.taken = 0
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._said: deque[bytes] = deque(maxlen=_STDERR_LINES)
        try:
            self._process = subprocess.Popen(
                [str(python), "-I", "-X", "utf8", str(script)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            raise LabError("PYTHON_UNUSABLE",
                           f"{python} could not be started: {error.strerror or error}") from error
        self._readers = (self._read(self._process.stdout, self._take, b""),
                         self._read(self._process.stderr, self._said.append, None))

    def _take(self, line: bytes) -> None:
        self._lines.put(line)
        self.told += not line or line.startswith((b'{"done"', b'{"error"'))

    def ask(self, request: bytes, patience: float) -> None:
        """Hand it a request; it may be silent for `patience` seconds at a time."""
        self._patience, self.answered = patience, False
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it is gone already: `reports` tells how it ended
            self._process.stdin.write(request)
            self._process.stdin.flush()

    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

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

    def reports(self, pending: Sequence[str],
                progress: Callable[[str, str], None] | None) -> Iterator[Report]:
        """Reports of the plans this worker finished, and of the one it was lost in."""
        left = list(pending)
        told: list[events.Event] = []
        report = Report(left[0], self._hello)
        failure: LabError | None = None
        try:
            for name, body in self._messages():
                if name == "hello":
                    self._hello = report.hello = read_hello(body)
                elif name == "footer":
                    self.answered = not left
                    break
                elif body["plan"] != report.id:
                    raise ValueError(f"{name} of {body['plan']!r} instead of {report.id!r}")
                elif name == "run":
                    run, variant = read_run(body, told), str(body.get("variant", ""))
                    if variant:
                        report.varied.append((variant, run))
                    else:
                        report.runs.append(run)
                    if progress is not None:
                        progress(report.id, f"{variant or run.mode}/{run.phase}")
                else:
                    if name == "done":
                        report.missing = tuple(body["missing"])
                    else:
                        report.error = LabError(body["code"], body["message"],
                                                body.get("hint", ""))
                    self.taken += 1
                    yield report
                    left.pop(0)
                    told.clear()
                    if left:
                        report = Report(left[0], self._hello)
        except LabError as error:
            failure = error
        except (LookupError, TypeError, ValueError) as error:
            failure = LabError("WORKER_GARBLED", f"the SDK worker answered nonsense: {error!r}")
        if left:
            yield from self._lost(report, left, failure)

    def _lost(self, report: Report, left: Sequence[str],
              failure: LabError | None) -> Iterator[Report]:
        """Reports of what a worker left undone when it ended, or was ended, before its footer."""
        if failure is None:  # its output ended, so it is about to
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5.0)
        self.kill()
        out_of_time = self._process.returncode == OUT_OF_TIME and report.runs
        if failure is None and not out_of_time:
            failure = LabError("WORKER_DIED", "the SDK worker died (" + self._ending() + ")",
                               self._last_words())
        report.error = failure
        yield report
        if report.hello is None:  # it never started, so neither would another
            for id in left[1:]:
                yield Report(id, error=failure)

    def _messages(self) -> Iterator[tuple[str, Any]]:
        """The worker's lines, each an object with one key; ends with its output.

        Raises:
            LabError: it was silent for too long.
            ValueError: a line is not of that form.
        """
        while True:
            try:
                line = self._lines.get(timeout=self._patience)
            except queue.Empty:
                raise LabError(
                    "WORKER_STUCK", f"the SDK worker said nothing for {self._patience:g} seconds",
                    "it was ended; a tool may hang in code that cannot be interrupted") from None
            if not line:
                return
            (item,) = dict(json.loads(line)).items()
            yield item

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

    def _ending(self) -> str:
        code = self._process.returncode
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _last_words(self) -> str:
        said = b"".join(self._said).decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return f"its last words: {last[:300]}" if last else ""


def read_hello(body: dict[str, Any]) -> Hello:
    sdk = body["sdk"]
    return Hello(str(sdk["version"]), str(sdk["files"]), str(body["python"]),
                 str(body["network"]))


def read_run(body: dict[str, Any], told: list[events.Event]) -> PhaseRun:
    """A run, of which events that were `told` before are numbers; adds those that were not."""
    found = []
    for event in body["events"]:
        if isinstance(event, int):
            found.append(told[event])
        else:
            found.append(events.make(**event))
            told.append(found[-1])
    return PhaseRun(body["mode"], body["phase"], tuple(found))
