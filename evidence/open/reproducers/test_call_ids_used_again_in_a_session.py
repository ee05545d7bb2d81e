"""A second run in a session that uses the call ids of the first one again.

A run in a session is given the history as it is stored there, even if it uses a call id of an
earlier run again.

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
    function_tool,
    set_tracing_disabled,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
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


def say(text):
    part = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
    return ResponseOutputMessage(
        id="message", type="message", role="assistant", status="completed", content=[part])


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


@function_tool
def double(n: int) -> str:
    return f"doubled {n}"


def test_a_run_is_given_the_history_as_the_session_holds_it():
    async def scenario(streamed):
        model = ScriptedModel(
            [call("double", "one", '{"n": 1}')], [say("2")],
            [call("double", "one", '{"n": 5}')], [say("10")])
        agent = Agent(name="clerk", model=model, tools=[double])
        session = SQLiteSession("session")
        await run(streamed, agent, "Double 1.", session=session)
        await run(streamed, agent, "Double 5.", session=session)
        calls = [item["arguments"] for item in model.given[-1]
                 if item.get("type") == "function_call"]
        outputs = [item["output"] for item in model.given[-1]
                   if item.get("type") == "function_call_output"]
        return calls, outputs

    for streamed in (False, True):
        calls, outputs = asyncio.run(scenario(streamed))
        assert calls == ['{"n": 1}', '{"n": 5}'], "a call of the earlier run is lost or changed"
        assert outputs == ["doubled 1", "doubled 5"]


if __name__ == "__main__":
    test_a_run_is_given_the_history_as_the_session_holds_it()
