"""Reruns of one call: their order, what is fresh, what the cache gives, how they end."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.ablation.explain import Explanation
from agentrunproof.ablation.recording import record
from agentrunproof.ablation.subject import Decision, Edit, Target
from agentrunproof.ablation.trials import Ask
from agentrunproof.record.ablation import SubjectLine
from agentrunproof.rerun import reruns as module
from agentrunproof.rerun.cache import Cache
from agentrunproof.rerun.executors import Threads
from agentrunproof.rerun.model import ModelError
from agentrunproof.rerun.reruns import Reruns
from tests.rerun.servers import body, rule

Body = dict[str, Any]
BODY = body("openai.chat", "The sky is blue. Pay K-77 now. Then rest. Grass is green.")


class Fake:
    """A model that takes down what it is asked; by default each reply is another."""

    name, local, deterministic = "fake", False, False

    def __init__(self, says: Callable[[Body], Any] | None = None, identity: str = "fake") -> None:
        self.identity = identity
        self.bodies: list[Body] = []
        self._says = says or (lambda request: {"text": str(len(self.bodies))})

    def ask(self, request: Body, /) -> Any:
        self.bodies.append(request)
        return self._says(request)

    def close(self) -> None:
        pass


class Backwards(Executor):
    """Makes `window` requests at a time, the last one first."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.most = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: fn(*args, **kwargs)))
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) == self.window:
            self.finish()
        return future

    def finish(self) -> None:
        for future, run in reversed(self.waiting):
            if future.set_running_or_notify_cancel():
                future.set_result(run())
        self.waiting.clear()


def texts(decisions: Iterator[Decision]) -> list[str]:
    return [decision.text for decision in decisions]


def test_decisions_come_in_the_order_of_asking_whatever_ends_first() -> None:
    model = Fake()
    reruns = Reruns(BODY, "openai.chat", model, executor=Backwards(3), workers=3)
    assert texts(reruns.fresh(BODY, 6)) == ["3", "2", "1", "6", "5", "4"]
    assert reruns.asked == 6


def explained(executor: Executor | None, workers: int) -> Explanation:
    reruns = Reruns(BODY, "openai.chat", Fake(rule), executor=executor, workers=workers)
    explanation = Explanation(reruns.subject, Target("tool:pay", Decision()))
    explanation.run(reruns.answer)
    return explanation


def test_an_explanation_is_the_same_in_whatever_order_reruns_end() -> None:
    line = SubjectLine(kind="call", digest="sha256:" + "0" * 64, dialect="openai.chat")
    alone = record(explained(None, 1), line)
    with Threads(4) as threads:
        assert record(explained(threads, 4), line) == alone
    assert alone.status == "CAUSE"
    assert [quote.text for quote in alone.quotes] == ["Pay K-77 now."]


def test_no_more_than_the_workers_are_under_way() -> None:
    lock, under_way, most = threading.Lock(), [0], [0]
    full = threading.Barrier(3)

    def says(request: Body) -> Body:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        full.wait(30)
        with lock:
            under_way[0] -= 1
        return {"text": ""}

    with Threads(8) as threads:
        reruns = Reruns(BODY, "openai.chat", Fake(says), executor=threads, workers=3)
        assert len(list(reruns.fresh(BODY, 6))) == 6
    assert most[0] == 3


@pytest.mark.parametrize("executor", [None, Backwards(1)])
def test_the_search_may_use_the_cache_and_the_confirmation_never(
        tmp_path: Path, executor: Executor | None) -> None:
    edit = Edit(0b10)

    def asked(model: Fake) -> tuple[list[str], int, int]:
        reruns = Reruns(BODY, "openai.chat", model, executor=executor, cache=Cache(tmp_path))
        said = [*texts(reruns.answer(Ask(Edit(), 2, "base"))),
                *texts(reruns.answer(Ask(edit, 1, "search"))),
                *texts(reruns.answer(Ask(edit, 2, "search"))),
                *texts(reruns.answer(Ask(edit, 2, "confirm"))),
                *texts(reruns.fresh(BODY, 1))]
        return said, reruns.asked, reruns.cached

    assert asked(Fake()) == (["1", "2", "3", "4", "5", "6", "7", "8"], 8, 0)
    assert asked(Fake()) == (["1", "2", "3", "4", "5", "1", "2", "3"], 3, 5)


def test_a_search_that_goes_further_than_the_cached_one_asks_for_the_rest(tmp_path: Path) -> None:
    first = Reruns(BODY, "openai.chat", Fake(), cache=Cache(tmp_path))
    assert texts(first.answer(Ask(Edit(1), 2, "search"))) == ["1", "2"]
    second = Reruns(BODY, "openai.chat", Fake(), cache=Cache(tmp_path))
    assert texts(second.answer(Ask(Edit(1), 4, "search"))) == ["1", "2", "1", "2"]
    assert (second.asked, second.cached) == (2, 2)


def test_another_model_request_edit_or_way_is_another_entry(tmp_path: Path) -> None:
    def asked(edit: Edit, request: Body = BODY, identity: str = "fake") -> int:
        reruns = Reruns(request, "openai.chat", Fake(identity=identity), cache=Cache(tmp_path))
        list(reruns.answer(Ask(edit, 1, "search")))
        return reruns.asked

    assert asked(Edit(1)) == 1
    assert asked(Edit(1)) == 0
    assert asked(Edit(2)) == asked(Edit(1, "other")) == 1
    assert asked(Edit(1), identity="fake 2") == 1
    assert asked(Edit(1), {**BODY, "temperature": 0.5}) == 1


def test_a_model_without_an_identity_is_never_cached(tmp_path: Path) -> None:
    for _ in range(2):
        reruns = Reruns(BODY, "openai.chat", Fake(identity=""), cache=Cache(tmp_path))
        list(reruns.answer(Ask(Edit(), 3, "base")))
        assert (reruns.asked, reruns.cached) == (3, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_comes_through_and_what_has_not_begun_is_not_asked() -> None:
    def says(request: Body) -> Body:
        if len(model.bodies) == 2:
            raise ModelError("MODEL_REFUSED", "no")
        return {"text": str(len(model.bodies))}

    model = Fake(says)
    with Threads(1) as threads:
        reruns = Reruns(BODY, "openai.chat", model, executor=threads, workers=1)
        decisions = reruns.fresh(BODY, 5)
        assert next(decisions).text == "1"
        with pytest.raises(ModelError, match="no"):
            next(decisions)
    assert len(model.bodies) == reruns.asked == 2


def test_who_stops_listening_has_the_waiting_requests_cancelled() -> None:
    executor = Backwards(4)
    model = Fake()
    reruns = Reruns(BODY, "openai.chat", model, executor=executor, workers=4)
    decisions = reruns.fresh(BODY, 7)
    assert next(decisions).text == "4"
    decisions.close()  # type: ignore[attr-defined]
    executor.finish()
    assert len(model.bodies) == reruns.asked == 4


def test_a_lost_worker_is_said_in_one_line() -> None:
    class Lossy(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(RuntimeError("killed worker"))
            return future

    reruns = Reruns(BODY, "openai.chat", Fake(), executor=Lossy())
    with pytest.raises(ModelError, match="RuntimeError: killed worker") as caught:
        list(reruns.fresh(BODY, 1))
    assert caught.value.code == "MODEL_LOST"


def test_waiting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0)
    told: list[str] = []
    reply = threading.Event()

    def tell(line: str) -> None:
        told.append(line)
        reply.set()

    def says(request: Body) -> Body:
        assert reply.wait(30)
        return {"text": "late"}

    with Threads(1) as threads:
        reruns = Reruns(BODY, "openai.chat", Fake(says), executor=threads, tell=tell)
        assert texts(reruns.fresh(BODY, 1)) == ["late"]
    assert told[0].startswith("fake: no reply yet after")


def test_the_digest_and_the_notes_are_of_the_recorded_request() -> None:
    reruns = Reruns({"model": "m", "input": "Hi.", "previous_response_id": "r"},
                    "openai.responses", Fake())
    assert reruns.digest == Reruns(json.loads(json.dumps(
        {"model": "m", "input": "Hi.", "previous_response_id": "r"})),
        "openai.responses", Fake()).digest
    assert reruns.digest != Reruns(BODY, "openai.chat", Fake()).digest
    assert len(reruns.notes) == 1
    assert reruns.subject.rerun(Edit()) == Decision((), "1")
