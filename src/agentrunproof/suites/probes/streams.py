"""Readers of a stream who leave part-way, or stop for a while."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from agents import Agent, RunConfig, Runner

from agentrunproof.sdk import compat
from agentrunproof.sdk.sessions import RecordingSession
from agentrunproof.suites.probes import kit

#: Events after which a reader leaves, by what `_told` says of them.
PLACES = ("raw_response_event", "tool_called", "tool_output")


class _Run:
    """A streamed run of two tools and an answer; the second tool takes its time.

    Attributes:
        ran: names of the tools that were started, in order.
        session: where the run is stored; unused on releases without sessions.
    """

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.session = RecordingSession()
        model = kit.model([kit.calls("look", "a"), kit.calls("ask", "b")], kit.says("done"))
        agent = Agent(name="clerk", model=model,
                      tools=[kit.tool("look", self._look), kit.tool("ask", self._ask)])
        stores = compat.takes(Runner.run_streamed, "session")
        options: dict[str, Any] = {"session": self.session} if stores else {}
        self.result: Any = Runner.run_streamed(
            agent, "hello", run_config=RunConfig(tracing_disabled=True), **options)
        self.events: Any = self.result.stream_events()

    def _look(self) -> str:
        self.ran.append("look")
        return "seen"

    async def _ask(self) -> str:
        self.ran.append("ask")
        await asyncio.sleep(1)
        return "told"

    async def halves(self) -> list[str]:
        """Ids of stored calls without an output, and of stored outputs without a call."""
        stored = await self.session.get_items()
        ids: list[set[str]] = [{item["call_id"] for item in stored if item.get("type") == type}
                               for type in ("function_call", "function_call_output")]
        return sorted(ids[0] ^ ids[1])


async def left_early() -> dict[str, Any]:
    """What readers leave behind who close a stream, or break out of it, at each of `PLACES`.

    ``twice`` are tools that ran more than once; ``tasks`` what still runs a minute later;
    ``halves`` calls and outputs that were stored one without the other; ``left`` how many readers
    came to their place.
    """
    found: dict[str, Any] = {"left": 0, "twice": [], "tasks": [], "halves": []}
    for place in PLACES:
        for leave in (_close, _break):
            before, run = asyncio.all_tasks(), _Run()
            found["left"] += await leave(run, place)
            await asyncio.sleep(60)
            case = f"{leave.__name__} at {place}"
            found["twice"] += [f"{case}: {name}" for name, n in Counter(run.ran).items() if n > 1]
            found["tasks"] += [case for _ in asyncio.all_tasks() - before]
            found["halves"] += [f"{case}: {id}" for id in await run.halves()]
    return found


async def _close(run: _Run, place: str) -> bool:
    async for event in run.events:
        if _told(event) == place:
            await run.events.aclose()
            return True
    return False


async def _break(run: _Run, place: str) -> bool:
    events, run.events = run.events, None
    async for event in events:
        if _told(event) == place:
            return True
    return False


async def read_on() -> dict[str, Any]:
    """What readers get who stop for a minute after an event and read on.

    One stops after each event, the others after one each that is not the model's. ``items`` is
    what a reader without a pause is told; ``other`` the pauses, by the number of the event, after
    which a reader was told otherwise, or which changed the output, the calls or what was stored.
    """
    sound = await _read(range(0))
    told = sound[0]
    pauses = [range(n, n + 1) for n, name in enumerate(told) if name != PLACES[0]]
    other = [[*pause] for pause in (range(len(told)), *pauses) if await _read(pause) != sound]
    return {"items": [name for name in told if not name.endswith("_event")],
            "output": sound[1], "other": other}


async def _read(pauses: range) -> tuple[list[str], str, list[str], list[Any]]:
    """Events, output, tools run and stored items of a run whose reader stops after some events."""
    run, told = _Run(), list[str]()
    async for event in run.events:
        told.append(_told(event))
        if len(told) - 1 in pauses:
            await asyncio.sleep(60)
    return told, str(run.result.final_output), run.ran, await run.session.get_items()


def _told(event: Any) -> str:
    """The name of an event of an item, the type of any other."""
    return str(getattr(event, "name", event.type))
