"""The real Runner, broken in one behaviour from outside, flips the check that must tell."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentrunproof.contracts.registry import judge
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

pytestmark = pytest.mark.sdk

TOOLS = """
title = "One tool call, then an answer"
area = "tests"
contract = "The tool runs once."
[session]
[agents.clerk]
tools = ["add"]
[tools.add]
returns = "3"
[[phases]]
id = "only"
input = "Add."
script = [ [ { call = "add", id = "c1" } ], [ { say = "It is 3." } ] ]
expect = { final_output = "It is 3." }
"""

FORK = """
title = "Two states of one pause"
area = "tests"
contract = "They are independent."
[run]
hooks = "none"
tracing = false
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
needs_approval = true
[[phases]]
id = "pause"
input = "Pay."
script = [ [ { call = "pay", id = "p1" } ] ]
expect = { outcome = "interrupted" }
[[phases]]
id = "approved"
resume = { from = "pause", branch = "a", approve = ["p1"] }
script = [ [ { say = "Paid." } ] ]
[[phases]]
id = "untouched"
resume = { from = "pause", branch = "b" }
script = [ ]
expect = { outcome = "interrupted" }
"""


def _observe(plan: Plan) -> Observation:
    from agentrunproof.sdk.drive import Watch, drive

    return Observation(tuple(PhaseRun(run.mode, run.phase, tuple(run.events))
                             for run in drive(plan, Watch())))


def _flipped(text: str) -> dict[str, str]:
    plan = load_text(text, "plan.toml")
    return {result.check: result.code for result in judge(plan, _observe(plan))
            if result.verdict != "PASS"}


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A Runner of our own between driver and SDK, to be broken by a test."""
    from agents import Runner

    from agentrunproof.sdk import drive

    class Broken(Runner):
        pass

    monkeypatch.setattr(drive, "Runner", Broken)
    return Broken


def _after_run(runner: Any, monkeypatch: pytest.MonkeyPatch, spoil: Any) -> None:
    """Let `spoil` have each result, streamed or not, before the driver sees it."""
    from agents import Runner
    from agents.result import RunResultStreaming

    stream_events = RunResultStreaming.stream_events

    async def run(*args: Any, **kwargs: Any) -> Any:
        result = await Runner.run(*args, **kwargs)
        spoil(result)
        return result

    async def streamed(self: Any) -> Any:
        async for event in stream_events(self):
            yield event
        spoil(self)

    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr(RunResultStreaming, "stream_events", streamed)


@pytest.mark.parametrize("text", [TOOLS, FORK], ids=["tools", "fork"])
def test_the_unbroken_runner_passes(text: str) -> None:
    assert _flipped(text) == {}


def test_a_session_that_loses_an_item_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.sessions import RecordingSession

    add_items = RecordingSession.add_items

    async def lossy(self: Any, items: list[Any], **rest: Any) -> None:
        kept = [item for item in items if item.get("role") != "assistant"]
        await add_items(self, kept, **rest)

    monkeypatch.setattr(RecordingSession, "add_items", lossy)
    assert _flipped(TOOLS) == {"session_persistence": "SESSION_ITEM_LOST"}


def test_a_hook_that_comes_twice_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.hooks import RecordingRunHooks

    once = RecordingRunHooks.on_llm_end

    async def twice(self: Any, *args: Any) -> None:
        await once(self, *args)
        await once(self, *args)

    monkeypatch.setattr(RecordingRunHooks, "on_llm_end", twice)
    assert _flipped(TOOLS) == {"hook_order": "HOOK_DUPLICATED"}


def test_a_tool_that_is_invoked_twice_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrunproof.sdk.build import World

    build = World._tool

    def doubled(self: Any, name: str, spec: Any) -> Any:
        tool = build(self, name, spec)
        invoke = tool.on_invoke_tool

        async def on_invoke_tool(*args: Any) -> Any:
            await invoke(*args)
            return await invoke(*args)

        tool.on_invoke_tool = on_invoke_tool
        return tool

    monkeypatch.setattr(World, "_tool", doubled)
    quiet = TOOLS.replace("[session]", "[run]\ntracing = false\n[session]")
    assert _flipped(quiet) == {"exactly_once": "DUPLICATE_EXECUTION"}


def test_usage_that_is_counted_twice_is_told(runner: Any,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(result: Any) -> None:
        usage = result.context_wrapper.usage
        for told in (usage, *usage.request_usage_entries):
            told.input_tokens *= 2

    _after_run(runner, monkeypatch, spoil)
    assert _flipped(TOOLS) == {"usage_sum": "USAGE_DIFFERS"}


def test_usage_that_is_not_the_sum_of_its_entries_is_told(runner: Any,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(result: Any) -> None:
        result.context_wrapper.usage.request_usage_entries[0].input_tokens += 1

    _after_run(runner, monkeypatch, spoil)
    assert _flipped(TOOLS) == {"result_facts": "FACTS_DISAGREE"}


def test_a_response_that_is_lost_is_told(runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _after_run(runner, monkeypatch, lambda result: result.raw_responses.pop())
    assert _flipped(TOOLS) == {"response_linkage": "RESPONSES_DIFFER"}


def test_a_task_left_behind_is_told(runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left = []

    def spoil(result: Any) -> None:
        left.append(asyncio.get_running_loop().create_task(asyncio.Event().wait()))

    _after_run(runner, monkeypatch, spoil)
    assert _flipped(TOOLS) == {"task_cleanup": "TASK_LEAKED"}
    assert left


def test_a_stream_that_keeps_an_item_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.result import RunResultStreaming

    stream_events = RunResultStreaming.stream_events

    async def lossy(self: Any) -> Any:
        async for event in stream_events(self):
            if getattr(event, "name", "") != "tool_output":
                yield event

    monkeypatch.setattr(RunResultStreaming, "stream_events", lossy)
    assert _flipped(TOOLS) == {"stream_complete": "STREAM_ITEM_MISSING"}


def test_a_stream_that_asks_something_else_is_told(runner: Any,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    from agents import Runner

    def other(agent: Any, start: Any, **options: Any) -> Any:
        return Runner.run_streamed(agent.clone(instructions="Be brief."), start, **options)

    monkeypatch.setattr(runner, "run_streamed", other)
    assert _flipped(TOOLS) == {"stream_parity": "MODEL_CALLS_DIFFER",
                               "agent_request": "INSTRUCTIONS_DIFFER"}


def test_one_state_for_two_branches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents import result

    made: list[tuple[Any, Any]] = []

    def shared(cls: Any) -> Any:
        to_state = cls.to_state

        def state_of(self: Any) -> Any:
            made.extend([] if any(of is self for of, _ in made) else [(self, to_state(self))])
            return next(state for of, state in made if of is self)

        return state_of

    for cls in (result.RunResult, result.RunResultStreaming):
        monkeypatch.setattr(cls, "to_state", shared(cls))
    assert _flipped(FORK) == {
        "execution_outcome": "OUTCOME_DIFFERS", "model_script_consumed": "SCRIPT_OVERRUN",
        "state_fork_isolation": "SIBLING_STATE_MUTATED"}
