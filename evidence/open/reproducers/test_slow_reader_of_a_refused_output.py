"""A reader that takes its time, and an output guardrail that trips.

What the model has given before a run fails is delivered to the reader of the stream, however
slow it is.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    GuardrailFunctionOutput,
    Model,
    ModelResponse,
    OutputGuardrailTripwireTriggered,
    Runner,
    Usage,
    output_guardrail,
    set_tracing_disabled,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
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


set_tracing_disabled(True)


@output_guardrail
async def polite(context, agent, output):
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)


async def read(seconds_for_each_event):
    """The types of the raw events that a reader of that speed is given."""
    agent = Agent(name="clerk", model=ScriptedModel([say("Hi.")]), output_guardrails=[polite])
    result = Runner.run_streamed(agent, "Hello.")
    names = []
    try:
        async for event in result.stream_events():
            await asyncio.sleep(seconds_for_each_event)
            if event.type == "raw_response_event":
                names.append(event.data.type)
    except OutputGuardrailTripwireTriggered:
        return names


def test_a_slow_reader_is_given_the_events_that_a_quick_one_is_given():
    quick, slow = asyncio.run(read(0)), asyncio.run(read(0.1))
    assert quick == ["response.output_item.done", "response.completed"]
    assert slow == quick


if __name__ == "__main__":
    test_a_slow_reader_is_given_the_events_that_a_quick_one_is_given()
