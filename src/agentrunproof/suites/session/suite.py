"""The suite: all cases, and running them on a backend."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from agentrunproof.errors import AgentRunProofError, said
from agentrunproof.sdk import compat
from agentrunproof.shape import nearest
from agentrunproof.suites.session import compacting, limits, removing, runs, storing, writing
from agentrunproof.suites.session.case import (
    SUPPORTS,
    Backend,
    Broken,
    Case,
    Result,
    Untestable,
    World,
)

#: Seconds of real time that a case may take, unless told otherwise.
DEADLINE = 30.0

#: All cases by name, in the order in which they are run.
CASES: dict[str, Case] = {
    found.name: found for module in (storing, limits, removing, writing, runs, compacting)
    for found in vars(module).values() if isinstance(found, Case)}


class SuiteError(AgentRunProofError):
    """The suite cannot be run as asked."""


def release() -> str:
    """The release of the SDK that the cases are run with."""
    return compat.sdk_version()


def chosen(names: Iterable[str]) -> list[Case]:
    """Cases by their names.

    Raises:
        SuiteError: ``CASE_UNKNOWN``.
    """
    found = []
    for name in names:
        if name not in CASES:
            raise SuiteError("CASE_UNKNOWN", f"there is no case {name!r}",
                             nearest(name, CASES) or "`check session --list` shows them all")
        found.append(CASES[name])
    return found


def check(backend: Backend) -> None:
    """Refuse a backend that names what does not exist.

    Raises:
        SuiteError: ``CASE_UNKNOWN``, ``SUPPORTS_UNKNOWN``.
    """
    chosen(backend.known_failures)
    for name in sorted(backend.supports - set(SUPPORTS)):
        raise SuiteError("SUPPORTS_UNKNOWN", f"nothing is called {name!r} that could be supported",
                         nearest(name, SUPPORTS) or f"one of {', '.join(SUPPORTS)}")


def run(backend: Backend, cases: Sequence[Case] = (), deadline: float = DEADLINE
        ) -> Iterator[Result]:
    """Run cases on a backend, each with sessions of its own and an event loop of its own.

    Args:
        backend: what is checked.
        cases: all, unless given.
        deadline: seconds of real time for each.

    Raises:
        SuiteError: the backend names what does not exist, or makes no session
            (``SESSION_NOT_MADE``).
    """
    check(backend)
    _try(backend)
    for one in cases or CASES.values():
        yield _strict(backend, _judged(backend, one, deadline))


def _try(backend: Backend) -> None:
    async def make() -> None:
        world = World(backend)
        made = await world.open()
        await world.end()
        if made is None:
            raise TypeError("the function gives None")

    try:
        asyncio.run(make())
    except (Exception, SystemExit) as error:  # SystemExit comes through asyncio.run as it is
        raise SuiteError("SESSION_NOT_MADE", f"no session can be made: {_told(error)}",
                         "the function takes a session id and gives a session") from error


def _strict(backend: Backend, result: Result) -> Result:
    """A result, with what the backend says of it beforehand."""
    name = result.case.name
    reason = backend.known_failures.get(name)
    if reason is None:
        return result
    if result.verdict == "PASS":
        return Result(result.case, "FAIL", "KNOWN_FAILURE_PASSES",
                      f"it passes, but is declared to fail: {reason}")
    return Result(result.case, result.verdict, result.code, result.detail, reason)


def _judged(backend: Backend, one: Case, deadline: float) -> Result:
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(_within(backend, one, deadline))
    except Untestable as lack:
        if lack.supports and lack.supports in backend.supports:
            return Result(one, "FAIL", lack.code, f"{lack.detail}, though the backend declares "
                          f"{lack.supports!r}")
        hint = f" (declare {lack.supports!r} if it should)" if lack.supports else ""
        return Result(one, "UNTESTABLE", lack.code, lack.detail + hint)
    except Broken as broken:
        return Result(one, "FAIL", broken.code, broken.detail)
    except Exception as error:
        return Result(one, "FAIL", "RAISED", _told(error))
    finally:
        loop.close()
    return Result(one, "PASS", "OK")


def _told(error: BaseException) -> str:
    told = said(error)
    return f"{type(error).__name__}: {told}" if told else type(error).__name__


async def _within(backend: Backend, one: Case, deadline: float) -> None:
    """Run a case, end its sessions, and wait for neither longer than allowed."""
    world = World(backend)
    task = asyncio.ensure_future(_body(one, world))
    await asyncio.wait({task}, timeout=deadline)
    if not task.done():
        task.cancel()
        raise Broken("HANGS", f"nothing came of it in {deadline:g} seconds")
    await asyncio.wait({asyncio.ensure_future(_end(world))}, timeout=deadline)
    await task


async def _body(one: Case, world: World) -> None:
    """Run a case; a session that ends the program, which would end our loop, fails it."""
    try:
        await one.body(world)
    except SystemExit as leaves:
        raise Broken("RAISED", _told(leaves)) from leaves


async def _end(world: World) -> None:
    """End the sessions, and the threads, whose connections may hold locks on a storage."""
    await world.end()
    await asyncio.get_running_loop().shutdown_default_executor()
