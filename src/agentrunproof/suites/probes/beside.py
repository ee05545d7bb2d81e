"""Runs that are under way at once: each must come to what it comes to alone."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, RunConfig, RunContextWrapper, RunHooks, Runner, function_tool

from agentrunproof.sdk.sessions import RecordingSession
from agentrunproof.suites.probes import kit


class _Heard(RunHooks[Any]):
    """Names of the hooks that are called, with the name in the context that they are given."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        self.calls.append(f"start {context.context['who']}")

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self.calls.append(f"tool {context.context['who']}")

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        self.calls.append(f"end {context.context['who']}")


class _Asks(kit.Answers):
    """A model that calls a tool and then says what the tool gave, for whoever asks."""

    def __init__(self) -> None:
        super().__init__()

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any
                           ) -> Any:
        await asyncio.sleep(0.1)
        said = kit.outputs(input)
        item = kit.says(said[-1]) if said else kit.calls("look", "call-1")
        self._turns.append(kit.api(item))
        return await super().get_response(system_instructions, input, *rest, **more)


async def _one(agent: Any, who: str, late: float) -> dict[str, Any]:
    """What a run for `who` comes to, which begins so many seconds late."""
    await asyncio.sleep(late)
    heard, session = _Heard(), RecordingSession(who)
    result = await Runner.run(agent, f"Where is {who}?", context={"who": who}, hooks=heard,
                              session=session, run_config=RunConfig(tracing_disabled=True))
    usage = result.context_wrapper.usage
    return {"output": result.final_output, "hooks": heard.calls,
            "usage": [usage.requests, usage.input_tokens, usage.output_tokens],
            "input": [item.get("content") for item in result.to_input_list()][:1],
            "stored": [str(item.get("type", "message")) for item in await session.get_items()]}


async def runs_of_one_agent() -> dict[str, list[str]]:
    """What two runs of one agent give alone, and what of them differs when they run at once.

    Both have a context, hooks and a session of their own, and call a tool of one id.
    """
    kit.need(Runner.run, "session")

    @function_tool
    async def look(ctx: RunContextWrapper[Any]) -> str:
        await asyncio.sleep(0.1)
        return f"with {ctx.context['who']}"

    agent = Agent(name="clerk", model=_Asks(), tools=[look])
    alone = [await _one(agent, who, 0) for who in ("Ann", "Bob")]
    differing = []
    for late in (0, 0.05, 0.15):
        beside = await asyncio.gather(_one(agent, "Ann", 0), _one(agent, "Bob", late))
        differing += [key for one, other in zip(alone, beside, strict=True) for key in one
                      if one[key] != other[key]]
    return {"alone": [str(one["output"]) for one in alone], "differing": sorted(set(differing))}


async def decisions_on_runs_at_once() -> list[str]:
    """What the tool was executed for, of two paused runs of one agent resumed at once.

    Both wait for a call of the same id; one is approved, the other rejected.
    """
    kit.need(function_tool, "needs_approval")
    paid: list[str] = []

    @function_tool(needs_approval=True)
    async def look(ctx: RunContextWrapper[Any]) -> str:
        await asyncio.sleep(0.1)
        paid.append(ctx.context["who"])
        return "done"

    agent = Agent(name="clerk", model=_Asks(), tools=[look])
    states: list[Any] = []
    for who in ("Ann", "Bob"):
        result = await kit.run(agent, who, context={"who": who})
        states.append(result.to_state())
    for state, decide in zip(states, (states[0].approve, states[1].reject), strict=True):
        decide(state.get_interruptions()[0])
    await asyncio.gather(*(kit.run(agent, state) for state in states))
    return paid


async def runs_in_one_session() -> dict[str, Any]:
    """What a session holds after two runs in it at once: calls, outputs, and the inputs, sorted."""
    kit.need(Runner.run, "session")

    @function_tool
    async def look() -> str:
        await asyncio.sleep(0.1)
        return "here"

    agent = Agent(name="clerk", model=_Asks(), tools=[look])
    session = RecordingSession("shared")
    await asyncio.gather(*(kit.run(agent, who, session=session) for who in ("Ann", "Bob")))
    items = await session.get_items()
    kinds = [str(item.get("type", "message")) for item in items]
    return {"calls": kinds.count("function_call"), "outputs": kinds.count("function_call_output"),
            "inputs": sorted(item["content"] for item in items if item.get("role") == "user")}
