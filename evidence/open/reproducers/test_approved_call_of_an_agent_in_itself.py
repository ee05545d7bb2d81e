"""A call that is approved within an agent that has itself as a tool.

The call is run once, and the run goes on to its end.

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

paid = []


@function_tool(needs_approval=True)
def pay() -> str:
    paid.append("pay")
    return "paid"


async def waiting_after_an_approval():
    paid.clear()
    model = ScriptedModel([call("ask", "one", '{"input": "Pay."}')], [call("pay", "two")],
                          [say("Paid.")], [say("It is paid.")])
    clerk = Agent(name="clerk", model=model, tools=[pay])
    clerk.tools.append(clerk.as_tool("ask", "Ask a clerk."))
    paused = await Runner.run(clerk, "Have it paid.")
    state = paused.to_state()
    (waiting,) = state.get_interruptions()
    state.approve(waiting)
    resumed = await Runner.run(clerk, state)
    return [item.name for item in resumed.interruptions]


def test_a_nested_call_that_was_approved_and_run_does_not_wait_again():
    waiting = asyncio.run(waiting_after_an_approval())
    assert paid == ["pay"]
    assert waiting == []


if __name__ == "__main__":
    test_a_nested_call_that_was_approved_and_run_does_not_wait_again()
