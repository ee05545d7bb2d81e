"""A tripwire while another guardrail takes its time to stop, in an awaited run.

Once a guardrail beside the model has tripped, no tool of the model's answer is started, however
long the others take to stop.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    Model,
    ModelResponse,
    Runner,
    Usage,
    function_tool,
    input_guardrail,
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


async def run(streamed, agent, input, **options):
    """Run the agent, awaited or streamed to its end."""
    if not streamed:
        return await Runner.run(agent, input, **options)
    result = Runner.run_streamed(agent, input, **options)
    async for _ in result.stream_events():
        pass
    return result


set_tracing_disabled(True)


def test_no_tool_is_started_after_a_tripwire():
    async def scenario(streamed):
        asked, tripped = asyncio.Event(), asyncio.Event()
        wiped = []

        @input_guardrail
        async def polite(context, agent, input):
            await asked.wait()
            tripped.set()
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

        @input_guardrail
        async def slow(context, agent, input):
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.1)  # it takes a moment to stop
            return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

        @function_tool
        def wipe() -> str:
            wiped.append(True)
            return "wiped"

        async def answer():
            asked.set()
            await tripped.wait()
            return [call("wipe", "one")]

        model = ScriptedModel(answer, [])
        agent = Agent(
            name="clerk", model=model, tools=[wipe], input_guardrails=[polite, slow])
        try:
            await run(streamed, agent, "Wipe it.")
        except InputGuardrailTripwireTriggered:
            return len(wiped)

    assert asyncio.run(scenario(True)) == 0
    assert asyncio.run(scenario(False)) == 0, "the tool was started after the tripwire"


if __name__ == "__main__":
    test_no_tool_is_started_after_a_tripwire()
