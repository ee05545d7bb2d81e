"""LangChain and LangGraph by their callbacks, with the real libraries where they are installed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agentrunproof.recorders import record
from tests.recorders.reading import ends_of, run_of, tools_of

pytest.importorskip("langchain_core")

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import (
    ChatGeneration,
    ChatGenerationChunk,
    ChatResult,
)
from langchain_core.tools import tool


class Model(BaseChatModel):
    """Asks for two look-ups of the same id and arguments in every run, then says what it got."""

    @property
    def _llm_type(self) -> str:
        return "rule"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": "rule-1", "temperature": 0.5}

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[{"name": one.name, "description": one.description,
                                 "input_schema": one.args} for one in tools])

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        if messages[-1].content == "fail":
            raise ValueError("as asked")
        if messages[-1].type == "tool":
            return AIMessage(f"got {messages[-1].content}")
        return AIMessage("", tool_calls=[
            {"id": f"call_{n}", "name": "look", "args": {"q": str(n)}} for n in (1, 2)])

    def _generate(self, messages: list[BaseMessage], stop: Any = None,
                  run_manager: CallbackManagerForLLMRun | None = None, **_: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(self, messages: list[BaseMessage], stop: Any = None,
                run_manager: CallbackManagerForLLMRun | None = None, **_: Any
                ) -> Iterator[ChatGenerationChunk]:
        for part in ("strea", "med"):
            yield ChatGenerationChunk(message=AIMessageChunk(part))


@tool
def look(q: str) -> str:
    """Look something up."""
    if q == "fail":
        raise ValueError("as asked")
    return f"found {q}"


def test_a_chat_model_is_recorded_as_a_chat_completion() -> None:
    with record() as rec:
        config: Any = {"callbacks": [rec.langchain()]}
        reply = Model().bind_tools([look]).invoke([("system", "Be good."), ("user", "Hi")], config)
        with pytest.raises(ValueError, match="as asked"):
            Model().invoke("fail", config)
        assert "".join(str(one.content) for one in Model().stream("Hi", config)) == "streamed"
    assert [call["name"] for call in reply.tool_calls] == ["look", "look"]
    run = run_of(rec)
    body = run.body(run.call(1))
    assert body["model"] == "rule-1"
    assert body["temperature"] == 0.5
    assert body["messages"] == [{"role": "system", "content": "Be good."},
                                {"role": "user", "content": "Hi"}]
    assert body["tools"] == [{"type": "function", "function": {
        "name": "look", "description": "Look something up.", "parameters": look.args}}]
    assert run.decision(run.call(1)) == {"text": "", "tool_calls": [
        {"id": f"call_{n}", "name": "look", "arguments": {"q": str(n)}} for n in (1, 2)]}
    assert run.error(run.call(2)) == {"type": "ValueError", "message": "as asked"}
    assert run.decision(run.call(3)) == {"text": "streamed", "tool_calls": []}


def test_tools_are_recorded_with_what_they_give_and_raise() -> None:
    with record() as rec:
        config: Any = {"callbacks": [rec.langchain()]}
        assert look.invoke({"q": "x"}, config) == "found x"
        with pytest.raises(ValueError, match="as asked"):
            look.invoke({"q": "fail"}, config)
    run = run_of(rec)
    assert [(one["tool"], one["arguments"]) for one in tools_of(run)] == [
        ("look", {"q": "x"}), ("look", {"q": "fail"})]
    found, failed = ends_of(run).values()
    assert found["output"] == "found x"
    assert failed["error"]["type"] == "ValueError"


def test_graphs_that_run_at_once_are_linked_though_their_calls_have_the_same_ids() -> None:
    prebuilt = pytest.importorskip("langgraph.prebuilt")
    make: Any = prebuilt.create_react_agent
    graph = make(Model(), [look])

    async def main() -> None:
        handler = rec.langchain()
        await asyncio.gather(*(graph.ainvoke({"messages": [("user", f"agent {number}")]},
                                             {"callbacks": [handler]}) for number in range(20)))

    with record() as rec:
        asyncio.run(main())
    run = run_of(rec)
    assert len(run.calls()) == 40
    asked = {call.id: run.body(call)["messages"][0]["content"] for call in run.calls()}
    tools = tools_of(run)
    assert len(tools) == 40
    by_agent: dict[str, list[str]] = {}
    for one in tools:
        by_agent.setdefault(asked[one["asked_by"]], []).append(one["tool_call_id"])
    assert {name: sorted(ids) for name, ids in by_agent.items()} == {
        f"agent {number}": ["call_1", "call_2"] for number in range(20)}
