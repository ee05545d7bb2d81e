"""SDK workers: plans go in, finished plans come out as they finish.

A worker reads a JSON line and answers in JSON lines (`agentrunproof.sdk.worker`), as often as it
is asked. Whatever becomes of its process (`lab.child`), every plan gets its own report here, and
the plans that a lost worker left behind go to a new one.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import agentrunproof
from agentrunproof.errors import LabError
from agentrunproof.lab.child import GRACE, Child, first_to_tell
from agentrunproof.plan import capabilities, variants
from agentrunproof.plan.model import Plan
from agentrunproof.record import events
from agentrunproof.record.observation import Observation, PhaseRun, gathered

#: Exit code of a worker that reported a phase as out of time and cannot go on.
OUT_OF_TIME = 3

#: From so many plans on, starting a second process takes less time than it saves.
MANY = 40

#: How many plans a worker is handed beyond the one it is at, so that it need not wait for more.
AHEAD = 1


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

    def line(self, ids: Sequence[str]) -> bytes:
        """The request for these of the plans, as the worker reads it."""
        plans = [{"id": id, "plan": self.plans[id].to_json(),
                  "needs": capabilities.needed(self.plans[id]),
                  "variants": {variant.name: variant.plan.to_json()
                               for variant in variants.variants(self.plans[id])}} for id in ids]
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


def workers_for(plans: int) -> int:
    """How many workers so many plans should have."""
    return 2 if plans >= MANY and (os.cpu_count() or 1) > 1 else 1


def ahead(python: Path) -> AbstractContextManager[list[Worker]]:
    """Start the workers that many plans will have, while those are still being read.

    They import the SDK, which takes longer than anything else before the first run, and end with
    the context.
    """
    return started(python, workers_for(MANY))


def share_out(workers: Sequence[Worker], request: Request,
              progress: Callable[[str, str], None] | None = None
              ) -> Generator[Report, None, None]:
    """Run the plans in these processes and yield one report for each, as they are there.

    Who has finished a plan is handed the next that nobody has, so all end at about the same time.

    Args:
        workers: who shares the plans; the reports are the same. They can be kept for more.
        request: the plans and how to run them.
        progress: told the scenario id and ``mode/phase`` of each finished run.
    """
    left = iter(request.plans)
    try:
        for worker, id in zip([*workers] * (1 + AHEAD), left, strict=False):
            worker.ask(request, [id])
        while busy := [worker for worker in workers if worker.asked]:
            worker = busy[0] if len(busy) == 1 else first_to_tell(busy)
            report = worker.report(request, progress)
            able = [one for one in (worker, *busy) if one.usable]
            (able or busy)[0].ask(request, list(islice(left, 1)))
            yield report
    finally:
        for worker in workers:
            worker.rest()


class Worker:
    """A worker that is kept between requests, for it starts slowly; `close` ends it.

    `asked` are the plans whose reports it owes, in their order.

    Args:
        python: the interpreter whose environment has the SDK.
        worker: another worker script than ours.
        grace: seconds of silence beyond the deadline after which it is killed.
    """

    def __init__(self, python: Path, *, worker: Path | None = None, grace: float = GRACE) -> None:
        self._python, self._grace = python, grace
        self._script = worker or Path(agentrunproof.__file__).parent / "sdk" / "worker.py"
        self._child: Child | None = None
        self._hello: Hello | None = None
        self._unusable: LabError | None = None
        self.asked: list[str] = []

    @property
    def usable(self) -> bool:
        """Whether there is a process, or another may be started: none of them failed to start."""
        return self._unusable is None

    @property
    def reports(self) -> int:
        """How many reports are there."""
        return self._child.reports if self._child is not None else len(self.asked)

    @property
    def due(self) -> float:
        """When it will have been silent for too long, on the monotonic clock."""
        return self._child.due if self._child is not None else math.inf

    def start(self) -> None:
        """Start the process if there is none, so that it is ready when it is asked."""
        if self._child is not None and not self.asked and self._child.is_over():
            self.close()
        if self._child is None:
            self._child, self._hello = Child(self._python, self._script), None

    def ask(self, request: Request, ids: Sequence[str]) -> None:
        """Hand it some of the plans of a request."""
        if self.usable and ids:
            self.start()
            assert self._child is not None
            self._child.ask(request.line(ids), float(request.deadline) + self._grace)
        self.asked += ids

    def report(self, request: Request, progress: Callable[[str, str], None] | None) -> Report:
        """What became of the plan that it was asked for first, which is waited for.

        If the process is lost in that, the other plans go to a new one.

        Args:
            request: what the plans belong to.
            progress: told of each finished run.
        """
        report = Report(self.asked[0], self._hello, error=self._unusable)
        if self._child is not None and not self._read(self._child, report, progress):
            rest, self.asked = self.asked, self.asked[:1]
            if report.hello is None:
                self._unusable = report.error  # it never started, so neither would another
                self.asked = rest
            else:
                self.ask(request, rest[1:])
        del self.asked[0]
        return report

    def _read(self, child: Child, report: Report,
              progress: Callable[[str, str], None] | None) -> bool:
        """Fill a report with what is told of its plan, or say in it why that ended early."""
        told: list[events.Event] = []
        failure: LabError | None = None
        try:
            while (message := child.take()) is not None:
                name, body = message
                if name == "hello":
                    self._hello = report.hello = read_hello(body)
                elif name == "footer":
                    continue
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
                    return True
        except LabError as error:
            failure = error
        except (LookupError, TypeError, ValueError) as error:
            failure = LabError("WORKER_GARBLED", f"the SDK worker answered nonsense: {error!r}")
        self._lost(child, report, failure)
        return False

    def _lost(self, child: Child, report: Report, failure: LabError | None) -> None:
        """End a process that told nonsense or nothing, or see how it ended by itself."""
        code = child.end(5.0 if failure is None else 0.0)
        self._child = None
        if failure is None and not (code == OUT_OF_TIME and report.runs):
            ending = f"signal {-code}" if code < 0 else f"exit code {code}"
            failure = LabError("WORKER_DIED", f"the SDK worker died ({ending})",
                               child.last_words())
        report.error = failure

    def rest(self) -> None:
        """Be ready for other plans; a process that has not told all it was asked is ended."""
        if self.asked or self._child is None or not self._child.is_at_rest():
            self.close()

    def close(self) -> None:
        """End the process, if there is one."""
        child, self._child = self._child, None
        self.asked, self._unusable = [], None
        if child is not None:
            child.kill()


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
