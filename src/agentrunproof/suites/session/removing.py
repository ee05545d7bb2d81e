"""Cases about `pop_item` and `clear_session`."""

from __future__ import annotations

import asyncio

from agentrunproof.suites.session import promises
from agentrunproof.suites.session.case import Broken, World, case
from agentrunproof.suites.session.items import expect, messages, said, same, told


@case(promises.POP)
async def pop(world: World) -> None:
    """Each pop_item gives the newest item and removes it alone."""
    session = await world.open()
    items = messages(3)
    await session.add_items(items)
    while items:
        newest = items.pop()
        found = await session.pop_item()
        expect("WRONG_ITEM", "pop_item()", [found], [newest])
        expect("WRONG_REST", "get_items() after pop_item()", await session.get_items(), items)


@case(promises.POP)
async def pop_empty(world: World) -> None:
    """pop_item of an empty session gives None and harms nothing."""
    session = await world.open()
    for when in ("new", "emptied"):
        found = await session.pop_item()
        if found is not None:
            raise Broken("NOT_NONE", f"pop_item() of a {when} session gave {told([found])}")
        await session.add_items([said(when)])
        expect("LOST", "get_items() after it", await session.get_items(), [said(when)])
        await session.pop_item()


@case(promises.POPPED_ONCE)
async def concurrent_pops(world: World) -> None:
    """Pops at the same time give every item once."""
    session = await world.open()
    items = messages(6)
    await session.add_items(items)
    found = await asyncio.gather(*(session.pop_item() for _ in items))
    for item in items:
        times = sum(same(item, read) for read in found)
        if times != 1:
            raise Broken("TWICE" if times else "LOST",
                         f"6 pops at once gave {told([item])} {times} times")
    expect("LEFT", "get_items() after them", await session.get_items(), [])


@case(promises.CLEAR)
async def clear(world: World) -> None:
    """clear_session removes all, also from an empty session, and it can be used on."""
    session = await world.open()
    await session.clear_session()
    for _ in range(2):
        await session.add_items(messages(3))
        await session.clear_session()
        expect("LEFT", "get_items() after clear_session()", await session.get_items(), [])
    await session.add_items([said("again")])
    expect("LOST", "get_items() of a cleared session", await session.get_items(), [said("again")])
