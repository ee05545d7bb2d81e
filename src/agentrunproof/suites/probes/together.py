"""Options that go together, or must be refused together, and copies of agents."""

from __future__ import annotations

from typing import Any

from agents import Agent, RunConfig, Runner, function_tool

from agentrunproof.sdk.sessions import RecordingSession
from agentrunproof.suites.probes import kit


@function_tool
def look() -> str:
    """Looks."""
    return "seen"


async def refused(what: str) -> dict[str, Any]:
    """How a run ends whose options contradict each other, and how often its model was called.

    Args:
        what: ``session``, with a conversation of the server; ``names``, two tools of one name
            where the run wants that refused.
    """
    model = kit.model(kit.says("done"))
    agent = Agent(name="clerk", model=model)
    config, options = RunConfig(tracing_disabled=True), dict[str, Any]()
    if what == "session":
        kit.need(Runner.run, "conversation_id")
        options = {"conversation_id": "conversation-1", "session": RecordingSession()}
    else:
        kit.need(RunConfig, "tool_name_collision_policy")
        config = RunConfig(tracing_disabled=True, tool_name_collision_policy="error")
        agent.tools = [look, kit.tool("look")]
    try:
        await kit.run(agent, config=config, **options)
    except Exception as error:
        return {"calls": len(model.calls), "raises": type(error).__name__}
    return {"calls": len(model.calls), "raises": ""}


async def cloned() -> dict[str, Any]:
    """What a clone with other instructions has of its own, and what it shares."""
    model = kit.model(kit.says("first"), kit.says("second"))
    agent = Agent(name="clerk", instructions="Old.", model=model, tools=[look])
    clone = agent.clone(name="scribe", instructions="New.")
    outputs = [(await kit.run(one)).final_output for one in (agent, clone)]
    return {"names": [agent.name, clone.name],
            "instructions": [str(agent.instructions), str(clone.instructions)],
            "outputs": outputs, "shares": clone.tools is agent.tools and clone.model is model}


async def ends_at_a_function() -> list[Any]:
    """Output and model calls of runs whose tool results a function judges: final, and not yet."""
    from agents import ToolsToFinalOutputResult

    found: list[Any] = []
    for final in (True, False):
        def judge(context: Any, results: Any, final: bool = final) -> Any:
            told = "+".join(str(result.output) for result in results)
            return ToolsToFinalOutputResult(is_final_output=final,
                                            final_output=told if final else None)

        model = kit.model([kit.calls("look", "a"), kit.calls("look", "b")], kit.says("done"))
        agent = Agent(name="clerk", model=model, tools=[look], tool_use_behavior=judge)
        for streamed in (False, True):
            result = await kit.run(agent, streamed=streamed)
            found.append([result.final_output, len(model.calls)])
            model = agent.model = kit.model([kit.calls("look", "a"), kit.calls("look", "b")],
                                            kit.says("done"))
    return found
