"""A model input filter that fails, and the session.

A run that a filter fails before the model is asked leaves the same in its session, streamed or
not.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    SQLiteSession,
    Usage,
    set_tracing_disabled,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
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


async def run(streamed, agent, input, **options):
    """Run the agent, awaited or streamed to its end."""
    if not streamed:
        return await Runner.run(agent, input, **options)
    result = Runner.run_streamed(agent, input, **options)
    async for _ in result.stream_events():
        pass
    return result


set_tracing_disabled(True)


class Broken(Exception):
    pass


def broken(data):
    raise Broken


def test_the_session_holds_the_same_whether_streamed_or_not():
    async def scenario(streamed):
        session = SQLiteSession("session")
        agent = Agent(name="clerk", model=ScriptedModel())
        config = RunConfig(call_model_input_filter=broken)
        try:
            await run(streamed, agent, "Hello.", session=session, run_config=config)
        except Broken:
            return await session.get_items()

    awaited, streamed = asyncio.run(scenario(False)), asyncio.run(scenario(True))
    assert streamed == awaited


if __name__ == "__main__":
    test_the_session_holds_the_same_whether_streamed_or_not()
