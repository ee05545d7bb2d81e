"""A sweep: every column of a matrix, those done before left out, each kept as soon as it is done.

An interrupted sweep loses at most the columns it was in the middle of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import agentrunproof
from agentrunproof.errors import AgentRunProofError, LabError
from agentrunproof.lab.columns import Job, Result
from agentrunproof.lab.executors import Executor, Task
from agentrunproof.lab.folder import Folder
from agentrunproof.record import layout
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, Matrix

Say = Callable[[str], None]

#: Told when a column is done: how many are, of how many, and which it was.
Tick = Callable[[int, int, Column], None]


@dataclass
class Swept:
    """What a sweep came to.

    Args:
        matrix: the record.
        errors: what stood in the way, by scenario and column.
        reused: how many cells an earlier sweep had done.
    """

    matrix: Matrix
    errors: dict[tuple[str, Column], AgentRunProofError] = field(default_factory=dict)
    reused: int = 0


def sweep(folder: Folder, job: Job, columns: Sequence[Column], executor: Executor, *,
          say: Say, tick: Tick, warn: Say) -> Swept:
    """Run a job in every column and write the matrix.

    Args:
        folder: where everything is kept.
        job: what to run.
        columns: where to run it.
        executor: runs columns.
        say: told in a line what is being done, from any thread.
        tick: told of each finished column.
        warn: told in a line what is wrong with what was found in the folder.

    Raises:
        LabError: another sweep is at work in the folder.
        RecordError: something cannot be written.
    """
    with folder.locked():
        return _Sweep(folder, job, columns, say, tick, warn).run(executor)


class _Sweep:
    def __init__(self, folder: Folder, job: Job, columns: Sequence[Column], say: Say,
                 tick: Tick, warn: Say) -> None:
        self._folder = folder
        self._job = job
        self._columns = columns
        self._say = say
        self._tick = tick
        self._warn = warn
        self._heads = job.heads()
        self._digests = {head.scenario: head.plan for head in self._heads}
        self._findings: dict[tuple[str, Column], Finding] = {}
        self._errors: dict[tuple[str, Column], AgentRunProofError] = {}

    def run(self, executor: Executor) -> Swept:
        tasks = self._tasks()
        reused = len(self._findings)
        finished = len(self._columns) - len(tasks)
        total = len(self._columns)
        with closing(executor.run(tasks, self._say)) as results:
            for column, result in results:
                if isinstance(result, Exception):
                    result = self._lost(column, result)
                self._folder.keep(result, self._digests)
                self._take(result)
                finished += 1
                self._tick(finished, total, column)
        made = layout.lay_out(agentrunproof.__version__, self._columns, self._heads,
                              self._findings)
        self._folder.write(made)
        return Swept(made, self._errors, reused)

    def _tasks(self) -> list[Task]:
        """What is left to do, column by column."""
        tasks: list[Task] = []
        reusable = {id: self._digests[id] for id, plan in self._job.plans.items()
                    if next(plan.python_refs(), None) is None}  # foreign Python may have changed
        self._findings, problems = self._folder.done(
            self._columns, reusable,
            lambda done, total: self._say(f"looking at what is there: {done} of {total}"))
        for problem in problems:
            self._warn(f"{problem} (it is made again)")
        for column in self._columns:
            found = {id for id in self._job.plans if (id, column) in self._findings}
            if self._job.command is not None or len(found) < len(self._job.plans):
                tasks.append((self._job.without(found), column))
        return tasks

    def _lost(self, column: Column, error: Exception) -> Result:
        """The result of a column that the executor could not bring back."""
        lost = error if isinstance(error, AgentRunProofError) else LabError(
            "COLUMN_LOST", f"{column.key}: {type(error).__name__}: {error!s:.200}",
            "run the sweep again: what is done is kept")
        left = [id for id in self._digests if (id, column) not in self._findings]
        return Result(column, errors=dict.fromkeys(left, lost))

    def _take(self, result: Result) -> None:
        for scenario, finding in result.findings().items():
            self._findings[scenario, result.column] = finding
        for scenario, error in result.errors.items():
            self._errors[scenario, result.column] = error
        if result.commanded is not None:
            (head,) = self._heads
            self._findings[head.scenario, result.column] = result.commanded
