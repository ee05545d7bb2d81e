"""A guardrail that decides while the exception of a failed turn is held back.

What a guardrail decided before the exception came is told by it, and in the same way by a
streamed and an awaited run.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    GuardrailFunctionOutput,
    Model,
    ModelBehaviorError,
    ModelResponse,
    Runner,
    Usage,
    input_guardrail,
    set_tracing_disabled,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemDoneEvent,
)


class ScriptedModel(Model):
    """Answers with the next of its turns; no request leaves this process."""

    def __init__(self, *turns):
        self.turns = list(turns)
        self.given = []  # what each call was given

    async def turn(self, items):
        self.given.append(items if isinstance(items, str) else [dict(item) for item in items])
        turn = self.turns.pop(0)
        if callable(turn):
            turn = await turn()
        if isinstance(turn, BaseException):
            raise turn
        return turn

    async def get_response(self, system_instructions, input, *args, **kwargs):
        output = await self.turn(input)
        return ModelResponse(output=output, usage=Usage(requests=1), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        output = await self.turn(input)
        for n, item in enumerate(output):
            yield ResponseOutputItemDoneEvent(
                type="response.output_item.done", sequence_number=n, output_index=n, item=item)
        response = Response(
            id="response", created_at=0, model="scripted", object="response", output=output,
            tool_choice="auto", tools=[], parallel_tool_calls=True)
        yield ResponseCompletedEvent(
            type="response.completed", sequence_number=len(output), response=response)


def call(name, call_id, arguments="{}"):
    return ResponseFunctionToolCall(
        id=f"fc-{call_id}", type="function_call", call_id=call_id, name=name,
        arguments=arguments, status="completed")


set_tracing_disabled(True)


def test_the_exception_tells_what_the_guardrail_decided():
    async def scenario():
        decided = []

        @input_guardrail
        async def polite(context, agent, input):
            await asyncio.sleep(0.1)
            decided.append(True)
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

        model = ScriptedModel([call("missing", "one")])
        agent = Agent(name="clerk", model=model, input_guardrails=[polite])
        result = Runner.run_streamed(agent, "Hello.")
        try:
            async for _ in result.stream_events():
                pass
        except ModelBehaviorError as error:
            told = error.run_data.input_guardrail_results
            return len(decided), len(result.input_guardrail_results), len(told)

    decided, in_result, in_exception = asyncio.run(scenario())
    assert in_result == decided
    assert in_exception == in_result, f"decided {decided}, the exception tells {in_exception}"


if __name__ == "__main__":
    test_the_exception_tells_what_the_guardrail_decided()
