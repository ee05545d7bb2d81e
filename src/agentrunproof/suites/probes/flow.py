"""The flow of a run where a plan cannot say it: other orders, other loops, other items."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, InputGuardrail, Runner, handoff

from agentrunproof.suites.probes import kit


async def custom_calls_removed() -> list[str]:
    """Types of custom items that reach an agent through the filter that removes tools."""
    from agents.extensions.handoff_filters import remove_all_tools

    model = kit.model(kit.says("done"))
    second = Agent(name="second", model=model)
    first = Agent(name="first", model=kit.model([kit.calls("transfer_to_second")]),
                  handoffs=[handoff(second, input_filter=remove_all_tools)])
    given: Any = [
        {"role": "user", "content": "hello"},
        {"type": "custom_tool_call", "call_id": "c", "name": "n", "input": "i"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "o"}]
    await kit.run(first, given)
    return [item["type"] for item in model.calls[0].input
            if str(item.get("type", "")).startswith("custom")]


async def told_before_the_handoff() -> bool:
    """Whether the reader of a stream knows of a handoff when its callback is at work."""
    seen: list[Any] = []
    then: list[Any] = []

    async def callback(_: Any) -> None:
        await asyncio.sleep(1)
        then.extend(seen)

    second = Agent(name="second", model=kit.model(kit.says("done")))
    first = Agent(name="first", model=kit.model([kit.calls("transfer_to_second")]),
                  handoffs=[handoff(second, on_handoff=callback)])
    async for event in Runner.run_streamed(first, "hello").stream_events():
        seen.append(getattr(event, "name", ""))  # noqa: PERF401 -- the callback reads it meanwhile
    return "handoff_requested" in then


def on_a_closed_loop() -> str:
    """How a synchronous run ends after the loop of the one before was closed."""
    def one(text: str) -> str:
        agent = Agent(name="clerk", model=kit.model(kit.says(text)))
        return str(Runner.run_sync(agent, "hello").final_output)

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    one("first")
    loop.close()
    try:
        return one("second")
    except RuntimeError as error:
        return type(error).__name__


async def guardrail_that_cancels_itself() -> bool:
    """Whether a streamed run gives its answer although its input guardrail was cancelled."""
    async def check(*_: Any) -> Any:
        raise asyncio.CancelledError

    agent = Agent(name="clerk", model=kit.model(kit.says("unguarded")),
                  input_guardrails=[InputGuardrail(guardrail_function=check)])
    running = asyncio.ensure_future(kit.run(agent, streamed=True))
    await asyncio.wait({running})
    if running.cancelled() or running.exception() is not None:
        return False
    return bool(running.result().final_output == "unguarded")


async def cancelled_once() -> str:
    """What becomes of a guardrail's clean-up when its run is cancelled once."""
    state, begun = "not begun", asyncio.Event()

    async def check(*_: Any) -> Any:
        nonlocal state
        state = "at work"
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            state = "cleaning up"
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                state = "cancelled again"
                raise
            state = "cleaned up"
            raise

    agent = Agent(name="clerk", model=kit.model(kit.says("done")),
                  input_guardrails=[InputGuardrail(guardrail_function=check)])
    running = asyncio.ensure_future(kit.run(agent))
    await begun.wait()
    running.cancel()
    await asyncio.wait({running})
    await asyncio.sleep(5)
    return state
