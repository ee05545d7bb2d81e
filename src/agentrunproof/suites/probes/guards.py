"""Guardrails of tools whose function fails."""

from __future__ import annotations

from typing import Any

from agents import Agent, Runner

from agentrunproof.sdk.sessions import RecordingSession
from agentrunproof.suites.probes import kit


class _Broken(Exception):
    """What the guardrail raises."""


async def failing(kind: str) -> dict[str, Any]:
    """What comes of a call whose guardrail raises, by how the run is watched.

    Args:
        kind: ``input`` or ``output``, what the guardrail looks at.

    ``ran`` is how often the tool was started; ``told`` whether the run raised what the guardrail
    did, or something that has it as its cause; ``halves`` the types of call items that were stored
    although their pair is not whole; ``calls`` how often the model was called.
    """
    return {"run": await _failing(kind, False), "run_streamed": await _failing(kind, True)}


async def _failing(kind: str, streamed: bool) -> dict[str, Any]:
    from agents import ToolInputGuardrail, ToolOutputGuardrail

    def check(_: Any) -> Any:
        raise _Broken("no answer")

    ran: list[str] = []
    guarded = kit.tool("wipe", lambda: ran.append("wipe"))
    if kind == "input":
        guarded.tool_input_guardrails = [ToolInputGuardrail(guardrail_function=check)]
    else:
        guarded.tool_output_guardrails = [ToolOutputGuardrail(guardrail_function=check)]
    kit.need(Runner.run, "session")
    session, model = RecordingSession(), kit.model([kit.calls("wipe")], kit.says("done"))
    told = False
    try:
        await kit.run(Agent(name="clerk", model=model, tools=[guarded]), streamed=streamed,
                      session=session)
    except Exception as error:
        told = _Broken in [type(error), type(error.__cause__)]
    calls = [item["type"] for item in await session.get_items() if "call_id" in item]
    whole = sorted(calls) == ["function_call", "function_call_output"]
    return {"ran": len(ran), "told": told, "halves": [] if whole else calls,
            "calls": len(model.calls)}
