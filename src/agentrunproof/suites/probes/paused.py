"""States of paused runs as releases wrote them, read by whichever release is asked.

``paused_states.jsonl`` holds one for each version of the schema that a release has shipped, by the
first release that wrote it; `scripts/write_paused_states.py` made it with `written`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import agents
from agents import Agent, function_tool

from agentrunproof.suites.probes import kit

STATES = Path(__file__).with_name("paused_states.jsonl")


def _clerk() -> tuple[Any, list[Any]]:
    """An agent without a model that looks unasked and pays if it may, and what it has done."""
    done: list[Any] = []

    @function_tool
    def look() -> str:
        """Looks."""
        done.append("look")
        return "seen"

    @function_tool(needs_approval=True)
    def pay(amount: int) -> str:
        """Pays."""
        done.append(amount)
        return f"paid {amount}"

    return Agent(name="clerk", tools=[look, pay]), done


async def written() -> str:
    """The state of a run that has looked and waits for the decision on a payment."""
    agent, _ = _clerk()
    agent.model = kit.model([kit.calls("look", "a"), kit.calls("pay", "b", amount=12)])
    result = await kit.run(agent, "Pay 12.", context={"customer": "Ada"}, max_turns=3)
    text: str = result.to_state().to_string()
    return text


async def read() -> dict[str, Any]:
    """What comes of the states of releases, approved and run on from.

    ``own`` is what comes of a state that this release has just written; ``other`` the versions of
    the schema, not newer than its own, of whose states comes something else; ``accepted`` those
    newer than its own that it does not refuse with an error of its own.
    """
    text, clerk = await written(), _clerk()
    mine, own = _version(json.loads(text)), await _resumed(text, *clerk)
    found: dict[str, Any] = {"own": own, "other": {}, "accepted": []}
    for line in STATES.read_text("utf-8").splitlines():
        state = json.loads(line)["state"]
        came = await _resumed(json.dumps(state), *clerk)
        name = state["$schemaVersion"]
        if _version(state) > mine and came != "UserError":
            found["accepted"].append(name)
        if _version(state) <= mine and came != own:
            found["other"][name] = came
    return found


def _version(state: dict[str, Any]) -> tuple[int, ...]:
    return tuple(int(part) for part in state["$schemaVersion"].split("."))


async def _resumed(text: str, agent: Any, done: list[Any]) -> Any:
    """What a run comes to that goes on from a state, its call approved; or what that raises."""
    agent.model = model = kit.model(kit.says("done"))
    done.clear()
    try:
        state = await agents.RunState.from_string(agent, text)
        pending: Any = state.get_interruptions()[0]
        asked = json.loads(pending.raw_item.arguments)
        state.approve(pending)
        result = await kit.run(agent, state)
    except Exception as error:
        return type(error).__name__
    return {"asked": asked, "done": [*done], "told": kit.outputs(model.calls[0].input),
            "output": result.final_output, "context": result.context_wrapper.context,
            "requests": result.context_wrapper.usage.requests,
            "history": [item.get("type", "message") for item in result.to_input_list()]}
