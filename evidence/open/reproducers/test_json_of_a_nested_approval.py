"""A nested approval that stays open while another call is decided, in memory and as JSON.

A resumed run has the same new items, whether its state was kept or stored as JSON.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    RunState,
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
def inner() -> str:
    return "in"


@function_tool(needs_approval=True)
def outer() -> str:
    return "out"


async def types_of_new_items(as_json):
    helper_model = ScriptedModel([call("inner", "three")], [say("Done.")])
    helper = Agent(name="helper", model=helper_model, tools=[inner])
    ask = helper.as_tool("ask", "Ask the helper.")
    model = ScriptedModel([call("ask", "one", '{"input": "Please."}'), call("outer", "two")])
    clerk = Agent(name="clerk", model=model, tools=[ask, outer])
    paused = await Runner.run(clerk, "Hello.")
    state = paused.to_state()
    if as_json:
        state = await RunState.from_json(clerk, state.to_json())
    (waiting,) = [item for item in state.get_interruptions() if item.name == "inner"]
    state.approve(waiting)
    resumed = await Runner.run(clerk, state)
    assert [item.name for item in resumed.interruptions] == ["outer"]
    return [item.type for item in resumed.new_items]


def test_new_items_are_the_same_whether_the_state_was_kept_or_stored():
    kept, stored = asyncio.run(types_of_new_items(False)), asyncio.run(types_of_new_items(True))
    assert stored == kept


if __name__ == "__main__":
    test_new_items_are_the_same_whether_the_state_was_kept_or_stored()
