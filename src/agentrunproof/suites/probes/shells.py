"""Shell tools: their calls are items of their own."""

from __future__ import annotations

from typing import Any

import agents
from agents import Agent

from agentrunproof.suites.probes import kit


async def local_output_after_a_pause() -> bool:
    """Whether the model is told again what a local shell gave, once a saved state goes on."""
    from agents import LocalShellTool
    from openai.types.responses.response_output_item import LocalShellCall

    shell = LocalShellCall.model_validate({
        "id": "shell-1", "call_id": "call-1", "type": "local_shell_call", "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}}})
    model = kit.Answers([shell], kit.api(kit.calls("pay", "pay-1")), kit.api(kit.says("done")))
    agent = Agent(name="clerk", model=model, tools=[
        LocalShellTool(executor=lambda _: "three files"), kit.tool("pay", needs_approval=True)])
    result = await kit.run(agent)
    state = await agents.RunState.from_string(agent, result.to_state().to_string())
    state.approve(state.get_interruptions()[0])
    await kit.run(agent, state)
    return "three files" in str(model.given[-1])


async def reason_of_a_rejection() -> bool:
    """Whether the model is told why a callback rejected a shell command."""
    from agents import ShellTool
    from openai.types.responses import ResponseFunctionShellToolCall

    kit.need(ShellTool, "on_approval")
    call = ResponseFunctionShellToolCall.model_validate({
        "id": "shell-1", "call_id": "call-1", "type": "shell_call", "status": "completed",
        "action": {"commands": ["ls"], "timeout_ms": 1000, "max_output_length": 100},
        "environment": None})
    answer: Any = {"approve": False, "reason": "not on a Sunday"}
    shell = ShellTool(executor=lambda _: "three files", needs_approval=True,
                      on_approval=lambda *_: answer)
    model = kit.Answers([call], kit.api(kit.says("done")))
    await kit.run(Agent(name="clerk", model=model, tools=[shell]))
    return "not on a Sunday" in str(model.given[1])
