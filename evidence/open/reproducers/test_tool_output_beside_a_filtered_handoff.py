"""A tool beside a handoff whose filter removes tools, in a stream.

A tool's output is streamed even if the filter of a handoff in the same turn takes it from the
history.

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
    handoff,
    set_tracing_disabled,
)
from agents.extensions.handoff_filters import remove_all_tools
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


@function_tool
def look() -> str:
    return "found"


async def names_streamed(**options):
    boss = Agent(name="boss", model=ScriptedModel([say("Hi.")]))
    model = ScriptedModel([call("look", "one"), call("transfer_to_boss", "two")])
    clerk = Agent(name="clerk", model=model, tools=[look], handoffs=[handoff(boss, **options)])
    result = Runner.run_streamed(clerk, "Hello.")
    return [event.name async for event in result.stream_events()
            if event.type == "run_item_stream_event"]


def test_the_items_from_before_a_handoff_filter_are_streamed():
    plain = asyncio.run(names_streamed())
    filtered = asyncio.run(names_streamed(input_filter=remove_all_tools))
    assert plain.count("tool_called") == plain.count("tool_output") == 1
    assert filtered.count("tool_called") == 1
    assert filtered.count("tool_output") == 1, f"streamed were {filtered}"


if __name__ == "__main__":
    test_the_items_from_before_a_handoff_filter_are_streamed()
