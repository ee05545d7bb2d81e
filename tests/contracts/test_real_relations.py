"""A real Runner that is broken only without hooks, without tracing, and so on, is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentrunproof.contracts.registry import judge
from agentrunproof.plan.loader import load_text
from tests.driven import observe

pytestmark = pytest.mark.sdk

PLAN = """
title = "A paid call and a follow-up"
area = "tests"
contract = "Every way to run it comes to the same."
modes = ["run"]
[session]
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
needs_approval = true
[[phases]]
id = "pause"
input = "Pay."
script = [[{ call = "pay", id = "p" }]]
expect = { outcome = "interrupted" }
[[phases]]
id = "rest"
resume = { from = "pause", approve = ["p"] }
script = [[{ say = "Paid." }]]
[[phases]]
id = "more"
input = "Thanks."
script = [[{ say = "Welcome." }]]
"""

#: States that were read back from JSON.
_READ: list[Any] = []

#: relation -> whether a run is one that only its variant has
ONLY_THERE: dict[str, Callable[[Any, Any, dict[str, Any]], bool]] = {
    "hooks": lambda agent, start, options: "hooks" not in options,
    "tracing": lambda agent, start, options: options["run_config"].tracing_disabled,
    "state": lambda agent, start, options: any(start is state for state in _READ),
    "approval": lambda agent, start, options: not agent.tools[0].needs_approval,
    "history": lambda agent, start, options: "session" not in options,
}


def _flipped() -> dict[str, str]:
    plan = load_text(PLAN, "plan.toml")
    results = judge(plan, observe(plan))
    assert {f"relation_{name}" for name in (*ONLY_THERE, "sync")} <= {
        result.check for result in results}
    return {result.check: result.code for result in results if result.verdict != "PASS"}


def test_the_unbroken_runner_passes_every_relation() -> None:
    assert _flipped() == {}


@pytest.mark.parametrize("relation", ONLY_THERE)
def test_a_runner_that_counts_more_there_is_told(
        relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from agents import Runner, RunState

    from agentrunproof.sdk import drive

    from_json = RunState.from_json

    async def read(*given: Any, **options: Any) -> Any:
        _READ.append(await from_json(*given, **options))
        return _READ[-1]

    class Broken(Runner):
        @classmethod
        async def run(cls, *given: Any, **options: Any) -> Any:
            result = await Runner.run(*given, **options)
            if ONLY_THERE[relation](given[0], given[1], options):
                result.context_wrapper.usage.input_tokens += 1
            return result

    monkeypatch.setattr(drive, "Runner", Broken)
    monkeypatch.setattr(RunState, "from_json", read)
    assert _flipped() == {f"relation_{relation}": "USAGES_DIFFER"}


def test_a_synchronous_run_that_counts_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents import Runner

    from agentrunproof.sdk import drive

    class Broken(Runner):
        @classmethod
        def run_sync(cls, *given: Any, **options: Any) -> Any:
            result = Runner.run_sync(*given, **options)
            result.context_wrapper.usage.input_tokens += 1
            return result

    monkeypatch.setattr(drive, "Runner", Broken)
    assert _flipped() == {"relation_sync": "USAGES_DIFFER"}
