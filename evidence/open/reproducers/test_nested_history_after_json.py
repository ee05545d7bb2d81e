"""A nested history of a run whose state was stored as JSON, at the next handoff.

The next agent is given the same history, whether the state was kept or stored as JSON.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
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
def pay() -> str:
    return "paid"


async def given_after_the_second_handoff(*, as_json):
    model = ScriptedModel([call("transfer_to_desk", "one")], [say("Done.")])
    desk_model = ScriptedModel([call("pay", "two")], [call("transfer_to_clerk", "three")])
    clerk = Agent(name="clerk", model=model)
    desk = Agent(name="desk", model=desk_model, tools=[pay], handoffs=[clerk])
    clerk.handoffs.append(desk)
    nested = RunConfig(nest_handoff_history=True)
    paused = await Runner.run(clerk, "Go.", run_config=nested)
    state = paused.to_state()
    if as_json:
        state = await RunState.from_json(clerk, state.to_json())
    (waiting,) = state.get_interruptions()
    state.approve(waiting)
    await Runner.run(clerk, state, run_config=nested)
    return model.given[-1]


def test_the_next_agent_is_given_the_same_whether_the_state_was_kept_or_stored():
    kept = asyncio.run(given_after_the_second_handoff(as_json=False))
    stored = asyncio.run(given_after_the_second_handoff(as_json=True))
    assert stored == kept


if __name__ == "__main__":
    test_the_next_agent_is_given_the_same_whether_the_state_was_kept_or_stored()
