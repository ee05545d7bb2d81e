"""What probes are made of: runs with a scripted model, and questions to the release."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from agents import FunctionTool, Model, ModelResponse, RunConfig, Runner

from agentrunproof.plan.items import model_item
from agentrunproof.plan.model import Item
from agentrunproof.sdk import compat
from agentrunproof.sdk.calls import Lacking
from agentrunproof.sdk.scripted import DeterministicModel, Step
from agentrunproof.sdk.wire import output_item

#: The JSON Schema of a function without parameters.
NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "required": [],
                           "additionalProperties": False}


def need(function: Callable[..., Any], *parameters: str) -> None:
    """Refuse a release whose function does not take these parameters.

    Raises:
        Lacking: naming the first.
    """
    for name in parameters:
        if not compat.takes(function, name):
            raise Lacking(f"{function.__qualname__} takes no {name}")


def says(text: str) -> Item:
    """An answer of the model."""
    return Item(say=text, id=f"msg-{text}")


def calls(name: str, id: str = "call-1", *, arguments: str | None = None, **args: Any) -> Item:
    """A call that the model makes.

    Args:
        name: of the function.
        id: of the call.
        arguments: their text as it stands, in place of `args`.
    """
    text = json.dumps(args) if arguments is None else arguments
    return Item(call=name, id=id, arguments=text)


def api(*items: Item) -> list[Any]:
    """Items of the model as objects of the API."""
    return [output_item(model_item(item, f"item-{n}")) for n, item in enumerate(items)]


def model(*steps: Step) -> DeterministicModel:
    """A model that takes these turns."""
    return DeterministicModel(list(steps))


async def run(agent: Any, given: Any = "hello", *, streamed: bool = False, config: Any = None,
              **options: Any) -> Any:
    """The result of a run, read to its end if it is streamed."""
    options["run_config"] = config or RunConfig(tracing_disabled=True)
    if not streamed:
        return await Runner.run(agent, given, **options)
    result = Runner.run_streamed(agent, given, **options)
    async for _ in result.stream_events():
        pass
    return result


def tool(name: str, does: Callable[[], Any] = lambda: "done", **options: Any) -> FunctionTool:
    """A tool without parameters that gives what `does` gives, waited for if it has to be."""
    async def invoke(*_: Any) -> Any:
        given = does()
        return await given if hasattr(given, "__await__") else given

    return FunctionTool(name=name, description="", params_json_schema=dict(NOTHING),
                        on_invoke_tool=invoke, **options)


def outputs(items: Iterable[Any]) -> list[Any]:
    """What the outputs of function calls among input items hold."""
    return [item["output"] for item in items
            if isinstance(item, dict) and item.get("type") == "function_call_output"]


class Answers(Model):
    """Gives objects of the API, one list after the other; for turns that a plan cannot declare.

    Attributes:
        given: the input of each call.
    """

    def __init__(self, *turns: Sequence[Any]) -> None:
        self._turns = list(turns)
        self.given: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any
                           ) -> ModelResponse:
        self.given.append(list(input) if isinstance(input, list) else input)
        usage = compat.make_usage(10, 5, 0, 0)
        return compat.make_response(list(self._turns.pop(0)), usage, f"resp-{len(self.given)}")

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
