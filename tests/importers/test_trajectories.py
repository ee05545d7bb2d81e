"""AgentRx, TRAIL, OpenHands V1 and mini-swe-agent: what becomes of their samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.errors import RecordError
from agentrunproof.importers import detect
from agentrunproof.localize.steps import of_run
from tests.importers.test_agent_formats import events_of
from tests.importers.test_bad_input import lines_of
from tests.importers.test_formats import (
    ANSWER,
    ARGUMENTS,
    OUTPUT,
    SAMPLES,
    imported,
    order_of,
    run_of,
    sample,
    tools_of,
)


def read(*values: Any, run: str = "") -> Any:
    return run_of(detect.read(lines_of(*values), "x", run=run))


def test_the_guide_tells_of_every_format_in_the_order_in_which_it_is_tried() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "importing.md").read_text("utf-8")
    table = guide.split("## Formats")[1].split("\n\n")[1]
    assert [row.split("`")[1] for row in table.splitlines()[2:]] == list(detect.FORMATS)


RX = sample("agentrx.json")


def test_agentrx_keeps_its_own_numbers_of_steps() -> None:
    run = run_of(imported("agentrx.json"))
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", OUTPUT)]
    assert [event["source"]["index"] for event in run.events() if "source" in event] == [
        1, 2, 3, 4, 5]
    assert [message["role"] for message in run.body(run.calls()[-1])["messages"]] == [
        "system", "user", "assistant", "tool"]
    assert events_of("agentrx.json", "model_called")[-1]["source"]["note"] == "the last"


def test_agentrx_substeps_may_be_the_text_of_a_python_list() -> None:
    texts = {**RX, "steps": [{**step, "substeps": str(step["substeps"])} for step in RX["steps"]]}
    assert order_of(read(texts)) == order_of(read(RX))
    assert tools_of(read(texts)) == tools_of(read(RX))


def test_agentrx_steps_stand_in_the_order_of_their_numbers() -> None:
    turned = {**RX, "steps": RX["steps"][::-1]}
    assert order_of(read(turned)) == order_of(read(RX))


def test_the_instruction_is_the_task_where_no_person_speaks() -> None:
    steps = of_run(read({"trajectory_id": "a", "instruction": "Count.", "steps": [
        {"index": 1, "substeps": [{"role": "Lead", "content": "Look."}]},
        {"index": 2, "substeps": [{"role": "Web", "content": "11"}]}]}))
    assert [(step.kind, step.input or step.output) for step in steps] == [
        ("start", ""), ("input", "Count."), ("answer", "Look."), ("answer", "11"), ("end", "")]


def test_tau_bench_trajectories_that_agentrx_numbered_are_its_own() -> None:
    talk = [{"role": "user", "content": "Hi", "index": 1},
            {"role": "assistant", "content": "Hello", "index": 2}]
    found = detect.read(lines_of({"task_id": 4, "traj": talk, "reward": 0.0}), "x")
    assert (found.format, run_of(found).state) == ("agentrx", "failed")
    bare = [{key: one for key, one in entry.items() if key != "index"} for entry in talk]
    assert detect.read(lines_of({"task_id": 4, "traj": bare}), "x").format == "openai-chat"


@pytest.mark.parametrize(("steps", "code", "says"), [
    ([{"index": 1, "substeps": "no list"}], "IMPORT_SHAPE", "step 1: substeps: expected a list"),
    ([{"index": 1, "substeps": []}, {"index": 1, "substeps": []}], "IMPORT_DUPLICATE",
     "step 1 stands twice"),
    ([{"index": 1, "substeps": []}, {"index": "2"}], "IMPORT_SHAPE", "a whole number as index")])
def test_agentrx_steps_that_cannot_be_are_refused(steps: Any, code: str, says: str) -> None:
    with pytest.raises(RecordError, match=says) as refused:
        read({"trajectory_id": "a", "steps": steps})
    assert refused.value.code == code


def test_trail_spans_stand_inside_of_one_another_with_durations() -> None:
    found = imported("trail.json")
    run = run_of(found)
    assert tools_of(run) == [("stock", ARGUMENTS, None, None, json.loads(OUTPUT)),
                             ("print", {}, None, None, {"type": "error", "message": "no paper"})]
    assert [call.agent for call in run.calls()] == ["CodeAgent.run"] * 2
    assert [event["clock"]["at"] for event in run.events()
            if event["kind"] == "model_responded"] == pytest.approx(
                [1767225603.25, 1767225607.0], abs=1e-6)
    assert {"logs", "resource_attributes"} <= found.kept.keys()


def test_a_row_of_trails_data_set_holds_the_trace_as_text() -> None:
    trace = sample("trail.json")
    row = {"trace": json.dumps(trace), "labels": json.dumps({"errors": []})}
    assert order_of(read(row)) == order_of(read(trace))
    assert next(read(row).events())["fields"] == {"labels": '{"errors": []}'}


@pytest.mark.parametrize(("duration", "seconds"), [
    ("PT1M2.5S", 62.5), ("P1DT1H", 90000.0), ("PT0S", 0.0), ("PT", None), ("5 s", None)])
def test_durations_are_iso_8601_and_others_are_kept(duration: str, seconds: float | None) -> None:
    span = {"span_id": "a", "span_name": "print", "timestamp": "1970-01-01T00:00:01Z",
            "duration": duration, "span_attributes": {"openinference.span.kind": "TOOL",
                                                      "output.value": "done"}}
    started, finished = [event for event in read({"trace_id": "t", "spans": [span]}).events()
                         if event["kind"].startswith("tool")]
    assert finished["clock"]["at"] == 1 + (seconds or 0)
    assert ("duration" in started["source"]) == (seconds is None)


V1 = [json.loads(line) for line in
      (SAMPLES / "openhands_v1.jsonl").read_text("utf-8").splitlines()]


def test_openhands_actions_of_one_answer_are_one_answer() -> None:
    found = imported("openhands_v1.jsonl")
    run = run_of(found)
    first = run.call(1)
    assert run.body(first) == {"model": "gpt-4o-mini", "messages": [
        {"role": "system", "content": "Count."},
        {"role": "user", "content": "What is left?\nRope counts."}]}
    decision = run.decision(first)
    assert decision is not None
    assert (decision["text"], [call["id"] for call in decision["tool_calls"]]) == (
        "I look it up.", ["call_1", "call_2"])
    assert dict(found.left) == {"message activated_skills": 1}
    assert dict(found.other) == {"ConversationStateUpdateEvent": 1}
    assert run.state == "completed"


def test_openhands_tells_exit_codes_errors_and_rejections() -> None:
    run = run_of(imported("openhands_v1.jsonl"))
    assert [(tool, result) for tool, _, _, _, result in tools_of(run)] == [
        ("terminal", OUTPUT), ("terminal", {"content": "no paper", "exit_code": 2}),
        ("editor", {"type": "error", "message": "there is no tool editor"}),
        ("terminal", {"type": "blocked", "message": "Never."}), ("finish", ANSWER)]
    assert [step.status for step in of_run(run) if step.kind == "tool"] == [
        "ok", "error", "error", "blocked", "ok"]


@pytest.mark.parametrize(("last", "state", "why"), [
    ({"kind": "ConversationErrorEvent", "code": "LLMError", "detail": "no answer"}, "raised",
     "LLMError: no answer"),
    ({"kind": "ConversationStateUpdateEvent", "key": "execution_status", "value": "stuck"},
     "raised", "stuck"),
    ({"kind": "ConversationStateUpdateEvent", "key": "full_state",
      "value": {"execution_status": "paused"}}, "cancelled", "")])
def test_openhands_tells_how_it_ended(last: dict[str, Any], state: str, why: str) -> None:
    run = read(*V1[1:5], {"id": "z", "timestamp": "2026-01-01T00:01:00", "source": "environment",
                          **last})
    assert run.state == state
    assert (list(run.events())[-1].get("error") or {"message": ""})["message"] == why


def test_an_observation_without_its_call_is_counted_and_kept() -> None:
    found = detect.read(lines_of(*V1[1:4], V1[6]), "x")
    assert found.left["ObservationEvent without its call"] == 1
    assert found.other["ObservationEvent"] == 1


def test_openhands_events_may_stand_in_a_page_of_the_api() -> None:
    assert order_of(read({"items": V1[1:], "next_page_id": None})) == order_of(read(*V1[1:]))


def test_openhands_events_that_stand_twice_are_refused() -> None:
    with pytest.raises(RecordError, match="event e1 stands twice"):
        read(*V1[1:4], V1[2])


def test_a_conversations_folder_is_read_as_its_events(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "base_state.json").write_text(json.dumps(V1[0], indent=1))
    for number, event in enumerate(V1[1:]):
        (tmp_path / "events" / f"event-{number:05}-{event['id']}.json").write_text(
            json.dumps(event, indent=1))
    out = tmp_path / "run.jsonl"
    assert commands.run(["import", str(tmp_path), "-o", str(out)]) == exits.OK
    assert "5 tool calls" in capsys.readouterr().out
    (tmp_path / "events" / "event-00001-e1.json").write_text("{")
    assert commands.run(["import", str(tmp_path), "-o", str(tmp_path / "b")]) == exits.UNUSABLE
    assert "event-00001-e1.json: not JSON" in capsys.readouterr().err


def test_mini_swe_agent_calls_tools_and_ends_in_a_submission() -> None:
    found = imported("mini_swe_agent.traj.json")
    run = run_of(found)
    assert [(arguments, result) for _, arguments, _, _, result in tools_of(run)] == [
        ({"command": "stock harbour"}, f"<returncode>0</returncode>\n<output>\n{OUTPUT}</output>"),
        ({"command": "print"}, {"exit_code": 2, "content":
                                "<returncode>2</returncode>\n<output>\nno paper</output>"}),
        ({"command": "submit"}, ANSWER)]
    assert [step.error for step in of_run(run) if step.kind == "tool"] == ["", "exited with 2", ""]
    assert (run.state, run.started) == ("completed", 1767225601.5)
    assert run.body(run.call(1))["model"] == "gpt-4o-mini"
    assert run.reply(run.call(1))["object"] == "chat.completion"  # the literal one
    assert dict(found.left) == {"exit message seen_by": 1}


OLD = [{"role": "system", "content": "Count."}, {"role": "user", "content": "What is left?"},
       {"role": "assistant", "content": "Look:\n```bash\nstock harbour\n```"},
       {"role": "user", "content": "<returncode>1</returncode>\n<output>no</output>"},
       {"role": "assistant", "content": "I give up."}, {"role": "user", "content": "Go on."}]


@pytest.mark.parametrize("value", [OLD, {"messages": OLD}, {
    "messages": OLD, "trajectory_format": "mini-swe-agent-1", "info": {}}])
def test_commands_of_its_older_form_stand_in_the_text(value: Any) -> None:
    found = detect.read(json.dumps(value).encode(), "x")
    assert found.format == "mini-swe-agent"
    steps = of_run(run_of(found))
    assert [(step.tool, step.input, step.error) for step in steps if step.kind == "tool"] == [
        ("bash", '{"command": "stock harbour"}', "exited with 1")]
    assert [step.kind for step in steps] == [
        "start", "input", "input", "answer", "tool", "answer", "end"]


@pytest.mark.parametrize(("status", "state"), [
    ("Submitted", "completed"), ("LimitsExceeded", "timeout"), ("TimeExceeded", "timeout"),
    ("RuntimeError", "raised"), ("", "completed")])
def test_its_exit_status_tells_how_it_ended(status: str, state: str) -> None:
    assert read({"trajectory_format": "mini-swe-agent-1.1", "messages": OLD[:4],
                 "info": {"exit_status": status}}).state == state


def test_langsmith_exports_may_tell_parents_by_the_place_in_the_trace_only() -> None:
    # as the payload of an automation's webhook has them: dotted_order, and no parent_run_id
    root, inner = "6ab80f10-d79c-4fa2-b441-922ed6feb630", "7bb80f10-d79c-4fa2-b441-922ed6feb631"
    common = {"trace_id": root, "start_time": "2024-04-05 01:28:54.085646", "status": "success",
              "end_time": "2024-04-05T01:28:55", "child_run_ids": None, "total_cost": None}
    top = f"20240405T012854085646Z{root}"
    run = read({"rule_id": "d7", "runs": [
        {**common, "id": root, "name": "Search", "run_type": "tool", "dotted_order": top,
         "inputs": {"input": "{}"}, "outputs": {"output": "12"}},
        {**common, "id": inner, "name": "ChatOpenAI", "run_type": "llm",
         "dotted_order": f"{top}.20240405T012854095646Z{inner}",
         "inputs": {"messages": [{"role": "user", "content": "Hi"}]},
         "outputs": {"choices": [{"index": 0, "message": {
             "role": "assistant", "content": "Hello"}}]}}]})
    assert [event["parent"] for event in run.events() if event["kind"] == "model_called"] == ["t1"]


@pytest.mark.parametrize("at", [1767225601500000000, "1767225601500000000"])
def test_nanoseconds_may_be_numbers_or_texts(at: object) -> None:
    span = {"name": "chat", "spanId": "1", "startTimeUnixNano": at, "attributes": {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "stock"}}
    assert read({"spans": [span]}).started == 1767225601.5
