"""Named gates and delays: how a plan orders things that run at the same time."""

from __future__ import annotations

import asyncio
from typing import Any


class Gates:
    """Gates of one phase, all closed at first; an open gate stays open."""

    def __init__(self) -> None:
        self._gates: dict[str, asyncio.Event] = {}

    def reset(self) -> None:
        self._gates.clear()

    def open(self, name: str | None) -> None:
        if name is not None:
            self._gate(name).set()

    def is_open(self, name: str) -> bool:
        return self._gate(name).is_set()

    def offered(self, enabled: bool, until: str | None) -> Any:
        """What the SDK is to be told as ``is_enabled`` of a part that may be disabled."""
        return enabled if until is None else lambda _ctx, _agent: not self.is_open(until)

    async def wait(self, name: str | None) -> None:
        if name is not None:
            await self._gate(name).wait()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


async def seconds(delay: str | None) -> None:
    """Wait this long, in virtual time; not at all for None."""
    if delay is not None:
        await asyncio.sleep(float(delay))
