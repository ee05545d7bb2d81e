"""A session that records every operation on it, over memory or over a real session."""

from __future__ import annotations

import copy
import inspect
from typing import Any

from agentrunproof.plan.model import FailingWrite
from agentrunproof.sdk import normal
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.gates import seconds


class SessionFailure(Exception):
    """The failure a plan declares for a write to its session."""


class RecordingSession:
    """A `Session` of the SDK's protocol that keeps its items in memory or hands them to `inner`.

    Args:
        session_id: the session's id.
        inner: a session to delegate to; None keeps the items here.
        recorder: told about every operation; None records nothing.
        items: what an in-memory session holds at first.
        settings: the SDK's ``SessionSettings``, if any.
        delay: seconds that each operation takes before it has an effect.

    Source: ``agents.memory.Session`` (protocol), from SDK 0.2.0.
    """

    def __init__(self, session_id: str = "session-1", inner: Any = None,
                 recorder: Recorder | None = None, items: tuple[Any, ...] = (),
                 settings: Any = None, delay: str | None = None) -> None:
        self.session_id = session_id
        self.session_settings = settings
        self._inner = inner
        self._recorder = recorder
        self._delay = delay
        self._items: list[Any] = copy.deepcopy(list(items))
        self.fail(None)

    async def get_items(self, limit: int | None = None, **_: Any) -> list[Any]:
        """The newest `limit` items, oldest first; all of them without a limit."""
        await seconds(self._delay)
        if self._inner is not None:
            found = await self._inner.get_items(limit) if limit is not None else (
                await self._inner.get_items())
        elif limit is None:
            found = copy.deepcopy(self._items)
        else:
            found = copy.deepcopy(self._items[-limit:] if limit > 0 else [])
        self._record("session_read", found, op="get", limit=limit)
        return list(found)

    def fail(self, write: FailingWrite | None) -> None:
        """Let one of the next writes fail, or none."""
        self._failing = write
        self._writes = 0

    async def add_items(self, items: list[Any], **_: Any) -> None:
        """Append items.

        Raises:
            SessionFailure: the plan says so of this write.
        """
        await seconds(self._delay)
        self._writes += 1
        failing = self._failing if self._failing and self._failing.count == self._writes else None
        if failing is None or failing.stored:
            await self._add(items)
        if failing is not None:
            failure = SessionFailure("the session could not write")
            self._record("session_failed", items, error=normal.error(failure))
            raise failure

    async def _add(self, items: list[Any]) -> None:
        if self._inner is not None:
            await self._inner.add_items(items)
        else:
            self._items.extend(copy.deepcopy(list(items)))
        self._record("session_written", items, op="add")

    async def pop_item(self, **_: Any) -> Any:
        """Remove and return the newest item, or None."""
        await seconds(self._delay)
        if self._inner is not None:
            item = await self._inner.pop_item()
        else:
            item = self._items.pop() if self._items else None
        self._record("session_written", [] if item is None else [item], op="pop")
        return item

    async def clear_session(self, **_: Any) -> None:
        """Remove all items."""
        await seconds(self._delay)
        if self._inner is not None:
            await self._inner.clear_session()
        else:
            self._items.clear()
        self._record("session_written", [], op="clear")

    async def observe(self) -> None:
        """Record the whole content, as the observer sees it from outside of the run."""
        if self._inner is None:
            found = self._items
        else:
            found = await self._inner.get_items()
        self._record("session_read", found, op="observe")

    async def close(self) -> None:
        """Close what is delegated to, if it can be closed."""
        closing = getattr(self._inner, "close", None)
        if closing is not None:
            result = closing()
            if inspect.isawaitable(result):
                await result

    def _record(self, kind: str, items: Any, **fields: Any) -> None:
        if self._recorder is not None:
            self._recorder.add(kind, items=tuple(normal.plain(i) for i in items), **fields)
