"""Runs agents of every fate on the installed release of the Agents SDK, recorded live.

Run as ``python live_agents.py FOLDER``, it makes two folders of runs there: by trace processor, and
by run configuration; what was raised is printed as JSON. Nothing but the SDK is needed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import agents
from openai import AsyncOpenAI

from agentrunproof.recorders import record, trace_processor
from tests.wire import serving

ARGUMENTS = {"order": "77"}


def decide(body: dict[str, Any]) -> dict[str, Any]:
    """Look the order up, until there is an answer to that; those who are told to go on go on."""
    seen = json.dumps(body.get("input") or body["messages"])
    if "call_1" in seen and "For ever" not in seen:
        return {"text": "That is all."}
    id = f"call_{1 + seen.count('is on its way')}"
    return {"tool_calls": [{"id": id, "name": "look", "arguments": ARGUMENTS}]}


def look(order: str) -> str:
    """Look an order up."""
    return f"order {order} is on its way"


def fail(order: str) -> str:
    """Look an order up."""
    raise ValueError(f"no order {order}")


@agents.input_guardrail
def trip(context: Any, agent: Any, text: Any) -> Any:
    """Nobody may pass."""
    return agents.GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)


def fates(model: Any) -> dict[str, Any]:
    """Agents, by what becomes of them."""
    good = agents.function_tool(look, name_override="look")
    told = agents.function_tool(fail, name_override="look")
    raises = agents.function_tool(fail, name_override="look", failure_error_function=None)
    return {
        "good": agents.Agent(name="clerk", model=model, tools=[good]),
        "tool-fails": agents.Agent(name="clerk", model=model, tools=[told]),
        "tool-raises": agents.Agent(name="clerk", model=model, tools=[raises]),
        "max-turns": agents.Agent(name="clerk", model=model, tools=[good],
                                  instructions="Go on for ever."),
        "tripwire": agents.Agent(name="clerk", model=model, tools=[good],
                                 input_guardrails=[trip]),
    }


async def run(agent: Any, config: Any, streamed: bool) -> None:
    text = "Where is my order? For ever." if agent.instructions else "Where is my order?"
    if not streamed:
        await agents.Runner.run(agent, text, run_config=config, max_turns=3)
        return
    running = agents.Runner.run_streamed(agent, text, run_config=config, max_turns=3)
    async for _ in running.stream_events():
        pass


async def main(folder: Path) -> dict[str, str]:
    """Run them all, both ways; what each raised."""
    agents.set_trace_processors([trace_processor(folder=folder / "processor")])
    with serving(decide) as wire:
        raised = await every(wire.url, None)
        agents.set_trace_processors([])
        assert await every(wire.url, folder / "config") == raised
    return raised


async def every(url: str, folder: Path | None) -> dict[str, str]:
    """Run them all, and record each with its run configuration, if there is a folder for that."""
    raised = {}
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="x") as client:
        for kind in (agents.OpenAIResponsesModel, agents.OpenAIChatCompletionsModel):
            for fate, agent in fates(kind("gpt", client)).items():
                for streamed in (False, True):
                    name = "_".join((fate, kind.__name__[6:10], "streamed" * streamed))
                    raised[name] = await one(agent, name, folder, streamed)
    return raised


async def one(agent: Any, name: str, folder: Path | None, streamed: bool) -> str:
    config = agents.RunConfig(workflow_name=name)
    try:
        if folder is None:
            await run(agent, config, streamed)
        else:
            with record(name, folder=folder) as rec:
                await run(agent, rec.agents_sdk(agent, run_config=config), streamed)
    except Exception as error:
        return type(error).__name__
    return ""


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
