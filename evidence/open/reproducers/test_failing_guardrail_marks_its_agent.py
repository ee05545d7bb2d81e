"""A guardrail that fails beside the model, and the span of its agent.

Where a guardrail ends a run with an exception, the span of its agent has an error, streamed or
not.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    TracingProcessor,
    Usage,
    input_guardrail,
    set_trace_processors,
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


async def run(streamed, agent, input, **options):
    """Run the agent, awaited or streamed to its end."""
    if not streamed:
        return await Runner.run(agent, input, **options)
    result = Runner.run_streamed(agent, input, **options)
    async for _ in result.stream_events():
        pass
    return result


class Spans(TracingProcessor):
    """Notes what begins and ends, in order."""

    def __init__(self):
        self.begun, self.ended = [], []

    def on_trace_start(self, trace):
        pass

    def on_trace_end(self, trace):
        self.ended.append("trace")

    def on_span_start(self, span):
        self.begun.append(span)

    def on_span_end(self, span):
        self.ended.append(span.span_data.type)

    def shutdown(self):
        pass

    def force_flush(self):
        pass


class Broken(Exception):
    pass


@input_guardrail
async def polite(context, agent, input):
    raise Broken


def test_the_span_of_the_agent_has_an_error():
    async def answer():
        await asyncio.sleep(0.1)
        return [say("Hi.")]

    async def scenario(streamed):
        spans = Spans()
        set_tracing_disabled(False)
        set_trace_processors([spans])
        agent = Agent(name="clerk", model=ScriptedModel(answer), input_guardrails=[polite])
        try:
            await run(streamed, agent, "Hello.")
        except Broken:
            return [span.error is not None for span in spans.begun
                    if span.span_data.type == "agent"]

    assert asyncio.run(scenario(False)) == [True]
    assert asyncio.run(scenario(True)) == [True], "the span of the agent has no error"


if __name__ == "__main__":
    test_the_span_of_the_agent_has_an_error()
