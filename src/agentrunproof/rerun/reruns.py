"""All reruns of one recorded call: what the search asks for, and fresh samples besides."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Generator, Iterator
from concurrent import futures
from contextlib import closing
from typing import Any

from agentrunproof import __version__
from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.recorded_call import RecordedCall
from agentrunproof.ablation.subject import Decision, Edit
from agentrunproof.ablation.trials import Ask
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import dialects
from agentrunproof.rerun.cache import Cache
from agentrunproof.rerun.model import Body, Model, ModelError, Tell, silent
from agentrunproof.rerun.sending import notes

#: Seconds of waiting for a reply after which it is said, and said again.
_PATIENCE = 8


def digest_of(body: Body) -> str:
    """What a recorded request is called in records about it."""
    return "sha256:" + hashlib.sha256(json.dumps(body).encode()).hexdigest()


class Reruns:
    """All reruns of one recorded call. Used from one thread.

    Args:
        body: the recorded request.
        dialect: the API that it is a request of.
        model: who answers.
        executor: where the model is asked (`rerun.executors`); None for here, one at a time.
        workers: how many requests are under way at once.
        cache: of replies to the search; None for none.
        tell: takes what is to be said while waiting.
    """

    def __init__(self, body: Body, dialect: str, model: Model, *,
                 executor: futures.Executor | None = None, workers: int = 1,
                 cache: Cache | None = None, tell: Tell = silent) -> None:
        self.model = model
        #: Model calls made, and replies that the cache gave instead.
        self.asked = self.cached = 0
        #: Of the request as it was recorded.
        self.digest = digest_of(body)
        #: What a user must be told about these reruns.
        self.notes = notes(body)
        self.subject = RecordedCall(Context(body, dialect), lambda edited: next(
            self.fresh(edited, 1)), deterministic=model.deterministic)
        self._dialect = dialect
        self._executor = executor
        self._workers = max(1, workers)
        self._cache = cache if model.identity else None
        self._tell = tell
        self._samples: Counter[Edit] = Counter()  # that were asked for, by edit

    def answer(self, ask: Ask) -> Iterator[Decision]:
        """The reruns that a search asks for, in their order: for `Explanation.run`.

        What is asked for a confirmation is always fresh; the rest may come out of the cache.

        Raises:
            ModelError: the model gave no reply.
        """
        if self._cache is None or ask.phase == "confirm":
            return self.fresh(self.subject.context.edited(ask.edit), ask.runs)
        return self._kept(ask, self._cache)

    def fresh(self, body: Body, runs: int) -> Iterator[Decision]:
        """Fresh samples, in their order; never cached.

        Args:
            body: a request, that was edited or not.
            runs: how many.

        Raises:
            ModelError: the model gave no reply.
        """
        with closing(self._replies(body, runs)) as replies:
            for reply in replies:
                yield self._decided(reply)

    def _kept(self, ask: Ask, cache: Cache) -> Iterator[Decision]:
        """Samples out of the cache, and fresh ones for those that it lacks."""
        first = self._samples[ask.edit]
        self._samples[ask.edit] += ask.runs
        keys = [self._key(ask.edit, first + n) for n in range(ask.runs)]
        found = [cache.get(key) for key in keys]
        missing = found.count(None)
        body = self.subject.context.edited(ask.edit) if missing else {}
        with closing(self._replies(body, missing)) as replies:
            for key, reply in zip(keys, found, strict=True):
                if reply is None:
                    reply = next(replies)
                    cache.put(key, reply)
                else:
                    self.cached += 1
                yield self._decided(reply)

    def _key(self, edit: Edit, sample: int) -> str:
        """What a reply is kept under: it costs as much as the edit, not as the request."""
        said = (__version__, self.model.identity, self.digest, edit.way, f"{edit.leaves:x}", sample)
        return hashlib.sha256("\n".join(map(str, said)).encode()).hexdigest()

    def _replies(self, body: Body, runs: int) -> Generator[Any, None, None]:
        """So many replies in the order of asking, `workers` of them under way at once."""
        if self._executor is None:
            for _ in range(runs):
                self.asked += 1
                yield self.model.ask(body)
            return
        under_way: deque[futures.Future[Any]] = deque()
        try:
            for _ in range(runs):
                if len(under_way) == self._workers:
                    yield self._waited(under_way.popleft())
                under_way.append(self._executor.submit(self.model.ask, body))
                self.asked += 1
            while under_way:
                yield self._waited(under_way.popleft())
        finally:  # those that have not begun are never made
            self.asked -= sum(future.cancel() for future in under_way)

    def _waited(self, future: futures.Future[Any]) -> Any:
        waited = 0
        while not futures.wait([future], timeout=_PATIENCE).done:
            waited += _PATIENCE
            self._tell(f"{self.model.name}: no reply yet after {waited} s")
        try:
            return future.result()
        except AgentRunProofError:
            raise
        except Exception as error:  # a worker of a cluster is gone, say
            raise ModelError("MODEL_LOST", f"{self.model.name}: a request was lost: "
                             f"{type(error).__name__}: {str(error)[:200]}",
                             "are all workers of the cluster up?") from error

    def _decided(self, reply: Any) -> Decision:
        return Decision.of(dialects.decision(self._dialect, reply))
