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

#: The same with a variant for each relation, which else share one.
APART = PLAN.replace("modes =", 'relations = { hooks = "Not this time." }\nmodes =')

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


def _flipped(text: str) -> dict[str, str]:
    plan = load_text(text, "plan.toml")
    results = judge(plan, observe(plan))
    asked = {"sync", *ONLY_THERE} - ({"hooks"} if text == APART else {"sync", "tracing"})
    assert {f"relation_{name}" for name in asked} == {
        result.check for result in results if result.check.startswith("relation")}
    return {result.check: result.code for result in results if result.verdict != "PASS"}


@pytest.mark.parametrize("text", [PLAN, APART])
def test_the_unbroken_runner_passes_every_relation(text: str) -> None:
    assert _flipped(text) == {}


def _break(monkeypatch: pytest.MonkeyPatch, there: Callable[..., bool], *,
           only_sync: bool = False) -> None:
    from agents import Runner

    from agentrunproof.sdk import drive

    def counted(result: Any, *given: Any) -> Any:
        result.context_wrapper.usage.input_tokens += there(*given)
        return result

    class Broken(Runner):
        @classmethod
        async def run(cls, agent: Any, start: Any, **options: Any) -> Any:
            result = await Runner.run(agent, start, **options)
            return result if only_sync else counted(result, agent, start, options)

        @classmethod
        def run_sync(cls, agent: Any, start: Any, **options: Any) -> Any:
            return counted(Runner.run_sync(agent, start, **options), agent, start, options)

    monkeypatch.setattr(drive, "Runner", Broken)


@pytest.mark.parametrize("relation", ONLY_THERE)
def test_a_runner_that_counts_more_there_is_told(
        relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from agents import RunState

    from_json = RunState.from_json

    async def read(*given: Any, **options: Any) -> Any:
        _READ.append(await from_json(*given, **options))
        return _READ[-1]

    _break(monkeypatch, ONLY_THERE[relation])
    monkeypatch.setattr(RunState, "from_json", read)
    text = PLAN if relation == "hooks" else APART
    assert _flipped(text) == {f"relation_{relation}": "USAGES_DIFFER"}


@pytest.mark.parametrize(("text", "relation"), [(APART, "sync"), (PLAN, "hooks")])
def test_a_synchronous_run_that_counts_more_is_told(
        text: str, relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, lambda *_: True, only_sync=True)
    assert _flipped(text) == {f"relation_{relation}": "USAGES_DIFFER"}


def test_an_untraced_run_of_several_phases_that_counts_more_is_told(
        monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, ONLY_THERE["tracing"])
    assert _flipped(PLAN) == {"relation_hooks": "USAGES_DIFFER"}
