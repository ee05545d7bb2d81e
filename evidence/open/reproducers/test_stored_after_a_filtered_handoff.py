"""A pause after a tool call and a handoff with a filter, whose state is stored as JSON.

The state can be made again from its own JSON.

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


@function_tool(needs_approval=True)
def pay() -> str:
    return "paid"


async def stored_and_taken_up():
    cashier_model = ScriptedModel([call("pay", "three")], [say("Paid.")])
    cashier = Agent(name="cashier", model=cashier_model, tools=[pay])
    over = handoff(cashier, input_filter=remove_all_tools)
    model = ScriptedModel([call("look", "one"), call("transfer_to_cashier", "two")])
    clerk = Agent(name="clerk", model=model, tools=[look], handoffs=[over])
    paused = await Runner.run(clerk, "Have it paid.")
    stored = paused.to_state().to_json()
    try:
        state = await RunState.from_json(clerk, stored)
    except Exception as error:
        return error
    (waiting,) = state.get_interruptions()
    state.approve(waiting)
    return (await Runner.run(clerk, state)).final_output


def test_a_state_can_be_made_again_from_its_own_json():
    assert asyncio.run(stored_and_taken_up()) == "Paid."


if __name__ == "__main__":
    test_a_state_can_be_made_again_from_its_own_json()
