"""A call within an agent tool that is approved for always, and the agent tool's next run.

The later call of the same tool does not wait for another decision.

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


async def waiting_after_an_approval_for_always():
    beta_model = ScriptedModel([call("pay", "pay-1")], [say("Paid 7.")],
                               [call("pay", "pay-2")], [say("Paid 8.")])
    beta = Agent(name="beta", model=beta_model, tools=[pay])
    ask = beta.as_tool("ask", "Ask beta.")
    model = ScriptedModel([call("ask", "ask-1", '{"input": "Pay 7."}')],
                          [call("ask", "ask-2", '{"input": "Pay 8."}')], [say("end")])
    alpha = Agent(name="alpha", model=model, tools=[ask])
    paused = await Runner.run(alpha, "Go.")
    state = paused.to_state()
    (waiting,) = state.get_interruptions()
    state.approve(waiting, always_approve=True)
    resumed = await Runner.run(alpha, state)
    return [item.raw_item.call_id for item in resumed.interruptions]


def test_a_later_call_of_a_tool_that_was_approved_for_always_does_not_wait():
    assert asyncio.run(waiting_after_an_approval_for_always()) == []


if __name__ == "__main__":
    test_a_later_call_of_a_tool_that_was_approved_for_always_does_not_wait()
