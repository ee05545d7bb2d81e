"""Lifecycle hooks that record each call, and one that fails where a plan says so."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import AgentHooks, RunHooks

from agentrunproof.plan.model import HookDelay, HookError
from agentrunproof.sdk import compat, normal
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.gates import seconds


class HookFailure(Exception):
    """The failure a plan declares for a hook."""


class _Recording:
    def __init__(self, recorder: Recorder, scope: str, failure: HookError | None,
                 delay: HookDelay | None) -> None:
        self._recorder = recorder
        self._scope = scope
        self._failure = failure
        self._delay = delay

    async def _note(self, on: str, agent: Any, context: Any, **fields: Any) -> None:
        call = compat.tool_call(context)[0] if on.startswith("on_tool") else ""
        self._recorder.context_given("hook", on, context.context, call)
        self._recorder.add("hook", scope=self._scope, on=on, agent=agent.name, call=call, **fields)
        if self._failure is not None and self._failure.on == on:
            failure, self._failure = self._failure, None
            raise asyncio.CancelledError if failure.cancel else HookFailure(failure.message)
        if self._delay is not None and self._delay.on == on:
            await seconds(self._delay.delay)

    async def on_llm_start(self, context: Any, agent: Any, *_: Any) -> None:
        await self._note("on_llm_start", agent, context)

    async def on_llm_end(self, context: Any, agent: Any, *_: Any) -> None:
        await self._note("on_llm_end", agent, context)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        await self._note("on_tool_start", agent, context, tool=tool.name)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        await self._note("on_tool_end", agent, context, tool=tool.name, output=normal.text(result))


class RecordingRunHooks(_Recording, RunHooks[Any]):
    """Hooks of the whole run; the declared failure happens here.

    `context` is the context wrapper of the run, once it has begun.
    """

    context: Any = None

    def __init__(self, recorder: Recorder, failure: HookError | None = None) -> None:
        super().__init__(recorder, "run", failure, None)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        self.context = context
        await self._note("on_agent_start", agent, context)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._note("on_agent_end", agent, context, output=normal.text(output))

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        await self._note("on_handoff", from_agent, context, other=to_agent.name)


class RecordingAgentHooks(_Recording, AgentHooks[Any]):
    """Hooks of one agent, recorded under the names of the run's hooks with scope ``agent``."""

    def __init__(self, recorder: Recorder, delay: HookDelay | None = None) -> None:
        super().__init__(recorder, "agent", None, delay)

    async def on_start(self, context: Any, agent: Any) -> None:
        await self._note("on_agent_start", agent, context)

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._note("on_agent_end", agent, context, output=normal.text(output))

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        await self._note("on_handoff", source, context, other=agent.name)
