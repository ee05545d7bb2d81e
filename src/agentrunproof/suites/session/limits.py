"""Cases about limits, as `get_items` keeps them itself."""

from __future__ import annotations

from typing import Any

from agentrunproof.sdk import compat, features
from agentrunproof.suites.session import promises
from agentrunproof.suites.session.case import Untestable, World, case
from agentrunproof.suites.session.items import Item, expect, messages


async def of_five(world: World) -> tuple[Any, list[Item]]:
    """A session of five items, and those."""
    session = await world.open()
    items = messages(5)
    await session.add_items(items)
    return session, items


@case(promises.LATEST_N)
async def limit_n(world: World) -> None:
    """A limit gives the newest items, oldest of them first."""
    session, items = await of_five(world)
    for n in range(1, 5):
        expect("LIMIT", f"get_items({n}) of 5", await session.get_items(n), items[-n:])
        expect("LIMIT", f"get_items(limit={n}) of 5", await session.get_items(limit=n),
               items[-n:])


@case(promises.LATEST_N)
async def limit_over(world: World) -> None:
    """A limit of as many items as there are, or more, gives all."""
    session = await world.open()
    expect("LIMIT", "get_items(3) of none", await session.get_items(3), [])
    items = messages(4)
    await session.add_items(items)
    for n in (4, 5, 400):
        expect("LIMIT", f"get_items({n}) of 4", await session.get_items(n), items)


@case(promises.LATEST_N, "4365")
async def limit_zero(world: World) -> None:
    """A limit of 0 gives nothing."""
    session, _ = await of_five(world)
    expect("LIMIT_IGNORED", "get_items(0) of 5", await session.get_items(0), [])


def set_limit(session: Any, limit: int) -> None:
    """Give a session default settings.

    Raises:
        Untestable: neither the release nor the session has such.
    """
    need_settings()
    try:
        session.session_settings = compat.session_settings(limit)
    except AttributeError as error:
        raise Untestable("NO_SETTINGS", "session_settings cannot be set on the session",
                         "settings") from error


def need_settings() -> None:
    """Raise `Untestable` on releases without session settings, before 0.8.0."""
    if features.missing(["session-limit"]):
        raise Untestable("RELEASE", f"openai-agents {compat.sdk_version()} has no session settings")


@case(promises.SETTINGS_LIMIT)
async def limit_from_settings(world: World) -> None:
    """Without a limit of its own, get_items keeps that of session_settings."""
    session, items = await of_five(world)
    set_limit(session, 2)
    expect("SETTINGS_IGNORED", "get_items() under SessionSettings(limit=2)",
           await session.get_items(), items[-2:])


@case(promises.SETTINGS_LIMIT)
async def limit_before_settings(world: World) -> None:
    """A limit that is given counts more than that of session_settings."""
    session, items = await of_five(world)
    set_limit(session, 2)
    for n in (3, 1):
        expect("SETTINGS_WIN", f"get_items({n}) under SessionSettings(limit=2)",
               await session.get_items(n), items[-n:])
