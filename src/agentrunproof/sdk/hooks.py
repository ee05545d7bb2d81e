"""Lifecycle hooks that record each call, and one that fails where a plan says so."""

from __future__ import annotations

from typing import Any

from agents import AgentHooks, RunHooks

from agentrunproof.plan.model import HookError
from agentrunproof.sdk import normal
from agentrunproof.sdk.capture import Recorder


class HookFailure(Exception):
    """The failure a plan declares for a hook."""


class _Recording:
    def __init__(self, recorder: Recorder, scope: str, failure: HookError | None) -> None:
        self._recorder = recorder
        self._scope = scope
        self._failure = failure

    def _note(self, on: str, agent: Any, context: Any = None, **fields: Any) -> None:
        call = getattr(context, "tool_call_id", "") if on.startswith("on_tool") else ""
        self._recorder.add("hook", scope=self._scope, on=on, agent=agent.name, call=call, **fields)
        if self._failure is not None and self._failure.on == on:
            failure, self._failure = self._failure, None
            raise HookFailure(failure.message)

    async def on_llm_start(self, context: Any, agent: Any, *_: Any) -> None:
        self._note("on_llm_start", agent)

    async def on_llm_end(self, context: Any, agent: Any, *_: Any) -> None:
        self._note("on_llm_end", agent)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self._note("on_tool_start", agent, context, tool=tool.name)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        self._note("on_tool_end", agent, context, tool=tool.name, output=normal.text(result))


class RecordingRunHooks(_Recording, RunHooks[Any]):
    """Hooks of the whole run; the declared failure happens here."""

    def __init__(self, recorder: Recorder, failure: HookError | None = None) -> None:
        super().__init__(recorder, "run", failure)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        self._note("on_agent_start", agent)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        self._note("on_agent_end", agent, output=normal.text(output))

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        self._note("on_handoff", from_agent, other=to_agent.name)


class RecordingAgentHooks(_Recording, AgentHooks[Any]):
    """Hooks of one agent, recorded under the names of the run's hooks with scope ``agent``."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder, "agent", None)

    async def on_start(self, context: Any, agent: Any) -> None:
        self._note("on_agent_start", agent)

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        self._note("on_agent_end", agent, output=normal.text(output))

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        self._note("on_handoff", source, other=agent.name)
