"""Tools: what is offered, what is run how, and what becomes of results."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from agents import Agent, FunctionTool, UserError, function_tool

from agentrunproof.suites.probes import kit


async def added_while_running() -> list[list[str]]:
    """Tools that the model is offered in each turn, when the first one adds another."""
    def add() -> str:
        agent.tools.append(kit.tool("late"))
        return "added"

    model = kit.model([kit.calls("add")], kit.says("done"))
    agent = Agent(name="clerk", model=model, tools=[kit.tool("add", add)])
    await kit.run(agent)
    return [[tool.name for tool in call.tools] for call in model.calls]


async def nothing_in_a_list() -> Any:
    """What the model is told of a tool that gives an empty list."""
    model = kit.model([kit.calls("look")], kit.says("done"))
    await kit.run(Agent(name="clerk", model=model, tools=[kit.tool("look", list)]))
    return kit.outputs(model.calls[1].input)[0]


async def behavior_of_the_wrong_type() -> str:
    """What is raised where a tool use behaviour gives a text."""
    kit.need(Agent, "tool_use_behavior")
    wrong: Any = lambda *_: "final"  # noqa: E731 -- of a type that it must not have
    agent = Agent(name="clerk", tools=[kit.tool("look")], tool_use_behavior=wrong,
                  model=kit.model([kit.calls("look")], kit.says("done")))
    try:
        await kit.run(agent)
    except UserError:
        return "UserError"
    except AttributeError:
        return "AttributeError"
    return "nothing"


def goes_on_beside() -> bool:
    """Whether the event loop goes on while a tool that is a plain function works."""
    turns: list[int] = []
    during: list[int] = []

    @function_tool
    def work() -> str:
        before = len(turns)
        time.sleep(0.2)  # what is asked is whether this is done in a thread: real time
        during.append(len(turns) - before)
        return "done"

    async def turn() -> None:
        while True:
            await asyncio.sleep(0.01)
            turns.append(1)

    async def both() -> None:
        turning = asyncio.ensure_future(turn())
        await kit.run(Agent(name="clerk", tools=[work],
                            model=kit.model([kit.calls("work")], kit.says("done"))))
        turning.cancel()

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(both())
    finally:
        loop.close()
    return during[0] > 0


async def context_as_a_key() -> str:
    """Whether what a tool is told of its call can be the key of a table."""
    async def look(context: Any, _: str) -> str:
        try:
            return "found" if context in {context: 1} else "not found"
        except TypeError:
            return "no key"

    tool = FunctionTool(name="look", description="", params_json_schema=dict(kit.NOTHING),
                        on_invoke_tool=look)
    model = kit.model([kit.calls("look")], kit.says("done"))
    await kit.run(Agent(name="clerk", model=model, tools=[tool]))
    return str(kit.outputs(model.calls[1].input)[0])


async def sibling_of_a_failing_check() -> str:
    """What has become of a slow enabled-check when another one has failed the run."""
    state = "not begun"
    begun = asyncio.Event()

    async def fails(*_: Any) -> bool:
        await begun.wait()
        raise ValueError("cannot tell")

    async def slow(*_: Any) -> bool:
        nonlocal state
        state = "running"
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            state = "cancelled"
            raise
        return True

    tools: list[Any] = [kit.tool("a", is_enabled=fails), kit.tool("b", is_enabled=slow)]
    try:
        await kit.run(Agent(name="clerk", tools=tools, model=kit.model(kit.says("done"))))
    except ValueError:
        return state
    return "nothing was raised"
