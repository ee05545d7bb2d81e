"""`DeterministicModel`: a scripted model to hand to ``Runner`` in one's own tests.

Where the SDK has ``agents.testing.ScriptedModel`` (from 0.21.0) it does the work; on older
releases the same steps are played by a model of ours with the same behaviour.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Model, ModelResponse, generation_span

from agentrunproof.plan.items import model_item
from agentrunproof.plan.model import Item, ModelStep
from agentrunproof.sdk import compat, wire
from agentrunproof.sdk.model import ERRORS, POSITIONAL, ScriptExhausted

Step = ModelStep | Item | Sequence[Item] | Exception


class DeterministicModel(Model):
    """Answers each call with the next step of a script; no key, no network.

    Args:
        steps: each an item (`assistant_message`, `function_call`), a list of items, a
            `ModelStep`, or an exception to raise.
        emit_traces: emit an ordinary generation span for each call.

    Raises:
        ScriptExhausted, or the SDK's ``UnexpectedModelCall`` where it plays the script: the run
            asks for more turns than there are.
    """

    def __init__(self, steps: Sequence[Step], *, emit_traces: bool = False) -> None:
        turns = [_turn(step, n) for n, step in enumerate(steps)]
        self._inner: Any = _sdk_model(turns, emit_traces) or _OwnScript(turns, emit_traces)

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        response: ModelResponse = await self._inner.get_response(*args, **kwargs)
        return response

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async for event in self._inner.stream_response(*args, **kwargs):
            yield event

    @property
    def calls(self) -> list[Any]:
        """What each call was given: objects with ``input``, ``tools``, ``system_instructions``."""
        return list(self._inner.calls)

    @property
    def remaining_steps(self) -> int:
        """How many steps have not been taken."""
        return int(self._inner.remaining_steps)

    def assert_complete(self) -> None:
        """Raise ``AssertionError`` unless every step has been taken."""
        if self.remaining_steps:
            raise AssertionError(f"{self.remaining_steps} scripted steps were not taken")


class _Turn:
    """One step in the SDK's own objects."""

    def __init__(self, items: list[Any], usage: Any, response_id: str,
                 error: BaseException | None) -> None:
        self.items = items
        self.usage = usage
        self.response_id = response_id
        self.error = error


class _Call:
    def __init__(self, given: dict[str, Any], streamed: bool) -> None:
        self.streamed = streamed
        self.__dict__.update(given)


class _OwnScript:
    """The same as the SDK's scripted model, for releases that have none."""

    def __init__(self, turns: list[_Turn], emit_traces: bool) -> None:
        self._turns = deque(turns)
        self._emit = emit_traces
        self.calls: list[_Call] = []

    @property
    def remaining_steps(self) -> int:
        return len(self._turns)

    def _next(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, streamed: bool) -> _Turn:
        given = dict(zip(POSITIONAL, args, strict=False)) | kwargs
        if isinstance(given.get("input"), list):
            given["input"] = list(given["input"])
        self.calls.append(_Call(given, streamed))
        if not self._turns:
            raise ScriptExhausted("the script holds no further step")
        turn = self._turns.popleft()
        if turn.error is not None:
            raise turn.error
        return turn

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        with generation_span(model="scripted", disabled=not self._emit):
            turn = self._next(args, kwargs, streamed=False)
            return compat.make_response(list(turn.items), turn.usage, turn.response_id)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with generation_span(model="scripted", disabled=not self._emit):
            turn = self._next(args, kwargs, streamed=True)
            for event in wire.stream(turn.items, turn.usage, turn.response_id):
                yield event


def _turn(step: Step, n: int) -> _Turn:
    if isinstance(step, Exception):
        return _Turn([], None, f"resp-{n}", step)
    if isinstance(step, Item):
        step = [step]
    if not isinstance(step, ModelStep):
        step = ModelStep(output=tuple(step))
    items = [wire.output_item(model_item(item, f"{n}-{k}")) for k, item in enumerate(step.output)]
    use = step.usage
    error = None if step.error is None else ERRORS[step.error.type](step.error.message)
    return _Turn(items, compat.make_usage(use.input, use.output, use.cached, use.reasoning),
                 step.response_id or f"resp-{n}", error)


def _sdk_model(turns: list[_Turn], emit_traces: bool) -> Any:
    try:
        from agents import testing
    except ImportError:
        return None
    steps: list[Any] = [turn.error if turn.error is not None else testing.ModelStep(
        output=list(turn.items), usage=turn.usage, response_id=turn.response_id) for turn in turns]
    return testing.ScriptedModel(steps, emit_traces=emit_traces)
