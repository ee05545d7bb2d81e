"""Named gates: a plan's way to force an order between things that run at the same time."""

from __future__ import annotations

import asyncio


class Gates:
    """Gates of one phase, all closed at first; an open gate stays open."""

    def __init__(self) -> None:
        self._gates: dict[str, asyncio.Event] = {}

    def reset(self) -> None:
        self._gates.clear()

    def open(self, name: str | None) -> None:
        if name is not None:
            self._gate(name).set()

    async def wait(self, name: str | None) -> None:
        if name is not None:
            await self._gate(name).wait()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())
