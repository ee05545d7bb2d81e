"""Cases in which the SDK's compaction session works on the session, with a client in memory."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from agents import memory

from agentrunproof.sdk import compat
from agentrunproof.suites.session import promises
from agentrunproof.suites.session.case import Broken, Untestable, World, case
from agentrunproof.suites.session.items import Item, expect, messages, said

_COMPACTED: Item = {"type": "compaction", "id": "cmp-1", "encrypted_content": "short"}


async def _at_once() -> None:
    """An API that answers without a pause."""


class _Failing:
    """Hands everything to a session; told to, it fails to write, once.

    Args:
        inner: the session.
        error: what its next write raises.
    """

    session_settings = None

    def __init__(self, inner: Any, error: BaseException) -> None:
        self.session_id = inner.session_id
        self._inner = inner
        self._error: BaseException | None = error

    async def get_items(self, limit: int | None = None) -> Any:
        return await (self._inner.get_items() if limit is None else self._inner.get_items(limit))

    async def add_items(self, items: Any) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error
        await self._inner.add_items(items)

    async def pop_item(self) -> Any:
        return await self._inner.pop_item()

    async def clear_session(self) -> None:
        await self._inner.clear_session()


def _compacting(session: Any, answer: Callable[[], Awaitable[None]] = _at_once) -> Any:
    """The SDK's compaction session on a session.

    Raises:
        Untestable: the release has none, or it does not work on this kind of session.
    """
    kind = getattr(memory, "OpenAIResponsesCompactionSession", None)
    if kind is None:
        raise Untestable("RELEASE", f"openai-agents {compat.sdk_version()} has no compaction")
    if callable(getattr(session, "run_compaction", None)):
        raise Untestable("COMPACTS_ITSELF", "the session is one that compacts")

    async def compact(**_: Any) -> Any:
        await answer()
        return SimpleNamespace(id="resp-c", usage=None, output=[dict(_COMPACTED)])

    client = SimpleNamespace(responses=SimpleNamespace(compact=compact))
    try:
        return kind("compacted", session, client=client)
    except ValueError as error:
        raise Untestable("NOT_WRAPPED", "the SDK's compaction does not take such a session"
                         ) from error


async def _compact(compacting: Any) -> None:
    await compacting.run_compaction({"response_id": "resp-1", "force": True})


@case(promises.COMPACTED)
async def compaction(world: World) -> None:
    """A compaction puts its items in the place of the history."""
    session = await world.open()
    compacting = _compacting(session)
    await compacting.add_items(messages(4))
    await _compact(compacting)
    expect("NOT_REPLACED", "get_items() after a compaction", await session.get_items(),
           [_COMPACTED])


@case(promises.COMPACTION_FAILED, "3117")
async def failed_compaction(world: World) -> None:
    """A compaction whose items cannot be written leaves the history."""
    await _history_survives(world, OSError("the storage is full"), messages(4, "kept"))


@case(promises.COMPACTION_FAILED, "4298")
async def cancelled_compaction(world: World) -> None:
    """A compaction that is cancelled while it is written leaves the history."""
    await _history_survives(world, asyncio.CancelledError(), messages(4, "held"))


async def _history_survives(world: World, error: BaseException, history: list[Item]) -> None:
    session = await world.open()
    _compacting(session)  # the same of the wrapper below would say nothing of the session
    compacting = _compacting(_Failing(session, error))
    await session.add_items(history)
    with contextlib.suppress(type(error)):
        await _compact(compacting)
    expect("HISTORY_LOST", "get_items() after a compaction that failed",
           await session.get_items(), history)


@case(promises.COMPACTION_MEANWHILE)
async def added_meanwhile(world: World) -> None:
    """What is added while a compaction waits for the API is there afterwards."""
    asked, answered = asyncio.Event(), asyncio.Event()

    async def answer() -> None:
        asked.set()
        await answered.wait()

    session = await world.open()
    compacting = _compacting(session, answer)
    await compacting.add_items(messages(2))
    running = asyncio.ensure_future(_compact(compacting))
    await asyncio.wait({running, asyncio.ensure_future(asked.wait())},
                       return_when=asyncio.FIRST_COMPLETED)
    adding = asyncio.ensure_future(compacting.add_items([said("meanwhile")]))
    await asyncio.sleep(0)
    answered.set()
    await asyncio.gather(running, adding)
    found = await session.get_items()
    if said("meanwhile") not in [_bare(item) for item in found]:
        raise Broken("LOST", f"the session holds {len(found)} items, not the one added meanwhile")


def _bare(item: Any) -> Any:
    return {key: item[key] for key in ("role", "content") if key in item}
