"""Agents as tools."""

from __future__ import annotations

from typing import Any

from agents import Agent, RunConfig
from pydantic import BaseModel

from agentrunproof.sdk.build import CallableObject
from agentrunproof.suites.probes import kit


def _outer(inner: Any, **args: Any) -> tuple[Agent[Any], Any]:
    """An agent that calls the tool `ask` once, and its model."""
    model = kit.model([kit.calls("ask", **args)], kit.says("done"))
    return Agent(name="outer", model=model, tools=[inner]), model


async def model_of_the_run() -> bool:
    """Whether an inner agent asks the model of the run's configuration, having no other."""
    model = kit.model([kit.calls("ask", input="?")], kit.says("said inside"), kit.says("done"))
    outer = Agent(name="outer", tools=[Agent(name="inner").as_tool("ask", "Asks.")])
    await kit.run(outer, config=RunConfig(model=model, tracing_disabled=True))
    return bool(kit.outputs(model.calls[-1].input)[0] == "said inside")


class _Question(BaseModel):
    text: str


async def builder_that_is_false() -> Any:
    """What an inner agent is given by an input builder that counts as false."""
    kit.need(Agent.as_tool, "input_builder")
    inner = kit.model(kit.says("well"))
    builder: Any = CallableObject(lambda _: "built", truth=False)
    outer, _ = _outer(Agent(name="inner", model=inner).as_tool(
        "ask", "Asks.", parameters=_Question, input_builder=builder), text="?")
    await kit.run(outer)
    given = inner.calls[0].input
    return given if isinstance(given, str) else given[0]["content"]


async def extractor_that_is_false() -> Any:
    """What an agent as a tool gives through an output extractor that counts as false."""
    async def extract(_: Any) -> str:
        return "extracted"

    extractor: Any = CallableObject(extract, truth=False)
    outer, model = _outer(Agent(name="inner", model=kit.model(kit.says("well"))).as_tool(
        "ask", "Asks.", custom_output_extractor=extractor), input="?")
    await kit.run(outer)
    return kit.outputs(model.calls[1].input)[0]
