"""An agent that stops at a tool of an MCP server, and its final output.

The final output of an agent that stops at a tool is the output of that tool.

Run it with ``pytest THIS_FILE``. It needs pytest and openai-agents, no key and no network.
"""

import asyncio

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServer
from mcp.types import CallToolResult, TextContent, Tool
from openai.types.responses import ResponseFunctionToolCall


class ScriptedModel(Model):
    """Answers with the next of its turns; no request leaves this process."""

    def __init__(self, *turns):
        self.turns = list(turns)

    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=self.turns.pop(0), usage=Usage(requests=1), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


class Shop(MCPServer):
    """Offers one tool, `receipt`; the server is this object."""

    name = "shop"

    async def connect(self):
        pass

    async def cleanup(self):
        pass

    async def list_prompts(self):
        raise NotImplementedError

    async def get_prompt(self, name, arguments=None):
        raise NotImplementedError

    async def list_tools(self, run_context=None, agent=None):
        return [Tool(name="receipt", inputSchema={"type": "object", "properties": {}})]

    async def call_tool(self, tool_name, arguments, meta=None):
        return CallToolResult(content=[TextContent(type="text", text="Paid 12.")])


def call(name, call_id, arguments="{}"):
    return ResponseFunctionToolCall(
        id=f"fc-{call_id}", type="function_call", call_id=call_id, name=name,
        arguments=arguments, status="completed")


set_tracing_disabled(True)


def text_of(output):
    """The text of a tool's output as the conversation holds it, whole or in one part."""
    if isinstance(output, str):
        return output
    (part,) = output
    return part["text"]


def test_the_final_output_is_the_output_of_the_tool():
    async def scenario():
        agent = Agent(name="clerk", model=ScriptedModel([call("receipt", "one")]),
                      mcp_servers=[Shop()], tool_use_behavior="stop_on_first_tool")
        return await Runner.run(agent, "My receipt, please.")

    result = asyncio.run(scenario())
    told = text_of(result.to_input_list()[-1]["output"])
    assert "Paid 12." in told
    assert result.final_output == told


if __name__ == "__main__":
    test_the_final_output_is_the_output_of_the_tool()
