"""A tripwire before the model is called.

Once a guardrail beside the agent has tripped, no model call begins.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    Model,
    ModelResponse,
    RunHooks,
    Runner,
    Usage,
    input_guardrail,
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


set_tracing_disabled(True)


@input_guardrail
async def polite(context, agent, input):
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)


class Hooks(RunHooks):
    async def on_agent_start(self, context, agent):
        await asyncio.sleep(0.1)  # the guardrail has long tripped when this ends


def test_no_model_call_begins_after_a_tripwire():
    async def scenario(streamed):
        model = ScriptedModel([say("Hi.")])
        agent = Agent(name="clerk", model=model, input_guardrails=[polite])
        try:
            await run(streamed, agent, "Hello.", hooks=Hooks())
        except InputGuardrailTripwireTriggered:
            return len(model.given)

    assert asyncio.run(scenario(False)) == 0
    assert asyncio.run(scenario(True)) == 0, "the model was asked 0.1 s after the tripwire"


if __name__ == "__main__":
    test_no_model_call_begins_after_a_tripwire()
