"""The data of an exception, and the response whose tool failed.

An exception tells all responses that the model gave, that of the turn which failed too.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    AgentsException,
    Model,
    ModelResponse,
    Runner,
    Usage,
    function_tool,
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


async def run(streamed, agent, input, **options):
    """Run the agent, awaited or streamed to its end."""
    if not streamed:
        return await Runner.run(agent, input, **options)
    result = Runner.run_streamed(agent, input, **options)
    async for _ in result.stream_events():
        pass
    return result


set_tracing_disabled(True)


@function_tool(failure_error_function=None)
def fail() -> str:
    raise ValueError("broken")


def test_the_exception_tells_the_response_whose_tool_failed():
    async def scenario(streamed):
        agent = Agent(
            name="clerk", model=ScriptedModel([call("fail", "one")]), tools=[fail])
        try:
            await run(streamed, agent, "Hello.")
        except AgentsException as error:
            return error.run_data

    for streamed in (False, True):
        data = asyncio.run(scenario(streamed))
        assert data.context_wrapper.usage.requests == 1
        assert len(data.raw_responses) == 1, "the one response that was given is not told"


if __name__ == "__main__":
    test_the_exception_tells_the_response_whose_tool_failed()
