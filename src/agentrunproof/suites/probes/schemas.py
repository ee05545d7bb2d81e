"""JSON Schemas of tools and of outputs."""

from __future__ import annotations

import copy
from typing import Any

from agents import Agent, AgentOutputSchema, FunctionTool, ModelBehaviorError, function_tool

from agentrunproof.suites.probes import kit

_TEXT = {"type": "object", "properties": {"x": {"type": "string"}}}


def _tool(schema: Any) -> FunctionTool:
    async def invoke(*_: Any) -> str:
        return "done"

    return FunctionTool(name="look", description="", params_json_schema=schema,
                        on_invoke_tool=invoke)


def _closed(schema: Any) -> bool:
    """Whether a schema is of an object without further properties."""
    return schema.get("type") == "object" and schema.get("additionalProperties") is False


def of_a_direct_tool() -> dict[str, Any]:
    """What a strict tool that is built directly makes of a schema that is not strict."""
    schema = _tool(copy.deepcopy(_TEXT)).params_json_schema
    return {"closed": _closed(schema), "required": schema.get("required", [])}


def of_two_tools() -> list[str]:
    """What shows up in an empty schema after another tool's empty schema was changed."""
    first, second = _tool({}), _tool({})
    first.params_json_schema.setdefault("properties", {})["leak"] = {"type": "string"}
    return sorted(second.params_json_schema.get("properties", {}))


def of_the_caller() -> Any:
    """A schema after a tool was made of it."""
    mine = copy.deepcopy(_TEXT)
    _tool(mine)
    return mine


def without_types() -> dict[str, bool]:
    """Whether objects that do not say that they are objects are closed in a strict tool."""
    schema = _tool({"properties": {"x": {"properties": {"y": {"type": "string"}}}}}
                   ).params_json_schema
    return {"outer": _closed(schema), "inner": _closed(schema["properties"]["x"])}


async def output_of_a_dict() -> Any:
    """The final output of an agent whose output type is a dict of integers, if it is read."""
    agent = Agent(name="clerk", model=kit.model(kit.says('{"a":1}')),
                  output_type=AgentOutputSchema(dict[str, int], strict_json_schema=False))
    try:
        return (await kit.run(agent)).final_output
    except ModelBehaviorError:
        return "refused"


async def further_arguments() -> bool:
    """Whether a further keyword argument can take the place of a named one."""
    users: list[str] = []

    @function_tool(strict_mode=False)
    def greet(*, user: str, **extra: str) -> str:
        users.append(user)
        return "greeted"

    call = kit.calls("greet", user="alice", extra={"user": "root"})
    await kit.run(Agent(name="clerk", tools=[greet], model=kit.model([call], kit.says("done"))))
    return "root" in users
