"""When the SDK's compaction session compacts, by what, and what it stores then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agents import Agent

from agentrunproof.sdk.build import CallableObject
from agentrunproof.suites.probes import kit

_COMPACTED = {"type": "compaction", "id": "cmp-1", "encrypted_content": "short"}


class _Compacting:
    """A compaction session in memory.

    Args:
        trigger: whether it is time; always, unless told.
        output: what the API makes of a history.

    Attributes:
        asked: what the API was asked to compact, as the id of a response; empty for items.
    """

    def __init__(self, trigger: Any = lambda _: True, output: Any = _COMPACTED) -> None:
        from agents import SQLiteSession
        from agents.memory import OpenAIResponsesCompactionSession

        self.asked: list[str] = []

        async def compact(**given: Any) -> Any:
            self.asked.append(str(given.get("previous_response_id", "")))
            return SimpleNamespace(id="resp-c", usage=None, output=[output])

        client: Any = SimpleNamespace(responses=SimpleNamespace(compact=compact))
        self.inner = SQLiteSession("one")
        self.session = OpenAIResponsesCompactionSession(
            "one", self.inner, client=client, should_trigger_compaction=trigger)


async def after_a_tool_output() -> bool:
    """Whether a turn is compacted by its response while its call has only a local output."""
    made = _Compacting()
    model = kit.model([kit.calls("look")], kit.says("done"))
    await kit.run(Agent(name="clerk", model=model, tools=[kit.tool("look")]),
                  session=made.session)
    return "resp-0" in made.asked


async def image_without_file() -> Any:
    """The image of a user's message that comes back from a compaction."""
    image = {"type": "input_image", "image_url": "https://example.org/a.png", "file_id": None,
             "detail": "auto"}
    made = _Compacting(output={"type": "message", "role": "user", "content": [image]})
    await made.session.add_items([{"role": "user", "content": "look"}])
    await made.session.run_compaction({"response_id": "resp-1", "force": True})
    items: Any = await made.inner.get_items()
    return sorted(key for key, value in items[0]["content"][0].items() if value is None)


async def trigger_that_is_false() -> int:
    """How often a trigger is asked that counts as false."""
    asked = []

    def trigger(given: Any) -> bool:
        asked.append(given)
        return True

    made = _Compacting(trigger=CallableObject(trigger, truth=False))
    await made.session.add_items([{"role": "user", "content": "old"}])
    await made.session.run_compaction({"response_id": "resp-1"})
    return len(asked)


async def by_a_response_that_was_popped() -> bool:
    """Whether a history is compacted by a response whose answer was taken back."""
    due = False
    made = _Compacting(trigger=lambda _: due)
    await made.session.add_items([
        {"role": "user", "content": "old"},
        {"type": "message", "role": "assistant", "id": "msg-9", "status": "completed",
         "content": [{"type": "output_text", "text": "wrong", "annotations": []}]}])
    await made.session.run_compaction({"response_id": "resp-1"})
    await made.session.pop_item()
    due = True
    try:
        await made.session.run_compaction({"force": True})
    except ValueError:  # there is nothing left to go by
        return False
    return "resp-1" in made.asked


async def while_a_call_waits() -> int:
    """How often a history is compacted that ends in a call nobody has decided on."""
    made = _Compacting()
    model = kit.model([kit.calls("pay")], kit.says("done"))
    await kit.run(Agent(name="clerk", model=model, tools=[kit.tool("pay", needs_approval=True)]),
                  session=made.session)
    return len(made.asked)
