"""`DeterministicModel` behaves alike with the SDK's scripted model and without it."""

import asyncio

import pytest

from agentrunproof.plan.model import Item, ModelError, ModelStep, StepUsage

pytestmark = pytest.mark.sdk

CALL = Item(call="lookup", id="call-1", arguments='{"city":"Rome"}')


@pytest.fixture(params=["the SDK's", "ours"])
def make_model(request, monkeypatch):
    from agentrunproof.sdk import scripted

    if request.param == "ours":
        monkeypatch.setattr(scripted, "_sdk_model", lambda turns, emit_traces: None)
    elif scripted._sdk_model([], False) is None:
        pytest.skip("this SDK release has no scripted model")
    return scripted.DeterministicModel


@pytest.fixture
def agent():
    from agents import Agent, function_tool

    @function_tool
    def lookup(city: str) -> str:
        return f"sunny in {city}"

    return Agent(name="helper", tools=[lookup])


@pytest.fixture(autouse=True)
def _no_export():
    from agents.tracing import set_trace_processors

    set_trace_processors([])


def _streamed(agent):
    from agents import Runner

    async def main():
        result = Runner.run_streamed(agent, "Weather?")
        texts = [event.data.delta async for event in result.stream_events()
                 if event.type == "raw_response_event"
                 and event.data.type == "response.output_text.delta"]
        return result.final_output, "".join(texts)

    return asyncio.run(main())


def test_a_script_of_a_call_and_a_message_runs_to_its_end(make_model, agent):
    from agents import Runner

    agent.model = make_model([CALL, ModelStep(output=(Item(say="Sunny."),),
                                              usage=StepUsage(input=7, output=2))])
    result = Runner.run_sync(agent, "Weather?")
    assert result.final_output == "Sunny."
    assert result.raw_responses[-1].usage.input_tokens == 7
    agent.model.assert_complete()
    outputs = [item for item in agent.model.calls[1].input
               if item.get("type") == "function_call_output"]
    assert [item["output"] for item in outputs] == ["sunny in Rome"]


def test_streamed_deltas_add_up_to_the_message(make_model, agent):
    agent.model = make_model([[Item(say="Sunny in Rome, all day long.")]])
    assert _streamed(agent) == ("Sunny in Rome, all day long.",) * 2


def test_a_declared_error_is_raised(make_model, agent):
    from agents import Runner

    agent.model = make_model([ModelStep(error=ModelError(type="ConnectionError", message="gone"))])
    with pytest.raises(ConnectionError, match="gone"):
        Runner.run_sync(agent, "Weather?")


def test_a_step_too_few_is_an_error_and_one_too_many_is_told(make_model, agent):
    from agents import Runner

    agent.model = make_model([CALL])
    with pytest.raises(Exception, match=r"(?i)step|script|call"):
        Runner.run_sync(agent, "Weather?")
    agent.model = make_model([[Item(say="a")], [Item(say="b")]])
    Runner.run_sync(agent, "Weather?")
    with pytest.raises(AssertionError, match="1 scripted step"):
        agent.model.assert_complete()


@pytest.mark.parametrize("emit", [True, False])
def test_a_generation_span_is_emitted_when_asked_for(make_model, agent, emit):
    from agents import Runner
    from agents.tracing import set_trace_processors

    from agentrunproof.sdk.spans import SpanRecorder

    recorder = SpanRecorder()
    set_trace_processors([recorder])
    agent.model = make_model([[Item(say="hi")]], emit_traces=emit)
    Runner.run_sync(agent, "Hello")
    kinds = [event["type"] for event in recorder.events()]
    assert ("generation" in kinds) is emit
    assert "agent" in kinds


@pytest.mark.parametrize(("sensitive", "told", "holds"), [
    (False, "card 4111", ("error",)), (True, "card 4111", ()),
    (False, "Error details are redacted.", ())])
def test_a_span_is_recorded_as_telling_its_error_only_where_none_may(sensitive, told, holds):
    from agents.tracing import SpanError, agent_span, set_trace_processors, trace

    from agentrunproof.sdk.spans import SpanRecorder

    recorder = SpanRecorder(sensitive=sensitive)
    set_trace_processors([recorder])
    with trace("t"), agent_span("a") as span:
        span.set_error(SpanError(message="failed", data={"error": told}))
    assert [event["holds"] for event in recorder.events()] == [(), holds]
