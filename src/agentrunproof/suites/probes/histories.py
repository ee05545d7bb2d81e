"""What a run reads from its session and writes to it, beyond what a plan can declare."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, RunConfig

from agentrunproof.suites.probes import kit
from agentrunproof.suites.session.fake_openai import FakeOpenAI


async def id_of_a_hosted_call() -> list[str]:
    """Ids of the hosted calls that a run stores in a conversation."""
    from agents import FileSearchTool, OpenAIConversationsSession
    from openai.types.responses import ResponseFileSearchToolCall

    client = FakeOpenAI()
    session = OpenAIConversationsSession(openai_client=client)  # type: ignore[arg-type]
    search = ResponseFileSearchToolCall(id="search-1", type="file_search_call", queries=["tea"],
                                        status="completed")
    model = kit.Answers([search, *kit.api(kit.says("done"))])
    await kit.run(Agent(name="clerk", model=model,
                        tools=[FileSearchTool(vector_store_ids=["store"])]), session=session)
    return [item["id"] for kept in client.kept.values() for item in kept
            if item.get("type") == "file_search_call"]


async def ids_of_stored_reasoning() -> list[bool]:
    """Whether reasoning of the session is sent with its id, whose ids the run leaves out."""
    from agents import SQLiteSession

    kit.need(RunConfig, "reasoning_item_id_policy")
    config = RunConfig(tracing_disabled=True, reasoning_item_id_policy="omit")
    found = []
    for streamed in (False, True):
        session: Any = SQLiteSession("one")
        await session.add_items([
            {"role": "user", "content": "why?"},
            {"type": "reasoning", "id": "rs-9", "summary": []},
            {"type": "message", "role": "assistant", "id": "msg-9", "status": "completed",
             "content": [{"type": "output_text", "text": "so", "annotations": []}]}])
        model = kit.model(kit.says("done"))
        await kit.run(Agent(name="clerk", model=model), session=session, streamed=streamed,
                      config=config)
        found += ["id" in item for item in model.calls[0].input
                  if item.get("type") == "reasoning"]
    return found


class _Full:
    """A session whose storage is full."""

    session_id = "one"
    session_settings = None

    async def get_items(self, limit: int | None = None, **_: Any) -> list[Any]:
        return []

    async def add_items(self, items: Any, **_: Any) -> None:
        await asyncio.sleep(1)
        raise OSError("the storage is full")

    async def pop_item(self) -> None:
        return None

    async def clear_session(self) -> None:
        pass


async def storage_that_is_full() -> str:
    """How a streamed run ends whose session cannot store anything."""
    agent = Agent(name="clerk", model=kit.model(kit.says("done")))
    try:
        await asyncio.wait_for(kit.run(agent, streamed=True, session=_Full()), 60)
    except OSError:
        return "raised"
    except asyncio.TimeoutError:
        return "hangs"
    return "ended"
