"""Formats of agents, frameworks and labelled sets, each read from its hand-made sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.errors import RecordError
from agentrunproof.importers import detect
from agentrunproof.localize import datasets, ranking
from agentrunproof.localize.steps import of_run
from agentrunproof.localize.trace import Trace
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

FORMATS = [
    ("runopsy.jsonl", "runopsy", 1, 0, 3), ("agents_sdk.jsonl", "openai-agents", 2, 0, 2),
    ("langsmith.json", "langsmith", 2, 0, 2), ("atif.json", "atif", 2, 2, 2),
    ("swe_agent.traj", "swe-agent", 2, 2, 2), ("openhands.json", "openhands", 3, 3, 2),
    ("who_and_when.json", "who-and-when", 4, 4, 1), ("agentrx.json", "agentrx", 2, 2, 1),
    ("trail.json", "trail", 2, 0, 2), ("openhands_v1.jsonl", "openhands-v1", 4, 4, 5),
    ("mini_swe_agent.traj.json", "mini-swe-agent", 3, 3, 3)]
NO_PAPER = {"type": "error", "message": "no paper"}


def events_of(name: str, *kinds: str) -> list[dict[str, Any]]:
    return [event for event in run_of(imported(name)).events() if event["kind"] in kinds]


@pytest.mark.parametrize(("name", "format", "calls", "inferred", "tools"), FORMATS)
def test_a_sample_is_recognised_and_counted(name: str, format: str, calls: int, inferred: int,
                                            tools: int) -> None:
    for asked in ("auto", format):
        found = imported(name, asked)
        assert (found.format, found.model_calls, found.inferred, found.tool_calls) == \
            (format, calls, inferred, tools)


@pytest.mark.parametrize("name", [name for name, *_ in FORMATS])
@pytest.mark.parametrize("failed", [[], ["--failed"]], ids=["told nothing", "failed"])
def test_localize_reads_each_of_them(name: str, failed: list[str],
                                     capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["localize", str(SAMPLES / name), *failed]) in (exits.OK, exits.NOTHING)
    assert capsys.readouterr().out


def test_runopsy_tells_what_happened_by_digests() -> None:
    found = imported("runopsy.jsonl")
    run = run_of(found)
    # by sequence, not as they stand in the file
    assert order_of(run) == [
        "run_started", "model_called m1", "model_responded m1", "memory_read", "tool_started t1",
        "tool_finished t1", "tool_started t2", "tool_failed t2", "handoff", "claim",
        "tool_started t3", "tool_failed t3", "run_finished"]
    assert found.notes == ("events do not stand in the order of sequence: sorted",)
    assert dict(found.left) == {"event weather": 1}
    assert run.state == "failed"
    assert run.started == 1767225601.0  # the first step; the run's own start is no step
    memory, handoff, claim = events_of("runopsy.jsonl", "memory_read", "handoff", "claim")
    assert (memory["key"], memory["age"]) == ("stock", 90)
    assert (handoff["from"], handoff["to"], handoff["missing"]) == ("keeper", "clerk", ["branch"])
    assert claim["support"] == "unsupported"
    by_number = {step.number: step for step in of_run(run)}
    assert [step.status for step in by_number.values()] == [
        "ok", "cut", "ok", "ok", "blocked", "ok", "ok", "error", "ok"]
    assert by_number[4].changes == {"rope": "12"}
    assert by_number[4].facts == {"input_digest": "sha256:aa", "output_digest": "sha256:bb",
                                  "source": "event_id e3"}
    assert by_number[1].input == "count the stock"


@pytest.mark.parametrize("case", datasets.read(datasets.packaged(), datasets.PACKAGED),
                         ids=lambda case: str(case.name))
def test_an_imported_case_of_the_benchmark_is_localized_as_the_benchmark_is(
        case: datasets.Case) -> None:
    found = detect.read(datasets.packaged(), "x", run=case.name)
    steps = of_run(run_of(found))
    started = 0 if case.steps[0].kind == "start" else 1  # a run always has a start, a case may not
    straight, imported_ = ranking.localize(Trace(case.steps)), ranking.localize(Trace(steps))
    place = {step.number: at + started for at, step in enumerate(case.steps)}
    assert imported_.status == straight.status
    assert [one.step - 1 for one in imported_.suspects] == \
        [place[one.step] for one in straight.suspects]


def test_the_agents_sdk_tells_tool_errors_handoffs_and_guardrails() -> None:
    found = imported("agents_sdk.jsonl")
    run = run_of(found)
    assert found.name == "shop"
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", OUTPUT),
                             ("print", {}, None, None,
                              {"type": "error", "message": "Error running tool"})]
    first, last = run.calls()
    assert (first.agent, last.agent, first.dialect) == ("keeper", "clerk", "openai.responses")
    assert run.body(first) == {"model": "gpt-4o-mini", "temperature": 0, "input": [
        {"role": "user", "content": "What is left?"}]}
    decision = run.decision(last)
    assert decision is not None
    assert decision["text"] == ANSWER
    handoff, guardrail = events_of("agents_sdk.jsonl", "handoff", "guardrail_checked")
    assert (handoff["from"], handoff["to"]) == ("keeper", "clerk")
    assert (guardrail["guardrail"], guardrail["tripped"]) == ("polite", True)
    failed = next(event for event in run.events() if event.get("tool") == "print")
    assert failed["source"]["error_data"] == {"error": "no paper"}
    assert dict(found.other) == {"agent": 2, "handoff": 1, "guardrail_checked": 1, "response": 1}


def test_the_agents_sdks_chat_completions_are_chat() -> None:
    span = {"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {
        "type": "generation", "model": "m", "input": [{"role": "user", "content": "Hi"}],
        "output": [{"role": "assistant", "content": "Hello"}]}}
    run = run_of(detect.read(lines_of({"data": [span]}), "x"))
    assert run.calls()[0].dialect == "openai.chat"
    assert run.decision(run.call(1)) == {"tool_calls": [], "text": "Hello"}


def test_langsmith_tells_messages_however_they_are_written() -> None:
    found = imported("langsmith.json")
    run = run_of(found)
    first, last = run.calls()
    assert run.body(first) == {"model": "gpt-4o-mini", "temperature": 0.2, "messages": [
        {"role": "system", "content": "Count."}, {"role": "user", "content": "What is left?"}]}
    assert run.decision(first) == {"tool_calls": [
        {"id": "call_1", "name": "stock", "arguments": ARGUMENTS}], "text": ""}
    assert (first.agent, run.body(last)["model"]) == ("keeper", "gpt-4o-mini")
    assert run.reply(last) == sample("langsmith.json")[4]["outputs"]
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", OUTPUT),
                             ("print", {"pages": 1}, None, None, NO_PAPER)]
    assert "total_tokens" in found.kept


def test_langsmith_runs_may_stand_inside_of_one_another_with_times_in_milliseconds() -> None:
    inner = {"id": "b", "run_type": "tool", "name": "stock", "inputs": {"input": "{}"},
             "outputs": {"output": "12"}, "start_time": 1767225601000, "end_time": 1767225602000}
    outer = {"id": "a", "run_type": "chain", "name": "shop", "start_time": 1767225600000,
             "error": "it broke", "child_runs": [inner]}
    run = run_of(detect.read(lines_of(outer), "x"))
    assert (run.started, run.state) == (1767225600.0, "raised")
    assert [event["clock"]["at"] for event in run.events() if event["kind"] == "tool_finished"] == \
        [1767225602.0]


def test_atif_steps_are_requests_of_all_that_stands_before() -> None:
    found = imported("atif.json")
    run = run_of(found)
    first, last = run.calls()
    assert (run.body(first)["model"], run.body(last)["model"]) == ("gpt-4o-mini", "gpt-4o")
    assert [message["role"] for message in run.body(last)["messages"]] == [
        "system", "user", "assistant", "tool", "tool"]
    assert tools_of(run) == [
        ("stock", ARGUMENTS, "m1", "call_1", OUTPUT),
        ("print", {}, "m1", "call_2", {"type": "tool error", "message": "no paper"})]
    assert dict(found.left) == {"user step extra": 1}
    assert {"metrics", "run: final_metrics"} <= found.kept.keys()


def test_swe_agents_commands_are_tools_by_their_first_word() -> None:
    found = imported("swe_agent.traj")
    run = run_of(found)
    assert tools_of(run) == [("stock", {"command": "stock harbour"}, "m1", None, OUTPUT),
                             ("print", {}, "m2", "call_1", "no paper")]
    assert [message["content"] for message in run.body(run.call(1))["messages"]] == [
        "Count.", "A shown run", "What is left?"]
    assert run.state == "raised"  # exit_cost: it was stopped, and submitted nothing
    assert events_of("swe_agent.traj", "run_finished")[0]["error"]["message"] == "exit_cost"
    # what a tool gave is no user's input where the request repeats it
    assert [step.input for step in of_run(run) if step.kind == "input"] == [
        "Count.", "A shown run", "What is left?"]


@pytest.mark.parametrize(("status", "state"), [
    ("submitted", "completed"), ("submitted (exit_cost)", "completed"),
    ("exit_total_execution_timeout", "timeout"), ("exit_error", "raised"), (None, "completed")])
def test_swe_agents_exit_status_tells_how_it_ended(status: str | None, state: str) -> None:
    said = {"trajectory": [{"action": "ls", "observation": "a", "response": "Look.",
                            "query": [{"role": "user", "content": "Go"}]}],
            "info": {"exit_status": status}}
    run = run_of(detect.read(lines_of(said), "x"))
    assert run.state == state
    assert run.body(run.call(1))["messages"] == [{"role": "user", "content": "Go"}]


def test_openhands_tells_exit_codes_and_how_it_ended() -> None:
    found = imported("openhands.json")
    run = run_of(found)
    assert tools_of(run) == [
        ("execute_bash", {"command": "stock harbour"}, "m1", "call_1", OUTPUT),
        ("execute_bash", {"command": "print"}, "m2", "call_2",
         {"content": "no paper", "exit_code": 2})]
    assert [step.status for step in of_run(run) if step.kind == "tool"] == ["ok", "error"]
    assert run.body(run.call(1)) == {
        "model": "gpt-4o-mini", "tools": [{"type": "function", "function": {
            "name": "execute_bash"}}],
        "messages": [{"role": "system", "content": "Count."},
                     {"role": "user", "content": "What is left?"}]}
    assert run.state == "completed"
    assert dict(found.left) == {"message image_urls": 1}
    assert dict(found.other) == {"agent_state_changed": 1}


def test_openhands_may_end_in_an_error() -> None:
    said = [*sample("openhands.json")[:4], {
        "id": 9, "source": "environment", "observation": "agent_state_changed", "content": "",
        "extras": {"agent_state": "error", "reason": "out of budget"}}]
    run = run_of(detect.read(lines_of(said), "x"))
    assert run.state == "raised"
    assert list(run.events())[-1]["error"]["message"] == "out of budget"


def test_who_and_when_gives_each_agent_its_own_view() -> None:
    found = imported("who_and_when.json")
    run = run_of(found)
    assert [call.agent for call in run.calls()] == ["Keeper", "Keeper", "Clerk", "Clerk"]
    assert run.body(run.call(3))["messages"] == [
        {"role": "system", "content": "You count."}, {"role": "user", "content": "What is left?"},
        {"role": "user", "name": "Keeper", "content": "Ask the clerk."},
        {"role": "user", "name": "Keeper", "content": "Please count."}]
    assert tools_of(run) == [("Computer_terminal", None, "m3", None,
                              "exitcode: 0 (execution succeeded)\nCode output: 11")]
    assert [(event["from"], event["to"]) for event in run.events()
            if event["kind"] == "handoff"] == [("Keeper", "Clerk")]
    assert run.state == "failed"  # as labelled; the labelled step is kept, and not looked at
    assert next(run.events())["fields"]["mistake_step"] == "3"
    # what the others say is no user's input, and prompts stand in the requests only
    assert [step.input for step in of_run(run) if step.kind == "input"] == ["What is left?"]


def test_steps_of_labelled_sets_are_read_with_their_calls() -> None:
    said = {"id": "a", "onset": None, "steps": [
        {"agent": "user", "kind": "user", "text": "What is left?"},
        {"agent": "assistant", "kind": "assistant+call", "text": "",
         "calls": [["stock", json.dumps(ARGUMENTS)]]},
        {"agent": "tool", "kind": "tool", "text": OUTPUT},
        {"agent": "assistant", "kind": "assistant", "text": ANSWER}]}
    run = run_of(detect.read(lines_of(said), "x"))
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1_0", OUTPUT)]
    assert run.state == "completed"


def test_a_reward_tells_whether_a_conversation_did_its_task() -> None:
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    states = [run_of(detect.read(lines_of({"traj": talk, "reward": reward}), "x")).state
              for reward in (0.0, 1.0)]
    assert states == ["failed", "completed"]


TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
EVENT = json.loads((SAMPLES / "runopsy.jsonl").read_text("utf-8").splitlines()[1])
ATIF = sample("atif.json")
HANDS = sample("openhands.json")
WHO = sample("who_and_when.json")
SWE = sample("swe_agent.traj")
SEVERAL = {
    "runopsy": (lines_of(EVENT, {**EVENT, "run_id": "shop-2"}), "shop-1, shop-2", "shop-2"),
    "atif": (lines_of(ATIF, {**ATIF, "session_id": "day-2"}), "day-1, day-2", "day-2"),
    "swe-agent": (lines_of(SWE, {**SWE, "environment": "inn"}), "shop, inn", "inn"),
    "openhands": (lines_of({"instance_id": "a", "history": HANDS},
                           {"instance_id": "b", "history": HANDS}), "a, b", "b"),
    "who-and-when": (lines_of(WHO, {**WHO, "question_ID": "q-2"}), "q-1, q-2", "q-2"),
    "openai-chat": (lines_of({"id": "x", "messages": TALK}, {"messages": TALK}), "x, 2", "2"),
}


@pytest.mark.parametrize("format", SEVERAL)
def test_of_several_runs_in_a_file_the_user_takes_one(format: str) -> None:
    data, listed, one = SEVERAL[format]
    with pytest.raises(RecordError, match=f"holds 2 runs: {listed} .*--run ID") as caught:
        detect.read(data, "x")
    assert caught.value.code == "IMPORT_RUN"
    assert detect.read(data, "x", run=one).format == format
    with pytest.raises(RecordError, match="there is no run 'none of them'"):
        detect.read(data, "x", run="none of them")


def test_of_several_traces_of_spans_the_user_may_take_one() -> None:
    spans = [{"name": "chat", "traceId": trace, "spanId": "1", "startTimeUnixNano": "17672256000",
              "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": trace}}
             for trace in ("t1", "t2")]
    both, one = detect.read(lines_of(spans), "x"), detect.read(lines_of(spans), "x", run="t2")
    assert (both.tool_calls, one.tool_calls) == (2, 1)
    assert "holds 2 traces, taken as one run (--run ID takes one): t1, t2" in both.notes
    assert tools_of(run_of(one))[0][0] == "t2"


def test_parents_in_a_circle_are_said_and_do_no_harm() -> None:
    spans = [{"name": "tool", "traceId": "t", "spanId": id, "parentSpanId": parent,
              "startTimeUnixNano": 1, "attributes": {"gen_ai.operation.name": "execute_tool",
                                                     "gen_ai.tool.name": "stock"}}
             for id, parent in (("a", "b"), ("b", "a"))]
    found = detect.read(lines_of(spans), "x")
    assert found.tool_calls == 2
    assert any(note.startswith("parents go round in a circle: a in b;") for note in found.notes)


@pytest.mark.parametrize(("data", "code", "words"), [
    (lines_of(EVENT, EVENT), "IMPORT_DUPLICATE", "event e1 stands twice"),
    (lines_of({**EVENT, "sequence": "1"}), "IMPORT_SHAPE", "sequence: expected a whole number"),
    (lines_of({"events": [], "name": "x"}), "IMPORT_FORMAT", "runopsy: events is empty"),
    (lines_of({**ATIF, "steps": []}), "IMPORT_EMPTY", "neither a model call nor a tool call"),
    (lines_of({**ATIF, "steps": [ATIF["steps"][2]] * 2}), "IMPORT_DUPLICATE",
     "step_id 3 stands twice"),
    (lines_of({**ATIF, "steps": 5}), "IMPORT_SHAPE", "steps: expected a list of tables, found 5"),
    (lines_of([HANDS[2]] * 2), "IMPORT_DUPLICATE", "event 2 stands twice"),
    (lines_of({**WHO, "history": [*WHO["history"], 5]}), "IMPORT_SHAPE",
     "history[6]: expected a message, found 5"),
    (lines_of({"object": "trace", "id": "t"}), "IMPORT_FORMAT", "a trace without spans"),
    (lines_of({"object": "trace.span", "span_data": 5}), "IMPORT_SHAPE",
     "span_data: expected a table, found 5"),
    (lines_of(*[{"id": "a", "run_type": "tool", "name": "x", "start_time": 1}] * 2),
     "IMPORT_DUPLICATE", "span a stands twice"),
])
def test_what_is_wrong_in_them_is_named(data: bytes, code: str, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        detect.read(data, "x.json")
    assert caught.value.code == code
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("format", ["atif", "openhands"])
def test_steps_in_no_order_are_sorted_and_that_is_said(format: str) -> None:
    value = {**ATIF, "steps": ATIF["steps"][::-1]} if format == "atif" else HANDS[::-1]
    found, straight = detect.read(lines_of(value), "x"), \
        detect.read(lines_of(ATIF if format == "atif" else HANDS), "x")
    assert any("do not stand in the order" in note for note in found.notes)
    assert found.data == straight.data


def test_a_wrong_format_is_refused_with_every_format_and_why() -> None:
    with pytest.raises(RecordError) as caught:
        detect.read(b'{"weather": "fine"}', "x")
    for format in detect.FORMATS[1:]:
        assert format in caught.value.message


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    """A file of one gigabyte that takes no place on disk."""
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(2**30)
    return path


@pytest.mark.parametrize("command", ["import", "localize"])
def test_a_file_of_a_gigabyte_is_refused_unread(command: str, huge: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run([command, str(huge)]) == exits.UNUSABLE
    said = capsys.readouterr().err
    assert "1024 MiB, and no trace of more than 256 MiB is read" in said
    assert len(said.splitlines()) == 1


def _write(data: bytes | None, path: Path) -> str:
    if data is not None:
        path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(("data", "code", "words"), [
    (None, exits.UNUSABLE, "no such file"),
    (b"", exits.UNUSABLE, "empty"),
    (b"\x00\x01\x02\x03" * 9, exits.UNUSABLE, "binary"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", exits.UNUSABLE, "not"),
    (json.dumps(ATIF).encode()[:-30], exits.UNUSABLE, "it is cut off"),
    (b'{"weather": "fine"}', exits.UNUSABLE, "no known format"),
    (lines_of({**ATIF, "steps": []}), exits.UNUSABLE, "neither a model call nor a tool call"),
    (SEVERAL["atif"][0], exits.UNUSABLE, "holds 2 runs: day-1, day-2"),
    (lines_of(*[{"messages": TALK}]), exits.NOTHING, "no failure is seen"),
    (lines_of(EVENT, EVENT), exits.UNUSABLE, "stands twice"),
], ids=["missing", "empty", "binary", "picture", "truncated", "wrong format", "no steps",
        "mixed runs", "no failure", "duplicate ids"])
def test_localize_answers_bad_input_in_a_line(data: bytes | None, code: int, words: str,
                                              tmp_path: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["localize", _write(data, tmp_path / "trace.json")]) == code
    said = capsys.readouterr()
    assert words in said.out + said.err
    if code == exits.UNUSABLE:
        assert said.out == ""
        assert len(said.err.splitlines()) == 1


def test_localize_takes_the_run_that_is_named(tmp_path: Path,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(datasets.packaged(), tmp_path / "bench.jsonl")
    assert commands.run(["localize", path, "--run", "tool_timeout", "--json"]) == exits.OK
    assert json.loads(capsys.readouterr().out)["subject"]["name"] == "tool_timeout"
    assert commands.run(["localize", path, "--run", "healthy_run"]) == exits.NOTHING
