"""What each format becomes, read from its hand-made sample."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.ablation.pieces import Context
from agentrunproof.ablation.subject import Edit
from agentrunproof.importers import detect, linking, spans
from agentrunproof.importers.draft import Draft, ModelStep, ToolStep
from agentrunproof.record import run_reader
from agentrunproof.record.run import Run
from agentrunproof.record.run_writer import RunWriter
from tests.ablation.test_pieces import calls_and_results

SAMPLES = Path(__file__).parent / "samples"
ARGUMENTS = {"shop": "harbour"}
OUTPUT = '{"rope": 12, "lamps": 0}'
ANSWER = "12 ropes and no lamps."
ASKED = [{"id": "call_1", "name": "stock", "arguments": ARGUMENTS}]


def imported(name: str, format: str = "auto") -> detect.Imported:
    return detect.read((SAMPLES / name).read_bytes(), name, format)


def run_of(found: detect.Imported) -> Run:
    run = run_reader.read(found.data, "run.jsonl")
    assert run.notes == ()
    return run


def sample(name: str) -> Any:
    return json.loads((SAMPLES / name).read_text(encoding="utf-8"))


def tools_of(run: Run) -> list[tuple[Any, ...]]:
    """tool, arguments, asked by, id, and how it ended, of each tool call."""
    ends = {event["call"]: event.get("output", event.get("error")) for event in run.events()
            if event["kind"] in ("tool_finished", "tool_failed")}
    return [(event["tool"], event.get("arguments"), event.get("asked_by"),
             event.get("tool_call_id"), ends.get(event["call"]))
            for event in run.events() if event["kind"] == "tool_started"]


def order_of(run: Run) -> list[str]:
    return [f"{event['kind']} {event.get('call', '')}".strip() for event in run.events()]


@pytest.mark.parametrize(("name", "format", "calls", "inferred", "open_calls", "tools", "messages"),
                         [
    ("chat_request.json", "openai-chat", 2, 1, 1, 1, 4),
    ("chat_conversation.json", "openai-chat", 2, 2, 0, 1, 5),
    ("chat_exchanges.jsonl", "openai-chat", 2, 0, 0, 1, 5),
    ("responses.json", "openai-responses", 2, 1, 0, 1, 5),
    ("anthropic.json", "anthropic-messages", 2, 1, 1, 1, 3),
    ("openinference.json", "otlp", 3, 0, 0, 1, 6),
    ("genai_attributes.jsonl", "otlp", 2, 0, 0, 1, 5),
    ("genai_events.json", "otlp", 3, 0, 0, 1, 7),
    ("genai_logs.json", "otlp", 1, 0, 0, 0, 2),
    ("openllmetry.json", "otlp", 2, 0, 0, 1, 4),
    ("langfuse.json", "langfuse", 2, 0, 0, 1, 4),
    ("claude_agent.json", "otlp", 3, 3, 0, 1, 6),
])
def test_a_sample_is_recognised_and_counted(name: str, format: str, calls: int, inferred: int,
                                            open_calls: int, tools: int, messages: int) -> None:
    found = imported(name)
    assert (found.format, found.model_calls, found.inferred, found.unanswered, found.tool_calls,
            found.messages) == (format, calls, inferred, open_calls, tools, messages)
    run = run_of(found)
    assert len(run.calls()) == calls
    assert len(tools_of(run)) == tools


@pytest.mark.parametrize("name", ["chat_request.json", "anthropic.json"])
def test_a_request_body_is_rebuilt_exactly(name: str) -> None:
    run = run_of(imported(name))
    assert run.body(run.call("last")) == sample(name)
    assert run.reply(run.call("last")) is None
    assert run.state == "open"


def test_a_request_with_its_reply_is_rebuilt_exactly() -> None:
    run, said = run_of(imported("responses.json")), sample("responses.json")
    assert run.body(run.call("last")) == said["request"]
    assert run.reply(run.call("last")) == said["response"]
    assert run.state == "completed"


def test_exchanges_of_json_lines_are_rebuilt_exactly() -> None:
    run = run_of(imported("chat_exchanges.jsonl"))
    said = [json.loads(line) for line in
            (SAMPLES / "chat_exchanges.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [run.body(call) for call in run.calls()] == [one["request"] for one in said]
    assert [run.reply(call) for call in run.calls()] == [one["response"] for one in said]
    # the tool's result stands only in the second request
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", OUTPUT)]


def test_a_conversation_is_taken_apart_at_its_replies() -> None:
    run, messages = run_of(imported("chat_conversation.json")), \
        sample("chat_conversation.json")["messages"]
    assert [run.body(call)["messages"] for call in run.calls()] == [messages[:2], messages[:4]]
    assert run.reply(run.call(1)) == {"choices": [{"index": 0, "message": messages[2]}]}
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", OUTPUT)]
    started = next(run.events())
    assert started["fields"] == {"task": "stock", "score": 0.5}
    assert dict(imported("chat_conversation.json").left) == {"message after the last reply": 1}


def test_items_before_a_reply_of_responses_are_one_request() -> None:
    run, body = run_of(imported("responses.json")), sample("responses.json")["request"]
    assert run.body(run.call(1))["input"] == body["input"][:1]
    assert run.reply(run.call(1))["output"] == body["input"][1:3]
    assert run.decision(run.call(1)) == {"tool_calls": ASKED, "text": ""}


def test_a_tool_result_that_is_an_error_is_a_failed_tool() -> None:
    run = run_of(imported("anthropic.json"))
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "toolu_1", {
        "type": "tool error", "message": "the shop is closed"})]


def test_openinference_tells_who_did_what_inside_of_what() -> None:
    run = run_of(imported("openinference.json"))
    assert order_of(run) == [
        "run_started", "span_started", "model_called m1", "model_responded m1", "tool_started t1",
        "model_called m2", "model_responded m2", "tool_finished t1", "model_called m3",
        "model_failed m3", "span_finished", "run_finished"]
    first, inner, last = run.calls()
    assert (first.agent, first.parent, inner.parent) == ("keeper", "", "t1")
    body = run.body(last)
    assert body["temperature"] == 0.2
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant",
                                                                 "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {
        "name": "stock", "arguments": json.dumps(ARGUMENTS)}
    assert body["tools"][0]["function"]["description"] == "Counts what a shop has."
    assert run.error(last) == {"type": "error", "message": "rate limited"}
    assert run.state == "raised"
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", json.loads(OUTPUT))]
    assert run.started == 1767225600.0  # nanoseconds stand there as text


def test_openinference_prefers_the_literal_request() -> None:
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}], "seed": 4}
    reply = {"id": "r", "choices": [{"index": 0, "message": {"role": "assistant",
                                                             "content": "Ho"}}]}
    span = {"name": "llm", "start_time": "2026-01-01T00:00:00Z", "attributes": {
        "openinference.span.kind": "LLM", "input.value": json.dumps(body),
        "output.value": json.dumps(reply), "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Hi"}}
    run = run_of(detect.read(json.dumps([span]).encode(), "x"))
    assert run.body(run.call(1)) == body
    assert run.reply(run.call(1)) == reply


def test_genai_attributes_become_a_chat_request() -> None:
    found = imported("genai_attributes.jsonl")
    run = run_of(found)
    body = run.body(run.call(2))
    assert body["model"] == "gpt-4o-mini"
    assert body["max_tokens"] == 500
    assert body["messages"][0] == {"role": "system",
                                   "content": "You keep the stock of three shops."}
    assert body["messages"][2]["reasoning_content"] == "I must count."
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "call_1", "content": OUTPUT}
    assert body["tools"] == [{"type": "function", "function": {
        "name": "stock", "description": "Counts what a shop has.",
        "parameters": {"type": "object"}}}]
    # its span says neither arguments nor result
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", OUTPUT)]
    assert dict(found.left) == {"message part blob": 1}
    assert found.kept["gen_ai.usage.input_tokens"] == 2
    called = next(event for event in run.events() if event["kind"] == "model_called")
    assert called["source"]["attributes"]["gen_ai.usage.input_tokens"] == 31


def test_genai_events_become_messages() -> None:
    found = imported("genai_events.json")
    run = run_of(found)
    assert [message["role"] for message in run.body(run.call(1))["messages"]] == ["system", "user"]
    assert run.decision(run.call(1)) == {"tool_calls": ASKED, "text": None or ""}
    assert [message["role"] for message in run.body(run.call(2))["messages"]] == [
        "user", "assistant", "tool"]
    assert run.decision(run.call(2)) == {"tool_calls": [], "text": ANSWER}
    assert run.body(run.call(3))["messages"] == [{"role": "user", "content": "Say hi."}]
    assert run.decision(run.call(3)) == {"tool_calls": [], "text": "Hi."}
    assert found.kept["events"] == 1  # cache.miss, which is no message


def test_genai_events_may_be_log_records() -> None:
    run = run_of(imported("genai_logs.json"))
    assert run.body(run.call(1))["messages"] == [{"role": "user", "content": "Say hi."}]
    assert run.decision(run.call(1)) == {"tool_calls": [], "text": "Hi."}


def test_openllmetry_prompts_become_messages() -> None:
    found = imported("openllmetry.json")
    run = run_of(found)
    body = run.body(run.call(2))
    assert body["messages"][1]["tool_calls"][0]["id"] == "call_1"
    assert body["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": OUTPUT}
    assert run.body(run.call(1))["tools"][0]["function"]["parameters"] == {"type": "object"}
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", json.loads(OUTPUT))]
    assert dict(found.left) == {"prompt or completion: mood": 1}


def test_langfuse_observations_become_calls() -> None:
    found = imported("langfuse.json")
    run = run_of(found)
    said = sample("langfuse.json")["observations"]
    assert run.body(run.call(1)) == {"model": "gpt-4o-mini", "temperature": 0.2,
                                     "messages": said[0]["input"]}
    assert run.body(run.call(2)) == {"model": "gpt-4o-mini", **said[2]["input"]}
    assert run.error(run.call(2)) == {"type": "error", "message": "overloaded"}
    # a SPAN, but with the name and arguments of what the model asked for
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "call_1", json.loads(OUTPUT))]
    assert dict(found.left) == {"model parameter max_tokens=Infinity": 1}


def test_the_claude_agent_sdk_tells_arguments_in_the_agents_messages_only() -> None:
    found = imported("claude_agent.json")
    run = run_of(found)
    assert [call.dialect for call in run.calls()] == ["anthropic.messages"] * 3
    assert tools_of(run) == [("stock", ARGUMENTS, "m1", "toolu_1", OUTPUT)]
    body = run.body(run.call(3))
    assert body["system"] == "You keep the stock of three shops."
    assert [message["role"] for message in body["messages"]] == [
        "user", "assistant", "user", "assistant", "user"]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "toolu_1"
    assert order_of(run)[2:10] == [
        "model_called m1", "model_responded m1", "tool_started t1", "tool_finished t1",
        "model_called m2", "model_responded m2", "model_called m3", "model_responded m3"]
    clocks = {f"{event['kind']} {event.get('call')}": "clock" in event for event in run.events()}
    assert clocks["tool_started t1"]
    assert not clocks["model_called m2"]  # nobody said when


def test_times_may_be_numbers_or_texts() -> None:
    text = (SAMPLES / "claude_agent.json").read_text(encoding="utf-8")
    spans = json.loads(text)
    for span in spans:
        for key in ("startTimeUnixNano", "endTimeUnixNano"):
            span[key] = str(span[key])
    assert detect.read(json.dumps(spans).encode(), "x").data == detect.read(text.encode(), "x").data


@pytest.mark.parametrize(("text", "nanoseconds"), [
    ("1970-01-01T00:00:01Z", 10**9), ("1970-01-01T00:00:01.5Z", 1_500_000_000),
    ("1970-01-01T00:00:00.000000001Z", 1), ("1970-01-01 00:00:00.1234567899+00:00", 123_456_789),
    ("1970-01-01T01:00:00.000001+01:00", 1000), ("1970-01-01T01:00:00+0100", 0),
    ("1969-12-31T23:59:59,9Z", -100_000_000), ("1970-01-02", 86_400 * 10**9),
    ("1970-01-01T00:01", 60 * 10**9), ("17", 17)])
def test_times_are_read_to_the_nanosecond(text: str, nanoseconds: int) -> None:
    assert spans.nanoseconds(text, "x") == nanoseconds


def test_numbers_of_otlp_are_numbers_where_they_are_some() -> None:
    told = [("1", 1), ("-7", -7), (3, 3), ("--5", "--5"), ("x", "x"), ("9" * 30, "9" * 30)]
    assert [spans.attributes([{"key": "n", "value": {"intValue": one}}], "x")["n"]
            for one, _ in told] == [number for _, number in told]


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()
                                        if path.name != "runopsy.jsonl"))  # holds no messages
def test_every_imported_request_can_be_taken_to_pieces(name: str) -> None:
    """Whatever is left out, each tool result has its call, in the form of the request's API."""
    run = run_of(imported(name))
    for call in run.calls():
        body = run.body(call)
        context = Context(body, call.dialect)
        assert context.pieces
        assert context.edited(Edit()) == body
        pieces = [piece for root in context.pieces for piece in root.walk()]
        for edited in (*(context.without([piece.id]) for piece in pieces),
                       *(context.edited(Edit((1 << len(context.texts)) - 1, way))
                         for way in ("filler", "other", "removed"))):
            calls, results = calls_and_results(call.dialect, edited)
            assert set(results) <= set(calls)
            assert json.loads(json.dumps(edited)) == edited


def test_many_calls_that_nobody_asked_for_are_linked_in_linear_time() -> None:
    def draft(count: int) -> Draft:
        asked = [{"id": f"c{n}", "name": "look", "arguments": {"n": -n}} for n in range(count)]
        return Draft("x", [ModelStep(reply={"tool_calls": asked, "text": ""}),
                           *(ToolStep(tool="look", arguments={"n": n + 1}) for n in range(count))])

    def work(count: int) -> int:
        made, seen = draft(count), 0

        def count_events(*_: object) -> None:
            nonlocal seen
            seen += 1

        sys.setprofile(count_events)
        try:
            linking.link(made)
        finally:
            sys.setprofile(None)
        assert not any(step.asked_by for step in made.tools())
        return seen

    assert work(400) < 2.5 * work(200)


def test_our_own_run_is_copied_in_its_shortest_form() -> None:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("inbox", note="kept")
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    writer.model_called("m1", "openai.chat", body, agent="reader")
    writer.model_responded("m1", {"tool_calls": [], "text": "Ho"}, clock={"at": 5.0})
    writer.event("claim", text="done")
    writer.finish("completed")
    data = b"".join(lines)
    found = detect.read(data, "run.jsonl")
    assert (found.format, found.data, found.name) == ("run", data, "inbox")
    gappy = data.replace(b'"seq":3', b'"seq":30').replace(b'"seq":4', b'"seq":40') + b"\n\n"
    assert gappy != data + b"\n\n"
    assert detect.read(gappy, "run.jsonl").data == data


def test_spans_of_several_traces_are_said_to_be_several() -> None:
    spans = [{"name": "llm", "traceId": trace, "spanId": "1", "startTimeUnixNano": number,
              "attributes": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(
                  [{"role": "user", "parts": [{"type": "text", "content": trace}]}])}}
             for number, trace in enumerate(("t1", "t2"))]
    assert "holds 2 traces, taken as one run (--run ID takes one): t1, t2" in detect.read(
        json.dumps(spans).encode(), "x").notes


def test_a_format_may_be_named() -> None:
    data = json.dumps([{"role": "user", "content": "Hi"}]).encode()
    assert detect.read(data, "x").format == "openai-chat"
    run = run_of(detect.read(data, "x", "anthropic-messages"))
    assert run.call(1).dialect == "anthropic.messages"
