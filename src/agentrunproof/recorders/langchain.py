"""LangChain and LangGraph are recorded by a callback handler.

Requests are kept as the chat completion that LangChain's own conversion makes of the messages: a
provider's request may hold more than LangChain tells its callbacks. Where the provider's client is
OpenAI's or Anthropic's, `Recorder.wrap` records the literal request instead. Who belongs to whom is
told by LangChain's run ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, convert_to_openai_messages

from agentrunproof.recorders.calls import ModelCall, ToolCall
from agentrunproof.recorders.linking import Scope

if TYPE_CHECKING:
    from uuid import UUID

    from agentrunproof.recorders.tape import Tape

#: Parameters of a request that mean the same in a chat completion.
_PARAMETERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "n",
               "tool_choice", "parallel_tool_calls", "response_format", "presence_penalty",
               "frequency_penalty", "reasoning_effort", "stream")


def handler(tape: Tape) -> BaseCallbackHandler:
    """A callback handler that records to `tape`."""
    return _Handler(tape)


class _Handler(BaseCallbackHandler):
    """Every callback is told its run and the run that this is a part of."""

    run_inline = True  # in the order of happening, also under asyncio

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._parents: dict[UUID, UUID | None] = {}
        self._models: dict[UUID, ModelCall] = {}
        self._tools: dict[UUID, ToolCall] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID,
                       parent_run_id: UUID | None = None, **_: Any) -> None:
        self._parents[run_id] = parent_run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **_: Any) -> None:
        self._parents.pop(run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._parents.pop(run_id, None)

    def on_chat_model_start(self, serialized: Any, messages: list[list[BaseMessage]], *,
                            run_id: UUID, parent_run_id: UUID | None = None,
                            metadata: dict[str, Any] | None = None, **told: Any) -> None:
        self._tape.safely(lambda: self._model_started(
            run_id, parent_run_id, metadata, convert_to_openai_messages(messages[0]), told))

    def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID,
                     parent_run_id: UUID | None = None, metadata: dict[str, Any] | None = None,
                     **told: Any) -> None:
        self._tape.safely(lambda: self._model_started(
            run_id, parent_run_id, metadata,
            [{"role": "user", "content": prompt} for prompt in prompts], told))

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        self._tape.safely(lambda: self._models.pop(run_id).returned(_reply(response)))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._tape.safely(lambda: self._models.pop(run_id).failed(error))

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID,
                      parent_run_id: UUID | None = None, metadata: dict[str, Any] | None = None,
                      inputs: dict[str, Any] | None = None, **told: Any) -> None:
        def started() -> None:
            name = (serialized or {}).get("name") or told.get("name") or ""
            self._tools[run_id] = ToolCall(
                self._tape, name, inputs if inputs is not None else input_str,
                told.get("tool_call_id") or "", self._scope(parent_run_id, metadata))
            self._parents[run_id] = parent_run_id

        self._tape.safely(started)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        self._tape.safely(lambda: self._tools.pop(run_id).returned(
            output.content if isinstance(output, BaseMessage) else output))
        self._parents.pop(run_id, None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._tape.safely(lambda: self._tools.pop(run_id).failed(error))
        self._parents.pop(run_id, None)

    def _model_started(self, run_id: UUID, parent: UUID | None, metadata: dict[str, Any] | None,
                       messages: Any, told: dict[str, Any]) -> None:
        given = told.get("invocation_params") or {}
        model = given.get("model") or given.get("model_name") \
            or (metadata or {}).get("ls_model_name") or ""
        body = {"model": model, "messages": messages,
                **{name: given[name] for name in _PARAMETERS if given.get(name) is not None}}
        tools = given.get("tools") or (told.get("options") or {}).get("tools")
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        self._models[run_id] = ModelCall(self._tape, "openai.chat", body,
                                         self._scope(parent, metadata))

    def _scope(self, run: UUID | None, metadata: dict[str, Any] | None) -> Scope:
        """The agent by the graph's node, and the tool inside of which it runs."""
        outer = self._tape.scope()
        known = metadata or {}
        agent = known.get("lc_agent_name") or outer.agent or known.get("langgraph_node") or ""
        parent, root = "", run
        while run is not None:
            if not parent and run in self._tools:
                parent = self._tools[run].id
            root, run = run, self._parents.get(run)
        return Scope(str(agent), parent or outer.parent, str(root or outer.of))


def _tool(tool: Any) -> Any:
    """A tool's definition in the form of a chat completion; Anthropic's has another."""
    if isinstance(tool, dict) and "input_schema" in tool:
        return {"type": "function", "function": {
            "name": tool.get("name"), "description": tool.get("description", ""),
            "parameters": tool["input_schema"]}}
    return tool


def _reply(response: Any) -> dict[str, Any]:
    """A chat completion of LangChain's result."""
    generation = response.generations[0][0]
    message = getattr(generation, "message", None)
    reply = (convert_to_openai_messages(message) if message is not None
             else {"role": "assistant", "content": generation.text})
    told = getattr(message, "response_metadata", None) or {}
    usage = getattr(message, "usage_metadata", None)
    return {"object": "chat.completion", "model": told.get("model_name") or "",
            "choices": [{"index": 0, "message": reply,
                         "finish_reason": told.get("finish_reason") or "stop"}],
            **({"usage": dict(usage)} if usage else {})}
