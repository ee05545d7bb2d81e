"""What the tests ask of a recorded run."""

from __future__ import annotations

from typing import Any

from agentrunproof.record.run import Event, Run
from agentrunproof.recorders import Recorder
from agentrunproof.runs import folder


def run_of(recorder: Recorder) -> Run:
    """The run that was recorded."""
    assert recorder.path is not None
    return folder.load(recorder.path)


def tools_of(run: Run) -> list[Event]:
    """The beginnings of its tool calls."""
    return [event for event in run.events() if event["kind"] == "tool_started"]


def ends_of(run: Run) -> dict[str, Event]:
    """How its tool calls ended, by id."""
    return {event["call"]: event for event in run.events()
            if event["kind"] in ("tool_finished", "tool_failed")}


def asks(tool: str, arguments: Any = None, id: str = "") -> dict[str, Any]:
    """A model's reply that asks for one tool."""
    return {"tool_calls": [{"id": id, "name": tool, "arguments": arguments or {}}]}
