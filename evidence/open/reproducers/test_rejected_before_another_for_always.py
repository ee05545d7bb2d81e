"""A call that is rejected, and then another call of its tool that is approved for always.

The rejected call is not run.

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

charged = []


@function_tool(needs_approval=True)
def charge(amount: int) -> str:
    charged.append(amount)
    return f"charged {amount}"


async def charged_of(*, rejected, for_always):
    charged.clear()
    model = ScriptedModel([call("charge", "large", '{"amount": 9000}'),
                           call("charge", "small", '{"amount": 1}')], [say("Charged 1.")])
    operator = Agent(name="operator", model=model, tools=[charge])
    paused = await Runner.run(operator, "Charge 1 and 9000.")
    state = paused.to_state()
    waiting = {item.raw_item.call_id: item for item in state.get_interruptions()}
    state.reject(waiting[rejected])
    state.approve(waiting[for_always], always_approve=True)
    await Runner.run(operator, state)
    return list(charged)


def test_a_rejected_call_is_not_run_when_another_is_then_approved_for_always():
    assert asyncio.run(charged_of(rejected="large", for_always="small")) == [1]


if __name__ == "__main__":
    test_a_rejected_call_is_not_run_when_another_is_then_approved_for_always()
