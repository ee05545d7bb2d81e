"""A stream that is cancelled while a tool runs, and the tool's span.

The span of a tool ends before those of the agent and the trace in which it runs, in a cancelled
stream as well.

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
    function_tool,
    set_trace_processors,
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


def test_the_span_of_a_tool_ends_before_its_trace():
    async def scenario():
        spans = Spans()
        set_tracing_disabled(False)
        set_trace_processors([spans])
        started = asyncio.Event()

        @function_tool
        async def slow() -> str:
            started.set()
            await asyncio.sleep(60)
            return "done"

        model = ScriptedModel([call("slow", "one")])
        result = Runner.run_streamed(Agent(name="clerk", model=model, tools=[slow]), "Hello.")

        async def cancel():
            await started.wait()
            result.cancel()

        cancelling = asyncio.create_task(cancel())
        async for _ in result.stream_events():
            pass
        await cancelling
        await asyncio.sleep(0.1)  # whatever is still to come
        return spans.ended

    ended = asyncio.run(scenario())
    assert "function" in ended
    assert "function" in ended[:ended.index("trace")], f"ended in this order: {ended}"


if __name__ == "__main__":
    test_the_span_of_a_tool_ends_before_its_trace()
