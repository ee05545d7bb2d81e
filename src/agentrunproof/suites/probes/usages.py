"""Figures: tokens and requests, and how long a retry waits."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from agents import Agent, Model, ModelSettings, Usage

from agentrunproof.sdk import compat
from agentrunproof.sdk.wire import stream
from agentrunproof.suites.probes import kit


def details_of_an_entry() -> list[list[int]]:
    """Cached and reasoning tokens of each entry after a usage with an entry was added."""
    from agents.usage import RequestUsage

    one = compat.make_usage(10, 5, 7, 3)
    inner = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
    inner.request_usage_entries = [RequestUsage(
        input_tokens=10, output_tokens=5, total_tokens=15,
        input_tokens_details=one.input_tokens_details,
        output_tokens_details=one.output_tokens_details)]
    total = Usage()
    total.add(inner)
    return [[entry.input_tokens_details.cached_tokens, entry.output_tokens_details.reasoning_tokens]
            for entry in total.request_usage_entries]


async def longest_wait() -> bool:
    """Whether a retry with jitter waits no longer than the longest wait."""
    from agents import ModelRetrySettings

    waits, sleep, chance = [], asyncio.sleep, random.random

    async def noted(delay: float, *given: Any) -> Any:
        waits.append(delay)
        return await sleep(0, *given)

    settings: Any = ModelRetrySettings(
        max_retries=2, policy=lambda _: True,
        backoff={"initial_delay": 5.0, "max_delay": 5.0, "multiplier": 1.0, "jitter": True})
    model = kit.model(ConnectionError("gone"), ConnectionError("gone"), kit.says("done"))
    try:
        random.random = lambda: 0.999999
        asyncio.sleep = noted  # type: ignore[assignment]
        await kit.run(Agent(name="clerk", model=model,
                            model_settings=ModelSettings(retry=settings)))
    finally:
        random.random, asyncio.sleep = chance, sleep
    return max(waits) <= 5.0


class _Untold(Model):
    """Fails once; then its stream ends without a usage."""

    def __init__(self) -> None:
        self._failed = False

    async def get_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream_response(self, *_: Any, **__: Any) -> Any:
        if not self._failed:
            self._failed = True
            raise ConnectionError("gone")
        for event in stream(kit.api(kit.says("done")), None, "resp-1"):
            yield event


async def requests_without_usage() -> int:
    """Requests of a streamed run that was tried twice, whose answer tells no usage."""
    from agents import ModelRetrySettings

    retry = ModelRetrySettings(max_retries=2, policy=lambda _: True,
                               backoff={"initial_delay": 0.0, "jitter": False})
    result = await kit.run(Agent(name="clerk", model=_Untold(),
                                 model_settings=ModelSettings(retry=retry)), streamed=True)
    return int(result.context_wrapper.usage.requests)
