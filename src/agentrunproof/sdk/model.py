"""The model of a plan: plays the script of one agent and records what it is given."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields
from typing import Any

from agents import Model, ModelResponse, generation_span
from agents.exceptions import ModelBehaviorError, UserError

from agentrunproof.plan.items import response_id, script_items
from agentrunproof.plan.model import ModelError, ModelStep, Phase, Plan
from agentrunproof.sdk import compat, normal, wire
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.gates import Gates

#: Positional parameters of ``Model.get_response``, unchanged since 0.0.3; all others come by
#: keyword (``previous_response_id`` from 0.0.10, ``conversation_id`` 0.2.10, ``prompt`` 0.0.18).
POSITIONAL = ("system_instructions", "input", "model_settings", "tools", "output_schema",
              "handoffs", "tracing")

ERRORS: dict[str, type[BaseException]] = {
    "ModelBehaviorError": ModelBehaviorError, "UserError": UserError,
    "RuntimeError": RuntimeError, "ValueError": ValueError, "ConnectionError": ConnectionError,
    "TimeoutError": TimeoutError, "CancelledError": asyncio.CancelledError,
}


class ScriptExhausted(Exception):
    """The run asked the model for more turns than the plan's script holds."""


@dataclass(frozen=True)
class Turn:
    """One step of the script with its items in wire form."""

    step: ModelStep
    items: tuple[dict[str, Any], ...]
    response_id: str


class PlanModel(Model):
    """The scripted model of one agent; a turn is taken per call, in order."""

    def __init__(self, agent: str, recorder: Recorder, gates: Gates) -> None:
        self._agent = agent
        self._recorder = recorder
        self._gates = gates
        self._turns: deque[Turn] = deque()

    def load(self, plan: Plan, phase: Phase) -> None:
        """Play this phase's script from now on; what was left of the former one is dropped."""
        steps = phase.script.get(self._agent, ())
        self._turns = deque(
            Turn(step, tuple(script_items(plan, phase, self._agent, n)),
                 response_id(phase, self._agent, n))
            for n, step in enumerate(steps))

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        given = dict(zip(POSITIONAL, args, strict=False)) | kwargs
        with generation_span(model="scripted", disabled=given["tracing"].is_disabled()):
            try:
                turn = await self._begin(given, streamed=False)
                self._fail_if_told(turn.step.error)
            except BaseException as exc:
                self._failed(exc)
                raise
            usage = self._responded(turn)
            items = [wire.output_item(item) for item in turn.items]
            return compat.make_response(items, usage, turn.response_id)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        given = dict(zip(POSITIONAL, args, strict=False)) | kwargs
        with generation_span(model="scripted", disabled=given["tracing"].is_disabled()):
            try:
                turn = await self._begin(given, streamed=True)
                items = [wire.output_item(item) for item in turn.items]
                usage = self._usage(turn.step)
                for event in wire.stream(items, usage, turn.response_id,
                                         complete=turn.step.error is None):
                    if event.type == "response.completed":
                        self._responded(turn)
                    yield event
                self._fail_if_told(turn.step.error)
            except GeneratorExit:
                raise  # the consumer closed the stream: its doing, not the model's
            except BaseException as exc:
                self._failed(exc)
                raise

    async def _begin(self, given: dict[str, Any], *, streamed: bool) -> Turn:
        self._recorder.add("model_called", **self._seen(given), streamed=streamed)
        if not self._turns:
            raise ScriptExhausted(f"the script of agent {self._agent} holds no further turn")
        turn = self._turns.popleft()
        self._gates.open(turn.step.opens)
        await self._gates.wait(turn.step.after)
        if turn.step.delay is not None:
            await asyncio.sleep(float(turn.step.delay))
        if turn.step.hang:
            await asyncio.Event().wait()
        return turn

    def _seen(self, given: dict[str, Any]) -> dict[str, Any]:
        items = given["input"]
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        schema = given["output_schema"]
        plain_text = schema is None or schema.is_plain_text()
        return {
            "agent": self._agent,
            "input": tuple(normal.plain(item) for item in items),
            "instructions": normal.text(given["system_instructions"] or ""),
            "tools": tuple(tool.name for tool in given["tools"]),
            "handoffs": tuple(handoff.tool_name for handoff in given["handoffs"]),
            "output_type": "" if plain_text else compat.output_type_name(schema),
            "settings": _settings(given["model_settings"]),
            "previous_response_id": given.get("previous_response_id") or "",
            "conversation_id": given.get("conversation_id") or "",
        }

    def _usage(self, step: ModelStep) -> Any:
        use = step.usage
        return compat.make_usage(use.input, use.output, use.cached, use.reasoning)

    def _responded(self, turn: Turn) -> Any:
        use = turn.step.usage
        tokens = {"input": use.input, "output": use.output, "cached": use.cached,
                  "reasoning": use.reasoning}
        self._recorder.add_response(
            self._agent, [normal.plain(item) for item in turn.items],
            {name: count for name, count in tokens.items() if count}, turn.response_id)
        return self._usage(turn.step)

    def _failed(self, exc: BaseException) -> None:
        self._recorder.add("model_failed", agent=self._agent, error=normal.error(exc))

    @staticmethod
    def _fail_if_told(error: ModelError | None) -> None:
        if error is not None:
            raise ERRORS[error.type](error.message)


def _settings(settings: Any) -> dict[str, Any]:
    """The settings that are set, by name, without those that are for the Runner."""
    return {field.name: normal.plain(value) for field in fields(settings)
            if field.name != "retry" and (value := getattr(settings, field.name)) is not None}
