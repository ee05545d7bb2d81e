"""Live capture of the Agents SDK: how runs of every fate are recorded, by both ways."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import agentrunproof
from agentrunproof.record.run import Run
from agentrunproof.runs import folder as runs
from tests.recorders.reading import ends_of, tools_of

pytest.importorskip("agents")
pytestmark = pytest.mark.sdk

#: The releases that are claimed; AGENTRUNPROOF_ALL_RELEASES=1 runs them all, else the oldest is.
RELEASES = ("0.8.0", "0.12.5", "0.16.0", "0.20.0", "0.24.0")
CHOSEN = RELEASES if os.environ.get("AGENTRUNPROOF_ALL_RELEASES") else RELEASES[:1]

#: fate: what is raised, how many model calls there are, and how the tool calls ended
FATES: dict[str, tuple[str, int, list[str]]] = {
    "good": ("", 2, ["tool_finished"]),
    "tool-fails": ("", 2, ["tool_failed"]),
    "tool-raises": ("UserError", 1, ["tool_failed"]),
    "max-turns": ("MaxTurnsExceeded", 3, ["tool_finished"] * 3),
    "tripwire": ("InputGuardrailTripwireTriggered", 0, []),
}


def _recorded(python: str | Path, folder: Path) -> dict[str, dict[str, Run]]:
    """The runs that an interpreter records, by the way, after what they raised was compared."""
    source = Path(agentrunproof.__file__).parents[1]
    done = subprocess.run(
        [python, "-m", "tests.recorders.live_agents", folder], cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(source), "OPENAI_API_KEY": "x"}, check=True,
        capture_output=True, text=True, timeout=300)
    raised = json.loads(done.stdout)
    assert raised == {f"{fate}_{kind}_{streamed}": FATES[fate][0] for kind in ("Resp", "Chat")
                      for fate in FATES for streamed in ("", "streamed")}
    recorded = {}
    for way in ("processor", "config"):
        found = [runs.load(path) for path in runs.files(folder / way)]
        assert len(found) == len(raised)
        recorded[way] = {run.name: run for run in found}
    return recorded


def _check(recorded: dict[str, Run]) -> None:
    assert len(recorded) == 4 * len(FATES)
    for name, run in recorded.items():
        fate, _, streamed = name.split("_")
        raised, calls, ends = FATES[fate]
        *_, end = run.events()
        assert end["kind"] == "run_finished", name
        assert end["outcome"] == ("raised" if raised else "completed"), name
        assert ("error" in end) is bool(raised), name
        assert "incomplete" not in end, name
        if fate == "tripwire" and streamed:  # the model is asked while the guardrail looks
            assert len(run.calls()) <= 1, name
        else:
            assert [call.state for call in run.calls()] == ["answered"] * calls, name
            assert [one["kind"] for one in ends_of(run).values()] == ends, name
            asked = [tool["asked_by"] for tool in tools_of(run)]
            assert asked == [call.id for call in run.calls()][:len(ends)], name
            assert all(run.decision(call) for call in run.calls()), name
        if fate == "tripwire":
            (checked,) = [one for one in run.events() if one["kind"] == "guardrail_checked"]
            assert checked["tripped"] is True, name


def test_failing_tools_and_raised_runs_are_recorded_as_such(tmp_path: Path) -> None:
    for recorded in _recorded(sys.executable, tmp_path).values():
        _check(recorded)
        run = recorded["tool-raises_Resp_"]
        assert "no order 77" in ends_of(run)["t1"]["error"]["message"]
        assert run.decision(run.call(1)) == {"text": "", "tool_calls": [
            {"id": "call_1", "name": "look", "arguments": {"order": "77"}}]}
        body = run.body(run.call(1))
        assert (body["model"], [tool["name"] for tool in body["tools"]]) == ("gpt", ["look"])


@pytest.mark.lab
@pytest.mark.parametrize("release", CHOSEN)
def test_so_they_are_on_other_releases_where_only_the_sdk_is_installed(
        release: str, tmp_path: Path) -> None:
    from agentrunproof.lab import environments

    for recorded in _recorded(environments.isolated(release, "3.12").python, tmp_path).values():
        _check(recorded)


class _Trace(SimpleNamespace):
    """A trace or a span, as far as a processor asks it."""


def _span(id: str, parent: str | None, **data: Any) -> Any:
    return _Trace(trace_id="x", span_id=id, parent_id=parent, error=None,
                  span_data=SimpleNamespace(**data))


def test_a_tool_that_is_cancelled_in_its_span_is_recorded_as_failed(folder: Path) -> None:
    from agentrunproof.recorders import trace_processor

    processor, trace = trace_processor("orders"), _Trace(trace_id="x", name="w")
    agent = _span("s1", None, type="agent", name="clerk")
    tool = _span("s2", "s1", type="function", name="look", input='{"order": 7}', output=None)
    processor.on_trace_start(trace)
    processor.on_span_start(agent)
    processor.on_span_start(tool)
    try:
        raise asyncio.CancelledError
    except asyncio.CancelledError:
        processor.on_span_end(tool)
        processor.on_span_end(agent)
        processor.on_trace_end(trace)
    (path,) = runs.files(folder)
    run = runs.load(path)
    assert ends_of(run)["t1"]["error"]["type"] == "CancelledError"
    *_, end = run.events()
    assert (run.name, end["outcome"], end["error"]["type"]) == (
        "orders", "raised", "CancelledError")


def test_a_run_inside_of_an_exceptions_handler_did_not_raise_it(folder: Path) -> None:
    from agentrunproof.recorders import trace_processor

    processor, trace = trace_processor(), _Trace(trace_id="x", name="second try")
    try:
        raise KeyError("first")
    except KeyError:
        processor.on_trace_start(trace)
        processor.on_trace_end(trace)
    (path,) = runs.files(folder)
    *_, end = runs.load(path).events()
    assert (end["outcome"], "error" in end) == ("completed", False)


def test_traces_that_the_process_leaves_open_are_said_to_be_interrupted(folder: Path) -> None:
    from agentrunproof.recorders import trace_processor

    processor = trace_processor(folder=folder)
    processor.on_trace_start(_Trace(trace_id="x", name="w"))
    processor.shutdown()
    (path,) = runs.files(folder)
    *_, end = runs.load(path).events()
    assert end["outcome"] == "interrupted"
