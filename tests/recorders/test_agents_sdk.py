"""Runs of the Agents SDK: literal requests of OpenAI's models, built ones of all others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from agentrunproof.record.run import Run
from agentrunproof.recorders import record
from tests.recorders.reading import ends_of, run_of, tools_of
from tests.wire import Wire, serving

agents = pytest.importorskip("agents")
openai = pytest.importorskip("openai")
pytestmark = pytest.mark.sdk


def decide(body: dict[str, Any]) -> dict[str, Any]:
    """The boss asks the helper, who looks two things up; all use the same ids."""
    seen = json.dumps(body.get("input") or body["messages"])
    names = [tool.get("name") or tool["function"]["name"] for tool in body.get("tools", [])]
    if "found" in seen or "all said" in seen:
        return {"text": "all said"}
    if "look" in names:
        return {"tool_calls": [{"name": "look", "arguments": {"q": "x"}},
                               {"id": "call_2", "name": "look", "arguments": {"q": "y"}}]}
    return {"tool_calls": [{"name": "helper", "arguments": {"input": "go"}}]}


@pytest.fixture
def wire() -> Iterator[Wire]:
    agents.set_trace_processors([])  # nothing is to be exported
    with serving(decide) as wire:
        yield wire


@agents.function_tool
def look(q: str) -> str:
    """Look something up."""
    if q == "fail":
        raise ValueError("as asked")
    return f"found {q}"


def boss(model: Any) -> Any:
    helper = agents.Agent(name="helper", model=model, tools=[look])
    return agents.Agent(name="boss", instructions="Ask.", model=model,
                        tools=[helper.as_tool("helper", "Helps.")])


def ran(agent: Any, config: Any) -> str:
    """The final output of a run."""
    return str(asyncio.run(agents.Runner.run(agent, "Hi", run_config=config)).final_output)


def check_tree(run: Run, wire: Wire, runs: int) -> None:
    """Each boss call has its helper call inside, and each of these its two look-ups."""
    assert sorted(json.dumps(run.body(call)) for call in run.calls()) == sorted(
        json.dumps(body) for _, body in wire.requests)
    calls = {call.id: call for call in run.calls()}
    tools = {tool["call"]: tool for tool in tools_of(run)}
    assert len(calls) == 4 * runs
    assert len(tools) == 3 * runs
    helped = [tool for tool in tools.values() if tool["tool"] == "helper"]
    assert len({tool["asked_by"] for tool in helped}) == runs
    for tool in helped:
        assert (tool["agent"], tool.get("parent"), tool["arguments"]) == (
            "boss", None, {"input": "go"})
        inner = [call for call in calls.values() if call.parent == tool["call"]]
        assert [call.agent for call in inner] == ["helper", "helper"]
        looked = [one for one in tools.values() if one.get("parent") == tool["call"]]
        assert {one["asked_by"] for one in looked} == {inner[0].id}
        assert sorted((one["tool_call_id"], ends_of(run)[one["call"]]["output"])
                      for one in looked) == [("call_1", "found x"), ("call_2", "found y")]


@pytest.mark.parametrize("kind", ["OpenAIResponsesModel", "OpenAIChatCompletionsModel"])
@pytest.mark.parametrize("streamed", [False, True])
def test_ten_nested_runs_at_once_are_literal_and_linked(kind: str, streamed: bool, wire: Wire
                                                        ) -> None:
    async def one(agent: Any, config: Any) -> str:
        if not streamed:
            return str((await agents.Runner.run(agent, "Hi", run_config=config)).final_output)
        running = agents.Runner.run_streamed(agent, "Hi", run_config=config)
        async for _ in running.stream_events():
            pass
        return str(running.final_output)

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{wire.url}/v1", api_key="x") as client:
            agent = boss(getattr(agents, kind)("x", client))
            config = rec.agents_sdk(agent)
            return await asyncio.gather(*(one(agent, config) for _ in range(10)))

    with record() as rec:
        assert asyncio.run(main()) == ["all said"] * 10
    check_tree(run_of(rec), wire, 10)


def test_models_of_a_provider_are_recorded(wire: Wire) -> None:
    async def main() -> None:
        async with openai.AsyncOpenAI(base_url=f"{wire.url}/v1", api_key="x") as client:
            provider = agents.OpenAIProvider(openai_client=client)
            config = rec.agents_sdk(run_config=agents.RunConfig(model_provider=provider))
            await agents.Runner.run(agents.Agent(name="a", model="x", tools=[look]), "Hi",
                                    run_config=config)
        assert "get_model" in vars(provider)
        rec.close()
        assert "get_model" not in vars(provider)

    with record() as rec:
        asyncio.run(main())
    run = run_of(rec)
    assert [run.body(call) for call in run.calls()] == [body for _, body in wire.requests]
    assert len(run.calls()) == 2


class Rule(agents.Model):
    """A model that is no API's: asks for a look-up, then ends."""

    def __init__(self, query: str) -> None:
        self.query = query

    def _response(self, input: Any) -> Any:
        from openai.types import responses

        if any(item.get("type") == "function_call_output" for item in input):
            said = responses.ResponseOutputText(type="output_text", text="end", annotations=[])
            output: Any = responses.ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[said])
        else:
            output = responses.ResponseFunctionToolCall(
                type="function_call", call_id="c1", name="look",
                arguments=json.dumps({"q": self.query}))
        return agents.ModelResponse(output=[output], usage=agents.Usage(), response_id="r")

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any
                           ) -> Any:
        if self.query == "raise":
            raise RuntimeError("as asked")
        return self._response(input)

    async def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError
        yield


def test_other_models_are_recorded_as_the_responses_api_would_be_asked() -> None:
    agents.set_trace_processors([])
    model = Rule("x")
    agent = agents.Agent(name="a", instructions="Be good.", model=model, tools=[look],
                         model_settings=agents.ModelSettings(temperature=0.5))
    with record() as rec:
        config = rec.agents_sdk(agent)
        assert ran(agent, config) == "end"
    assert vars(model) == {"query": "x"}  # as it was before
    run = run_of(rec)
    body = run.body(run.call(2))
    assert (body["model"], body["instructions"], body["temperature"]) == ("Rule", "Be good.", 0.5)
    assert [item.get("role") or item["type"] for item in body["input"]] == [
        "user", "function_call", "function_call_output"]
    (tool,) = body["tools"]
    assert (tool["type"], tool["name"], tool["description"]) == (
        "function", "look", "Look something up.")
    assert [run.decision(call) for call in run.calls()] == [
        {"text": "", "tool_calls": [{"id": "c1", "name": "look", "arguments": {"q": "x"}}]},
        {"text": "end", "tool_calls": []}]


def test_failing_models_and_tools_are_recorded_and_raise_as_before() -> None:
    agents.set_trace_processors([])
    raising = agents.Agent(name="a", model=Rule("raise"))
    failing = agents.Agent(name="b", model=Rule("fail"), tools=[look])
    with record() as rec:
        config = rec.agents_sdk(raising, failing)
        with pytest.raises(RuntimeError, match="as asked"):
            ran(raising, config)
        assert ran(failing, config) == "end"
    run = run_of(rec)
    assert run.error(run.call(1)) == {"type": "RuntimeError", "message": "as asked"}
    (ended,) = ends_of(run).values()
    assert ended["error"]["type"] == "ToolError"
    assert "error" in ended["output"]  # what the model was told; the SDK keeps the reason


def test_handoffs_and_guardrails_are_recorded(wire: Wire) -> None:
    @agents.input_guardrail
    def polite(context: Any, agent: Any, text: Any) -> Any:
        return agents.GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)

    wire.decide = lambda body: (
        {"tool_calls": [{"name": "transfer_to_second", "arguments": {}}]}
        if body.get("tools") else {"text": "end"})

    async def main() -> None:
        async with openai.AsyncOpenAI(base_url=f"{wire.url}/v1", api_key="x") as client:
            model = agents.OpenAIResponsesModel("x", client)
            second = agents.Agent(name="second", model=model)
            first = agents.Agent(name="first", model=model, handoffs=[second],
                                 input_guardrails=[polite])
            await agents.Runner.run(first, "Hi", run_config=rec.agents_sdk(first))

    with record() as rec:
        asyncio.run(main())
    run = run_of(rec)
    assert [call.agent for call in run.calls()] == ["first", "second"]
    others = {event["kind"]: event for event in run.events()}
    assert (others["handoff"]["from"], others["handoff"]["to"]) == ("first", "second")
    assert (others["guardrail_checked"]["guardrail"], others["guardrail_checked"]["tripped"]) == (
        "polite", False)
