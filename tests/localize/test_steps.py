"""Events and messages become steps."""

from __future__ import annotations

from typing import Any

import pytest

from agentrunproof.localize.steps import of_events, of_run
from agentrunproof.localize.trace import MAX_TEXT, clip
from agentrunproof.record import run_reader
from agentrunproof.record.localization import Step
from agentrunproof.record.run_writer import RunWriter


def _chat(text: str = "", *calls: tuple[str, str, str], finish: str = "stop") -> dict[str, Any]:
    made = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls]
    return {"choices": [{"finish_reason": finish, "message": {
        "role": "assistant", "content": text, **({"tool_calls": made} if made else {})}}]}


def _run(write: Any) -> tuple[Step, ...]:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("made up")
    write(writer)
    return of_run(run_reader.read(b"".join(lines), "made.jsonl"))


def test_a_recorded_run_becomes_steps_in_the_order_of_their_starts() -> None:
    said = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Refund B-2."}]

    def write(writer: RunWriter) -> None:
        writer.model_called("m1", "openai.chat", {"model": "x", "messages": said}, agent="desk")
        writer.model_responded("m1", _chat("", ("c1", "refund", '{"order": "A-1"}'),
                                           finish="tool_calls"))
        writer.event("tool_started", call="t1", tool="refund", tool_call_id="c1", asked_by="m1",
                     arguments={"order": "A-1"})
        writer.event("tool_failed", call="t1", error={"type": "KeyError", "message": "A-1"})
        writer.model_called("m2", "openai.chat", {"model": "x", "messages": [
            *said, {"role": "user", "content": "Well?"}]})
        writer.model_responded("m2", _chat("It is", finish="length"))
        writer.finish("completed")

    steps = _run(write)
    assert [(step.number, step.kind) for step in steps] == [
        (1, "start"), (2, "input"), (3, "input"), (4, "answer"), (5, "tool"), (6, "input"),
        (7, "answer"), (8, "end")]
    asked, call, cut = steps[3], steps[4], steps[6]
    assert (asked.call, asked.agent, asked.output) == ("m1", "desk", '\nrefund({"order": "A-1"})')
    assert (call.asked_by, call.status, call.error) == (4, "error", "KeyError: A-1")
    assert (cut.status, cut.facts) == ("cut", {"finish": "length"})
    assert steps[5].input == "Well?"


def test_results_that_report_an_exit_code_failed() -> None:
    def write(writer: RunWriter) -> None:
        for number, output in enumerate(({"exit_code": 2}, '{"returncode": 1}', "exitcode: 3 (no)",
                                         {"exit_code": 0}, "exit code: 0")):
            writer.event("tool_started", call=f"t{number}", tool="run", arguments="{}")
            writer.event("tool_finished", call=f"t{number}", output=output)

    assert [step.error for step in _run(write)[1:]] == [
        "exited with 2", "exited with 1", "exited with 3", "", ""]


def test_calls_that_never_came_back_stay_open() -> None:
    def write(writer: RunWriter) -> None:
        writer.event("tool_started", call="t1", tool="run", arguments="{}")

    assert _run(write)[-1].status == "open"


def test_memory_handoffs_claims_and_guardrails_are_steps() -> None:
    steps = of_events([
        {"kind": "memory_written", "key": "k", "value": "v"}, {"kind": "memory_read", "key": "k"},
        {"kind": "handoff", "from": "a", "to": "b"}, {"kind": "claim", "text": "done"},
        {"kind": "guardrail_checked", "guardrail": "g", "tripped": True},
        {"kind": "usage", "total": 3}])
    assert [(step.kind, step.tool, step.status) for step in steps] == [
        ("memory", "k", "ok"), ("memory", "k", "ok"), ("handoff", "", "ok"), ("claim", "", "ok"),
        ("guardrail", "g", "blocked")]


def test_missing_events_are_counted() -> None:
    steps = of_events([{"seq": 0, "kind": "claim", "text": "a"},
                       {"seq": 9, "kind": "claim", "text": "b"}])
    assert steps[1].facts == {"lost": "8"}


def test_what_people_said_is_taken_from_the_trace_where_it_says_so() -> None:
    def write(writer: RunWriter) -> None:
        writer.event("said", agent="user", text="Count.")
        writer.model_called("m1", "openai.chat", {"model": "x", "messages": [
            {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Count."}]},
            agent="Lead", to="Web")
        writer.model_responded("m1", _chat("Look."))
        writer.event("handoff", **{"from": "Lead", "to": "Web"})
        writer.event("said", agent="user", text="Now.")
        writer.event("tool_started", call="t1", tool="terminal")
        writer.event("tool_finished", call="t1", output="11")

    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("made up", said=True)
    write(writer)
    steps = of_run(run_reader.read(b"".join(lines), "made.jsonl"))
    # no prompt of the request, and the handoff is the answer that made it
    assert [(step.kind, step.agent) for step in steps] == [
        ("start", ""), ("input", "user"), ("handoff", "Lead"), ("input", "user"), ("tool", "")]
    assert (steps[2].output, steps[2].facts, steps[2].call) == ("Look.", {"to": "Web"}, "m1")
    assert steps[4].asked_by == 4  # whoever spoke last


@pytest.mark.parametrize("length", [10, MAX_TEXT, MAX_TEXT + 1, 10 * MAX_TEXT])
def test_of_long_texts_the_beginning_and_the_end_are_kept(length: int) -> None:
    text = "a" * (length - 1) + "z"
    assert len(clip(text)) == min(length, MAX_TEXT)
    assert clip(text)[0] == "a"
    assert clip(text)[-1] == "z"
