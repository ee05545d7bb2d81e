"""Probes of streams, guardrails and old states: each thing they tell can be otherwise."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.sdk.loop import VirtualTimeLoop
from agentrunproof.sdk.sessions import RecordingSession
from agentrunproof.suites.probes import guards, kit, paused, streams

pytestmark = pytest.mark.sdk


def _waited(for_: Coroutine[Any, Any, Any]) -> Any:
    loop = VirtualTimeLoop()
    try:
        return loop.run_until_complete(for_)
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def test_a_reader_who_leaves_is_told_of_tools_tasks_and_halves(
        monkeypatch: pytest.MonkeyPatch) -> None:
    store, leaks = RecordingSession.add_items, []

    async def half(self: RecordingSession, items: list[Any]) -> None:
        await store(self, [item for item in items if item.get("call_id") != "a"
                           or item["type"] == "function_call"])

    def look(self: Any) -> str:
        self.ran += ["look", "look"]
        leaks.append(asyncio.ensure_future(asyncio.sleep(3600)))
        return "seen"

    monkeypatch.setattr(RecordingSession, "add_items", half)
    monkeypatch.setattr(streams._Run, "_look", look)
    found = _waited(streams.left_early())
    assert found["left"] == 6
    assert "_close at tool_output: look" in found["twice"]
    assert "_break at tool_called" in found["tasks"]
    assert "_close at raw_response_event: a" in found["halves"]


def test_a_reader_who_never_comes_to_a_place_does_not_leave_there(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PLACES", ("tool_output", "handoff_occured"))
    assert _waited(streams.left_early())["left"] == 2


def test_an_event_lost_in_a_pause_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = streams._Run.__init__

    async def impatient(events: AsyncIterator[Any]) -> AsyncIterator[Any]:
        loop, slow = asyncio.get_running_loop(), False
        async for event in events:
            if not slow or event.type != "run_item_stream_event":
                began = loop.time()
                yield event
                slow = loop.time() - began > 30

    def hasty(self: Any) -> None:
        begin(self)
        self.events = impatient(self.events)

    sound = _waited(streams.read_on())
    assert sound["other"] == []
    monkeypatch.setattr(streams._Run, "__init__", hasty)
    found = _waited(streams.read_on())
    assert found["items"] == sound["items"]
    assert found["other"] != []


def test_a_guardrail_that_nobody_asks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf:
        """A tool that takes guardrails and has none."""

        def __new__(cls, name: str, does: Any) -> Any:
            made = tool(name, does)
            made.__class__ = type("Deaf", (type(made),), {
                "__setattr__": lambda self, key, value: None})
            return made

    tool = kit.tool
    monkeypatch.setattr(kit, "tool", Deaf)
    assert _waited(guards.failing("input"))["run"] == {
        "ran": 1, "told": False, "halves": [], "calls": 2}


def test_one_state_is_stored_for_each_version_of_the_schema() -> None:
    text = paused.STATES.read_text("utf-8")
    states = [json.loads(line) for line in text.splitlines()]
    versions = [paused._version(one["state"]) for one in states]
    assert versions == sorted(set(versions))
    assert versions[0] == (1, 0)
    assert [one["release"] for one in states][:2] == ["0.8.0", "0.9.1"]
    assert len(text) < 100_000


def test_a_state_that_is_read_otherwise_is_told_with_what_came_of_it(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = paused.STATES.read_text("utf-8").splitlines()[:2]
    other = lines[0].replace('\\"amount\\": 12', '\\"amount\\": 99')
    newer = lines[0].replace('"$schemaVersion":"1.0"', '"$schemaVersion":"99.0"')
    broken = lines[1].replace('"current_agent":{"name":"clerk"}', '"current_agent":{"name":"x"}')
    monkeypatch.setattr(paused, "STATES", tmp_path / "states.jsonl")
    paused.STATES.write_text("\n".join([other, broken, newer]), "utf-8")
    found = _waited(paused.read())
    assert found["other"]["1.0"]["done"] == [99]
    assert found["other"]["1.1"] == "UserError"
    assert found["accepted"] == []
    monkeypatch.setattr(paused, "_version", lambda state: (
        (99,) if state["$schemaVersion"] == "1.1" else (1,)))
    paused.STATES.write_text(lines[1], "utf-8")
    assert _waited(paused.read())["accepted"] == ["1.1"]
