"""A run in a conversation that the server keeps, paused and resumed with input added to it.

A response of the model stands once in the raw responses, whether the resumed run is awaited or
streamed.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
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


set_tracing_disabled(True)


@function_tool(needs_approval=True)
def pay() -> str:
    return "paid"


async def responses_of_the_resumed_run(*, streamed):
    model = ScriptedModel([call("pay", "one")], [say("ok")])
    alpha = Agent(name="alpha", model=model, tools=[pay])
    paused = await Runner.run(alpha, "Go.", conversation_id="conversation")
    state = paused.to_state()
    (waiting,) = state.get_interruptions()
    state.approve(waiting)
    state.add_input("And tell me.")
    if streamed:
        resumed = Runner.run_streamed(alpha, state, conversation_id="conversation")
        async for _ in resumed.stream_events():
            pass
    else:
        resumed = await Runner.run(alpha, state, conversation_id="conversation")
    assert len(model.given) == 2
    return [item.type for response in resumed.raw_responses for item in response.output]


def test_a_response_stands_once_in_the_raw_responses():
    awaited = asyncio.run(responses_of_the_resumed_run(streamed=False))
    streamed = asyncio.run(responses_of_the_resumed_run(streamed=True))
    assert streamed == awaited == ["function_call", "message"]


if __name__ == "__main__":
    test_a_response_stands_once_in_the_raw_responses()
