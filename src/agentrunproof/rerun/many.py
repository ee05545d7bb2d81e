"""Many explanations at once, over one executor."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from agentrunproof.ablation.explain import Explanation
from agentrunproof.ablation.subject import Decision
from agentrunproof.errors import AgentRunProofError
from agentrunproof.rerun.executors import Threads
from agentrunproof.rerun.reruns import Reruns

T = TypeVar("T")

#: Explanations under way at once, unless told otherwise.
DRIVERS = 8


class _Stopped(BaseException):
    """The results are not wanted any more; no handler of errors may take this for one."""


def explain_all(subjects: Iterable[T], begin: Callable[[T], tuple[Explanation, Reruns]], *,
                drivers: int = DRIVERS) -> Iterator[tuple[T, Explanation | AgentRunProofError]]:
    """Drive many explanations, and give each as it ends, or what went wrong with it.

    What comes of a subject does not depend on the others or on the order in which they end.

    Args:
        subjects: what is explained, such as runs with their calls; taken when it is their turn.
        begin: makes the explanation of one, and its reruns, which share one executor. It is
            called in several threads.
        drivers: explanations under way at once.
    """
    ended: queue.SimpleQueue[tuple[T, Explanation | BaseException]] = queue.SimpleQueue()
    stop = threading.Event()

    def drive(subject: T) -> None:
        try:
            explanation, reruns = begin(subject)
            explanation.run(lambda ask: _until(stop, reruns.answer(ask)))
        except BaseException as error:
            ended.put((subject, error))
        else:
            ended.put((subject, explanation))

    todo, under_way = iter(subjects), 0
    with Threads(drivers) as threads:
        try:
            while True:
                for subject in islice(todo, drivers - under_way):
                    threads.submit(drive, subject)
                    under_way += 1
                if not under_way:
                    return
                subject, result = ended.get()
                under_way -= 1
                if not isinstance(result, Explanation | AgentRunProofError):
                    raise result
                yield subject, result
        finally:
            stop.set()


def _until(stop: threading.Event, decisions: Iterable[Decision]) -> Iterator[Decision]:
    for decision in decisions:
        if stop.is_set():
            raise _Stopped
        yield decision
