"""Cases about writes: whole or not at all, at once, failed, cancelled, of damaged storage."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from agentrunproof.suites.session import promises
from agentrunproof.suites.session.case import Broken, Untestable, World, case, finished
from agentrunproof.suites.session.items import (
    Item,
    all_same,
    expect,
    messages,
    said,
    same,
    told,
)
from agentrunproof.suites.session.storing import pair

#: Turns of the event loop after which a write is cancelled.
_TURNS = 12


class _Unwritable:
    """A value that nothing can write: neither JSON, nor as text, nor as a copy."""

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("a value that cannot be written")

    __str__ = __repr__ = __reduce_ex__ = __deepcopy__ = __iter__ = _refuse


async def _fail_to_write(session: Any) -> None:
    """Have a batch refused for one of its items."""
    bad: Item = said("bad") | {"extra": _Unwritable()}
    try:
        await session.add_items([said("good"), bad, said("good too")])
    except Exception:
        return
    raise Untestable("NOT_REFUSED", "the session keeps objects as they are, so no write fails")


@case(promises.FAILED_WRITE)
async def failed_batch(world: World) -> None:
    """A batch with an item that cannot be written leaves nothing of itself."""
    session = await world.open()
    await session.add_items([said("before")])
    await _fail_to_write(session)
    expect("PART_LEFT", "get_items() after a refused batch", await session.get_items(),
           [said("before")])


@case(promises.FAILED_WRITE, "4163")
async def write_after_failure(world: World) -> None:
    """After a failed write this and other sessions work on, and nothing of it comes later."""
    session = await world.open()
    await session.add_items([said("before")])
    await _fail_to_write(session)
    left = await session.get_items()
    other = await world.open()  # where a failed write leaves a lock, others wait for it
    await other.add_items([said("by another")])
    if len(await session.get_items()) > len(left):
        left.append(said("by another"))
    await session.add_items([said("after")])
    expect("CAME_LATER", "get_items() after the next write", await session.get_items(),
           [*left, said("after")])


@case(promises.WHOLE_BATCH)
async def whole_batch(world: World) -> None:
    """A reader sees a batch whole or not at all, and batches at once stay together."""
    session = await world.open()
    batches = [messages(4, f"batch {n},") for n in range(3)]
    writing = asyncio.gather(*(session.add_items(batch) for batch in batches))
    try:
        while not writing.done():
            _whole(await session.get_items(), batches)
            await asyncio.sleep(0)
    finally:
        await writing
    _whole(await session.get_items(), batches)


def _whole(read: list[Any], batches: list[list[Item]]) -> None:
    rest = list(read)
    while rest:
        for batch in batches:
            if all_same(batch, rest[:len(batch)]):
                rest = rest[len(batch):]
                break
        else:
            raise Broken("TORN", f"of batches of 4 written at once a read gave {told(read)}")


@case(promises.NOTHING_DOUBLED)
async def concurrent_batches(world: World) -> None:
    """Batches written at once are all there, each in its order."""
    session = await world.open()
    await _write_at_once([session] * 4)


@case(promises.NOTHING_DOUBLED)
async def concurrent_sessions(world: World) -> None:
    """Two sessions of one id may write at once."""
    first, second = await pair(world)
    await _write_at_once([first, second] * 2)


async def _write_at_once(sessions: list[Any]) -> None:
    batches = [messages(3, f"batch {n},") for n in range(len(sessions))]
    await asyncio.gather(*(session.add_items(batch)
                           for session, batch in zip(sessions, batches, strict=True)))
    found = await sessions[0].get_items()
    total = sum(map(len, batches))
    for n, batch in enumerate(batches):
        mine = [item for item in found if any(same(one, item) for one in batch)]
        if not all_same(batch, mine):
            raise Broken("LOST" if len(mine) < len(batch) else "DISORDER",
                         f"of batch {n} of {len(batches)} written at once: {told(mine)}")
    if len(found) != total:
        raise Broken("DOUBLED", f"{total} items were written at once, {len(found)} are there")


@case(promises.WHOLE_BATCH, "4212")
async def cancelled_write(world: World) -> None:
    """A write that is cancelled leaves its batch whole or not at all."""
    session = await world.open()
    batch = messages(4)
    for turns in range(_TURNS):
        task = asyncio.ensure_future(session.add_items(batch))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        found = await session.get_items()
        if found and not all_same(batch, found):
            raise Broken("PART_LEFT", f"cancelled after {turns} turns, a batch of 4 left "
                         f"{told(found)}")
        await session.clear_session()


async def _damaged(world: World) -> tuple[Any, list[Item]]:
    """A session whose newest item of four cannot be read, and the other three."""
    if world.backend.damage is None:
        raise Untestable("NO_DAMAGE", "the backend does not say how to damage a stored item")
    session = await world.open()
    items = messages(4)
    await session.add_items(items)
    await finished(world.backend.damage(session))
    return session, items[:3]


@case(promises.UNREADABLE)
async def unreadable_read(world: World) -> None:
    """An unreadable item is left out of what is read."""
    session, items = await _damaged(world)
    expect("UNREADABLE", "get_items() with an unreadable item", await session.get_items(), items)


@case(promises.UNREADABLE, "4001")
async def unreadable_limit(world: World) -> None:
    """A limit counts the items that can be read."""
    session, items = await _damaged(world)
    expect("COUNTED", "get_items(2) with an unreadable item", await session.get_items(2),
           items[-2:])


@case(promises.UNREADABLE, "3305")
async def unreadable_pop(world: World) -> None:
    """pop_item gives the newest item that can be read."""
    session, items = await _damaged(world)
    expect("NOT_SKIPPED", "pop_item() with an unreadable item", [await session.pop_item()],
           items[-1:])


@case(promises.CLOSED, "4231")
async def closed(world: World) -> None:
    """A closed session refuses every call."""
    session = await world.open()
    await session.add_items([said("a")])
    if not callable(getattr(session, "close", None)):
        raise Untestable("NO_CLOSE", "the session has no close()", "close")
    await finished(session.close())
    accepted = []
    calls: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
        ("get_items()", "get_items", ()), ("add_items([])", "add_items", ([],)),
        ("add_items([item])", "add_items", ([said("b")],)), ("pop_item()", "pop_item", ()),
        ("clear_session()", "clear_session", ()))
    for told_as, name, arguments in calls:
        try:
            await getattr(session, name)(*arguments)
        except Exception:  # refused, as it should be
            continue
        accepted.append(told_as)
    if len(accepted) == len(calls):
        raise Untestable("CLOSES_NOTHING", "close() ends nothing: every call still works", "close")
    if accepted:
        raise Broken("NOT_REFUSED", f"closed, it still takes {', '.join(accepted)}")
