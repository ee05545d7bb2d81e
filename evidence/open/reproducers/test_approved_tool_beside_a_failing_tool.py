"""An approved tool beside one that fails.

What an approved tool gave is in the session though the tool beside it ends the run.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    SQLiteSession,
    Usage,
    UserError,
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


async def kept(needs_approval, streamed):
    """How often the tool ran, and the ids of the outputs in the session after the other failed."""
    paid = []
    ended = asyncio.Event()

    @function_tool(needs_approval=needs_approval)
    async def pay() -> str:
        paid.append(True)
        ended.set()
        return "paid"

    @function_tool(needs_approval=needs_approval, failure_error_function=None)
    async def fail() -> str:
        await ended.wait()
        raise ValueError("broken")

    session = SQLiteSession("session")
    model = ScriptedModel([call("pay", "one"), call("fail", "two")])
    clerk = Agent(name="clerk", model=model, tools=[pay, fail])
    try:
        result = await run(streamed, clerk, "Pay.", session=session)
        state = result.to_state()
        for interruption in result.interruptions:
            state.approve(interruption)
        await run(streamed, clerk, state, session=session)
    except UserError:
        return len(paid), [item["call_id"] for item in await session.get_items()
                           if item.get("type") == "function_call_output"]


def test_the_output_of_a_tool_is_in_the_session_also_after_an_approval():
    for streamed in (False, True):
        paid, outputs = asyncio.run(kept(False, streamed))
        assert (paid, "one" in outputs) == (1, True)
        paid, outputs = asyncio.run(kept(True, streamed))
        assert (paid, "one" in outputs) == (1, True), outputs


if __name__ == "__main__":
    test_the_output_of_a_tool_is_in_the_session_also_after_an_approval()
