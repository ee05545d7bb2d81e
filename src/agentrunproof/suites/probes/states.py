"""Paused runs: what is pending, and what a state still knows once it has been saved as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import agents
from agents import Agent, GuardrailFunctionOutput, InputGuardrail, function_tool
from pydantic import BaseModel

from agentrunproof.suites.probes import kit


async def _paused(*tools: Any, first: Any = (), **options: Any) -> tuple[Any, Any, Any]:
    """Agent, model and result of a run that waits for the decision on a call of `pay`."""
    turns = [[*first]] if first else []
    model = kit.model(*turns, [kit.calls("pay", "pay-1")], kit.says("done"))
    agent = Agent(name="clerk", model=model, tools=[kit.tool("pay", needs_approval=True), *tools],
                  **options)
    return agent, model, await kit.run(agent)


async def _again(agent: Any, result: Any) -> Any:
    """The state of a paused run, saved as text and read again, with the call approved."""
    state = await agents.RunState.from_string(agent, result.to_state().to_string())
    state.approve(state.get_interruptions()[0])
    return state


@dataclass
class _Reason:
    text: str


async def guardrail_that_tells_an_object() -> bool:
    """Whether a state can be saved whose guardrail told more than JSON."""
    async def check(*_: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=_Reason("fine"), tripwire_triggered=False)

    _, _, result = await _paused(input_guardrails=[InputGuardrail(guardrail_function=check)])
    try:
        return bool(result.to_state().to_string())
    except TypeError:
        return False


class _Price(BaseModel):
    amount: int
    unit: str = "EUR"


async def _output_after(value: Any) -> Any:
    """The output of a finished tool in a run that went on from a saved state."""
    look = kit.tool("look", lambda: value)
    agent, _, result = await _paused(look, first=[kit.calls("look", "look-1")])
    result = await kit.run(agent, await _again(agent, result))
    return next(item.output for item in result.new_items
                if item.type == "tool_call_output_item")


async def output_with_defaults() -> Any:
    """A tool's output that is a model, one of its fields at the default."""
    return _plain(await _output_after(_Price(amount=1)))


async def output_of_models() -> Any:
    """A tool's output that is a list of models."""
    return _plain(await _output_after([_Price(amount=1), _Price(amount=2)]))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.model_dump() if isinstance(value, BaseModel) else value


async def pending_after_clearing() -> int:
    """How many calls wait for a decision after the list that told them was cleared."""
    _, _, result = await _paused()
    state = result.to_state()
    state.get_interruptions().clear()
    return len(state.get_interruptions())


async def arguments_seen_by_a_sibling() -> str:
    """Arguments of a pending call in one state after they were changed in another."""
    _, _, result = await _paused()
    one, two = result.to_state(), result.to_state()
    one.get_interruptions()[0].raw_item.arguments = '{"amount":999}'
    arguments: str = two.get_interruptions()[0].raw_item.arguments
    return arguments


async def policy_on_empty_arguments() -> int:
    """How often a tool runs unasked whose policy wants a path, called with no text at all."""
    ran = []

    async def policy(_: Any, arguments: Any, __: str) -> bool:
        return bool(arguments.get("path"))

    @function_tool(needs_approval=policy, strict_mode=False)
    def wipe(path: str = "/") -> str:
        ran.append(path)
        return "wiped"

    call = kit.calls("wipe", "wipe-1", arguments="")
    await kit.run(Agent(name="clerk", tools=[wipe],
                        model=kit.model([call], kit.says("done"))))
    return len(ran)


async def refusals() -> dict[str, str]:
    """What reading a state raises whose text is damaged, by how it was damaged."""
    agent, _, result = await _paused()
    text = result.to_state().to_string()
    sound = json.loads(text)
    bare = {key: value for key, value in sound.items() if key != "$schemaVersion"}
    texts = {"cut short": text[:-1], "no version": json.dumps(bare),
             "unknown version": json.dumps(sound | {"$schemaVersion": "99.0"}),
             "sound": text}
    return {name: await _refusal(agent, damaged) for name, damaged in texts.items()}


async def refused_by_a_stranger() -> str:
    """What reading a state raises with agents that do not hold the one that paused."""
    _, _, result = await _paused()
    return await _refusal(Agent(name="stranger"), result.to_state().to_string())


async def _refusal(agent: Any, text: str) -> str:
    try:
        await agents.RunState.from_string(agent, text)
    except Exception as error:
        return type(error).__name__
    return ""
