"""A guarded tool that ran after its call was approved.

The result of a resumed run tells what each guardrail of its tools decided.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    ToolGuardrailFunctionOutput,
    Usage,
    function_tool,
    set_tracing_disabled,
    tool_input_guardrail,
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


checked = []


@tool_input_guardrail
def limit(data):
    checked.append(data.context.tool_call_id)
    return ToolGuardrailFunctionOutput.allow()


async def results_of(needs_approval):
    @function_tool(needs_approval=needs_approval, tool_input_guardrails=[limit])
    def pay() -> str:
        return "paid"

    checked.clear()
    model = ScriptedModel([call("pay", "one")], [say("Done.")])
    clerk = Agent(name="clerk", model=model, tools=[pay])
    result = await Runner.run(clerk, "Pay.")
    if needs_approval:
        state = result.to_state()
        state.approve(result.interruptions[0])
        result = await Runner.run(clerk, state)
    assert (result.final_output, checked) == ("Done.", ["one"])
    return len(result.tool_input_guardrail_results)


def test_a_result_tells_the_guardrails_of_tools_also_after_an_approval():
    assert asyncio.run(results_of(False)) == 1
    assert asyncio.run(results_of(True)) == 1


if __name__ == "__main__":
    test_a_result_tells_the_guardrails_of_tools_also_after_an_approval()
