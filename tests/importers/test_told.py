"""What localize reads of a trace is what it would read of the run that import writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.importers import detect, draft
from agentrunproof.importers.draft import Draft
from agentrunproof.localize.steps import of_run
from agentrunproof.record import run_reader
from agentrunproof.record.run import Run

SAMPLES = Path(__file__).parent / "samples"


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
def test_the_steps_of_a_trace_are_those_of_the_run_that_it_becomes(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    format, found = detect.understand(data, name)
    written = run_reader.read(detect.read(data, name).data, name)
    told = found if isinstance(found, Run) else draft.told(found, imported_from=format)
    assert of_run(told) == of_run(written)
    assert told.name == written.name
    assert len(told.calls()) == len(written.calls())


def atif(turns: int) -> dict[str, Any]:
    return {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a"}, "steps": [
        {"step_id": number, "source": "agent", "message": f"turn {number}", "tool_calls": [
            {"tool_call_id": f"c{number}", "function_name": "look", "arguments": {"n": number}}],
         "observation": {"results": [{"source_call_id": f"c{number}", "content": f"{number}"}]}}
        for number in range(1, turns + 1)]}


def chat(turns: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number in range(turns):
        messages += [{"role": "assistant", "content": None, "tool_calls": [
            {"id": f"c{number}", "type": "function",
             "function": {"name": "look", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number}"}]
    return {"messages": [*messages, {"role": "assistant", "content": "Done."}]}


def runopsy(turns: int) -> list[dict[str, Any]]:
    return [{"run_id": "r", "sequence": number, "kind": "tool_call", "event_id": f"e{number}",
             "timestamp": "2026-01-01T00:00:00Z", "tool": {"name": "look", "status": "ok"}}
            for number in range(turns)]


def work(value: Any) -> int:
    """How many functions are called, Python's and C's, to import a trace and to look at it."""
    data, count = json.dumps(value).encode(), 0

    def called(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    detect.read(data, "x")  # what is done once is done
    sys.setprofile(called)
    try:
        imported = detect.read(data, "x")
        format, found = detect.understand(data, "x")
        assert isinstance(found, Draft)
        of_run(draft.told(found, imported_from=format))
    finally:
        sys.setprofile(None)
    assert imported.format == format
    return count


@pytest.mark.parametrize("make", [atif, chat, runopsy])
def test_a_trace_of_twice_the_turns_takes_twice_the_work(make: Any) -> None:
    assert work(make(400)) < 2.1 * work(make(200))


@pytest.mark.parametrize("make", [atif, chat])
def test_the_beginning_that_requests_share_is_never_compared(
        make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing lists is one call, however long they are: so it must not happen at all."""
    compared: list[int] = []

    def nearest(self: object, values: list[Any]) -> tuple[None, int]:
        compared.append(len(values))
        return None, 0

    monkeypatch.setattr("agentrunproof.record.beginnings.Snapshots.nearest", nearest)
    found = detect.read(json.dumps(make(50)).encode(), "x")
    assert found.model_calls >= 50
    assert compared == [n for n in compared if n < 3]
    assert len(found.data) < 50 * 3000
