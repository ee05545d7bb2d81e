"""The recorded run: what is written is read back exactly, once each, and what is wrong is named."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.errors import RecordError
from agentrunproof.record import dialects, json_lines, run_reader
from agentrunproof.record.beginnings import Beginning
from agentrunproof.record.run import Run
from agentrunproof.record.run_writer import RunWriter

Json = dict[str, Any]
REPLY = {"tool_calls": [{"id": "c1", "name": "look", "arguments": {"q": 1}}], "text": "hm"}


def written(*bodies: Json | bytes, dialect: str = "openai.chat") -> bytes:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("test")
    for number, body in enumerate(bodies, 1):
        writer.model_called(f"m{number}", dialect, body)
        writer.model_responded(f"m{number}", REPLY)
    writer.finish("completed")
    return b"".join(lines)


def read(data: bytes, *, skip_bad: bool = False) -> Run:
    return run_reader.read(data, "run.jsonl", skip_bad=skip_bad)


def bodies_of(data: bytes) -> list[Json]:
    run = read(data)
    return [run.body(call) for call in run.calls()]


def same(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON, 1 told from true, keys in the same order."""
    return json.dumps(a) == json.dumps(b)


def history(steps: int) -> list[Json]:
    messages: list[Json] = [{"role": "system", "content": "Be good."}]
    for step in range(steps):
        call = {"id": f"c{step}", "type": "function",
                "function": {"name": "look", "arguments": "{}"}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": f"c{step}", "content": f"result {step}"}]
    return messages


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "ä😀", "\ud800", 'q"\\\n\x00', "x" * 300]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["role", "content", "b", "messages"]), inner, max_size=3),
    max_leaves=6)
messages = st.lists(st.dictionaries(st.sampled_from(["role", "content"]), json_values,
                                    max_size=2), max_size=6)


@st.composite
def conversations(draw: st.DrawFn) -> list[Json]:
    """Requests of which each goes on from an earlier one, or changes it somewhere."""
    lists: list[list[Any]] = [draw(messages)]
    for _ in range(draw(st.integers(0, 5))):
        base = draw(st.sampled_from(lists))
        cut = draw(st.integers(0, len(base)))
        lists.append([*base[:cut], *draw(messages), *draw(st.sampled_from([[], base[cut + 1:]]))])
    key = draw(st.sampled_from(["messages", "input", "other"]))
    return [{"model": "x", key: values, "rest": draw(json_values)} for values in lists]


@given(conversations())
def test_tables_are_rebuilt_exactly(bodies: list[Json]) -> None:
    data = written(*copy.deepcopy(bodies))
    assert all(map(same, bodies_of(data), bodies))


@given(conversations(), st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
       st.booleans())
def test_request_texts_are_rebuilt_exactly(bodies: list[Json], separators: tuple[str, str],
                                           ascii_only: bool) -> None:
    texts = [json.dumps(body, separators=separators, ensure_ascii=ascii_only)
             .encode("utf-8", "replace") for body in bodies]
    data = written(*texts)
    assert all(map(same, bodies_of(data), map(json.loads, texts)))


def test_tables_and_texts_of_one_run_share_their_content() -> None:
    body = {"messages": history(3), "model": "x"}
    data = written(body, json.dumps(body).encode())
    assert data.count(b'"result 2"') == 1
    assert bodies_of(data) == [body, body]


def test_a_message_changed_in_place_is_seen() -> None:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("test")
    messages = history(3)
    writer.model_called("m1", "openai.chat", {"messages": messages})
    messages[2]["content"] = "[cut]"
    messages[1]["tool_calls"][0]["function"]["arguments"] = True
    writer.model_called("m2", "openai.chat", {"messages": messages})
    messages[1]["tool_calls"][0]["function"]["arguments"] = 1
    writer.model_called("m3", "openai.chat", {"messages": messages})
    first, second, third = bodies_of(b"".join(lines))
    assert same(first["messages"], history(3))
    assert second["messages"][2]["content"] == "[cut]"
    assert second["messages"][1]["tool_calls"][0]["function"]["arguments"] is True
    assert same(third["messages"], messages)


class Reply:
    """An object of a library, such as users put into their messages."""

    def __init__(self, content: str) -> None:
        self.content = content

    def model_dump(self, *, mode: str, exclude_unset: bool) -> Json:
        return {"role": "assistant", "content": self.content}


def test_objects_of_libraries_stand_as_the_tables_they_dump() -> None:
    reply = Reply("Hello")
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("test")
    writer.model_called("m1", "openai.chat", {"messages": [reply]})
    writer.model_called("m2", "openai.chat", {"messages": [reply, {"role": "user"}]})
    reply.content = "changed"
    writer.model_called("m3", "openai.chat", {"messages": [reply]})
    first, second, third = (body["messages"] for body in bodies_of(b"".join(lines)))
    assert first == second[:1] == [{"role": "assistant", "content": "Hello"}]
    assert third == [{"role": "assistant", "content": "changed"}]
    assert b'"after":0' in b"".join(lines)  # the second list begins with the first


@pytest.mark.parametrize("as_text", [False, True])
def test_a_file_grows_with_what_is_new(as_text: bool) -> None:
    def size(steps: int) -> int:
        messages = history(steps)
        bodies = [{"messages": messages[:1 + 2 * step], "tools": [{"name": "t" * 100}]}
                  for step in range(steps)]
        return len(written(*(json.dumps(body).encode() if as_text else body
                             for body in bodies)))

    assert size(400) - size(200) < 1.1 * (size(200) - size(0))


@pytest.mark.parametrize("as_text", [False, True])
def test_a_marker_that_moves_with_the_last_message_does_not_make_it_quadratic(
        as_text: bool) -> None:
    """Anthropic's cache_control stands in the last message and leaves it in the next request."""
    bodies = []
    for step in range(1, 100):
        messages = history(step)
        messages[-1]["cache_control"] = {"type": "ephemeral"}
        bodies.append({"messages": messages, "model": "x"})
    data = written(*(json.dumps(body).encode() if as_text else body for body in bodies))
    longest = max(len(json.loads(line).get("items", [])) for line in data.splitlines())
    assert longest <= 5
    assert bodies_of(data) == bodies


def test_unwritable_values_leave_a_mark_and_are_told() -> None:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("test")
    circle: list[Any] = []
    circle.append(circle)
    writer.model_called("m1", "openai.chat", {"messages": [{"role": "user", "content": object()}],
                                              "seed": float("nan"), "stop": circle})
    (body,) = bodies_of(b"".join(lines))
    assert body["messages"][0]["content"] == "[not recorded: object]"
    assert body["seed"] == "[not recorded: NaN]"
    assert sorted(writer.lost) == ["NaN", "list", "object"]


def test_a_run_tells_its_calls() -> None:
    run = read(written({"model": "a", "messages": history(1)}, {"model": "b", "messages": []}))
    assert [(call.id, call.number, call.model, call.state) for call in run.calls()] == [
        ("m1", 1, "a", "answered"), ("m2", 2, "b", "answered")]
    assert run.call("last") == run.call(2) == run.call("m2") == run.call("2")
    assert run.decision(run.call(1)) == REPLY
    assert run.reply(run.call(1)) == REPLY
    assert (run.name, run.state, run.notes) == ("test", "completed", ())


@pytest.mark.parametrize(("word", "said"), [
    ("m11", "did you mean 'm1'"), ("0", "calls: m1 to m2, or 1 to 2"), ("", "calls: m1 to m2")])
def test_a_call_that_is_not_there_is_named(word: str, said: str) -> None:
    run = read(written({"messages": []}, {"messages": []}))
    with pytest.raises(RecordError, match=said) as caught:
        run.call(word)
    assert caught.value.code == "RUN_CALL"


def test_a_last_line_cut_off_anywhere_costs_only_that_line() -> None:
    data = written({"messages": history(1)})
    last = data.rstrip(b"\n").rindex(b"\n") + 1
    for end in range(last + 1, len(data) - 1):
        run = read(data[:end])
        assert run.state == "open"
        (note,) = run.notes
        assert "the last line is cut off" in note
        assert bodies_of(data[:end]) == [{"messages": history(1)}]
    assert read(data[:-1]).notes == ()  # whole, but for the line feed


BAD = [
    (b"{oops", "RUN_SYNTAX", "not JSON"),
    (b"\xff{}", "RUN_ENCODING", "invalid byte at 0"),
    (b"[" * 100_000, "RUN_SYNTAX", "too deep"),
    (b"[]", "RUN_SHAPE", "expected a table, found a list"),
    (b'{"x":1}', "RUN_SHAPE", "neither an event"),
    (b'{"item":"3","value":1}', "RUN_SHAPE", "item: item: expected a whole number, found '3'"),
    (b'{"item":true,"value":1}', "RUN_SHAPE", "found True"),
    (b'{"item":0,"value":1}', "RUN_DUPLICATE", "item 0 stands twice"),
    (b'{"item":9}', "RUN_SHAPE", "value is missing"),
    (b'{"list":0,"items":[]}', "RUN_DUPLICATE", "list 0 stands twice"),
    (b'{"list":9,"items":[77]}', "RUN_UNKNOWN_ID", "item 77"),
    (b'{"list":9,"items":["0"]}', "RUN_SHAPE", "'0', not only whole numbers"),
    (b'{"list":9,"items":[],"after":9}', "RUN_UNKNOWN_ID", "begins with list 9"),
    (b'{"seq":99,"kind":"model_caled"}', "RUN_KIND", "unknown event 'model_caled'"),
    (b'{"seq":99,"kind":7}', "RUN_KIND", "unknown event 7"),
    (b'{"seq":"99","kind":"hook"}', "RUN_SHAPE", "hook: seq: expected a whole number"),
    (b'{"seq":0,"kind":"hook"}', "RUN_DUPLICATE", "seq 0 comes after"),
    (b'{"seq":99,"kind":"model_called","call":"m8","dialect":"openai.chat"}', "RUN_SHAPE",
     "body is missing"),
    (b'{"seq":99,"kind":"model_called","call":"m1","dialect":"openai.chat","body":{}}',
     "RUN_DUPLICATE", "'m1' stands twice"),
    (b'{"seq":99,"kind":"model_called","call":"m8","dialect":"openai.chta","body":{}}',
     "RUN_DIALECT", "did you mean 'openai.chat'"),
    (b'{"seq":99,"kind":"model_called","call":"m8","dialect":"openai.chat","body":{"a":null},'
     b'"lists":{"a":77}}', "RUN_UNKNOWN_ID", "a is list 77"),
    (b'{"seq":99,"kind":"model_called","call":"m8","dialect":"openai.chat","body":{"a":null},'
     b'"items":{"a":"0"}}', "RUN_SHAPE", "items.a: expected a whole number"),
    (b'{"seq":99,"kind":"model_responded","call":"m7","decision":{}}', "RUN_UNKNOWN_ID",
     "no model call 'm7'"),
    (b'{"seq":99,"kind":"model_responded","call":"m1","decision":{}}', "RUN_DUPLICATE",
     "has ended before"),
    (b'{"seq":99,"kind":"tool_finished","call":"t7"}', "RUN_UNKNOWN_ID", "no tool call 't7'"),
    (b'{"seq":99,"kind":"tool_started","call":7,"tool":"x"}', "RUN_SHAPE", "call: expected a text"),
]


@pytest.mark.parametrize(("line", "code", "said"), BAD, ids=[code + said for _, code, said in BAD])
def test_a_bad_line_is_named_and_can_be_left_out(line: bytes, code: str, said: str) -> None:
    lines = written({"messages": history(1)}).splitlines()
    middle = len(lines) - 1  # before run_finished
    data = b"\n".join([*lines[:middle], line, b'{"seq":100,"kind":"claim","text":"x"}']) + b"\n"
    with pytest.raises(RecordError) as caught:
        read(data)
    assert caught.value.code == code
    assert caught.value.message.startswith(f"run.jsonl:{middle + 1}: ")
    assert said in str(caught.value)
    assert "--skip-bad-lines" in caught.value.hint
    run = read(data, skip_bad=True)
    gap = code == "RUN_UNKNOWN_ID" and b'"list' in line  # content may be missing then
    assert len(run.notes) == (0 if gap else 1)
    assert [event["kind"] for event in run.events()][-1] == "claim"


def test_a_request_whose_content_was_left_out_says_so_and_others_can_be_read() -> None:
    data = written({"messages": history(1)}, {"messages": [{"role": "user", "content": "Hi"}]})
    lines = data.splitlines(keepends=True)
    lost = next(n for n, line in enumerate(lines) if b"result 0" in line)
    run = read(b"".join([*lines[:lost], b"oops\n", *lines[lost + 1:]]), skip_bad=True)
    assert len(run.notes) == 1
    assert [run.decision(call) for call in run.calls()] == [REPLY, REPLY]
    with pytest.raises(RecordError, match="item 2 of this request is missing"):
        run.body(run.call(1))
    assert run.body(run.call(2)) == {"messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(("data", "code"), [
    (b"", "RUN_EMPTY"), (b" \n\n", "RUN_EMPTY"), (b"\xef\xbb\xbf{}", "RUN_ENCODING"),
    ("{}".encode("utf-16"), "RUN_ENCODING"), ("{}".encode("utf-16-le"), "RUN_ENCODING"),
    (b'{"resourceSpans":[]}', "RUN_FORMAT"), (b'{"item":0,"value":1}\n', "RUN_FORMAT"),
    (b'{"seq":0,"kind":"run_started","schema":"other/1","name":""}\n', "RUN_FORMAT"),
    (b'{"seq":0,"kind":"run_started', "RUN_SYNTAX")])
def test_what_is_no_run_is_refused_as_what_it_is(data: bytes, code: str) -> None:
    with pytest.raises(RecordError) as caught:
        read(data)
    assert caught.value.code == code
    assert caught.value.message.startswith("run.jsonl")


def test_times_stand_apart_from_what_happened() -> None:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("test", clock={"at": 1.5})
    (line,) = lines
    assert json.loads(line) == {"seq": 0, "kind": "run_started", "schema": "agentrunproof/run/1",
                                "name": "test", "clock": {"at": 1.5}}


@pytest.mark.parametrize(("dialect", "reply", "decision"), [
    ("openai.chat", {"choices": [{"message": {"content": "a", "refusal": None, "tool_calls": [
        {"id": "1", "function": {"name": "f", "arguments": '{"x": 1}'}}]}}]},
     {"tool_calls": [{"id": "1", "name": "f", "arguments": {"x": 1}}], "text": "a"}),
    ("openai.chat", {"choices": [{"message": {"content": None, "tool_calls": [
        {"id": "1", "function": {"name": "f", "arguments": "no json"}}]}}]},
     {"tool_calls": [{"id": "1", "name": "f", "arguments": "no json"}], "text": ""}),
    ("openai.responses", {"text": {"format": {"type": "text"}}, "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": ""}]},
     {"tool_calls": [{"id": "1", "name": "f", "arguments": {}}], "text": "a"}),
    ("anthropic.messages", {"content": [
        {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "1", "name": "f", "input": {"x": 1}}]},
     {"tool_calls": [{"id": "1", "name": "f", "arguments": {"x": 1}}], "text": "a"}),
    ("openai.chat", "just text", {"tool_calls": [], "text": "just text"}),
    ("openai.chat", {"text": None, "tool_calls": [{"name": "f"}]},
     {"tool_calls": [{"id": "", "name": "f", "arguments": {}}], "text": ""}),
    *((name, reply, {"tool_calls": [], "text": ""}) for name in dialects.NAMES
      for reply in (None, {}, [], {"choices": 1, "output": 2, "content": 3},
                    {"choices": [{}], "output": [1], "content": [None]}))])
def test_replies_are_decisions(dialect: str, reply: Any, decision: Json) -> None:
    assert dialects.decision(dialect, reply) == decision


ODD_VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text()
                          | st.sampled_from(["{", '{"a": NaN}', "[" * 2000, "function_call",
                                             "tool_use", "text", "message", "custom_tool_call"]),
                          lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                              st.sampled_from([
                                  "choices", "message", "tool_calls", "function", "custom", "name",
                                  "arguments", "id", "content", "text", "type", "input", "output",
                                  "call_id", "function_call", "refusal"]), inner, max_size=4),
                          max_leaves=12)


@pytest.mark.parametrize("dialect", dialects.NAMES)
@given(inner=ODD_VALUES)
def test_whatever_is_replied_gives_a_decision(dialect: str, inner: Any) -> None:
    shells = {"openai.chat": {"choices": [{"message": {
                  "content": inner, "tool_calls": [inner, {"function": inner}],
                  "function_call": inner}}]},
              "openai.responses": {"output": [
                  inner, *({"type": kind, "content": [inner], "name": inner, "call_id": inner,
                            "arguments": inner} for kind in ("message", "function_call",
                                                             "custom_tool_call"))]},
              "anthropic.messages": {"content": [
                  inner, *({"type": kind, "text": inner, "input": inner, "id": inner}
                           for kind in ("tool_use", "text"))]}}
    for reply in (inner, shells[dialect], {"tool_calls": inner, "text": inner}):
        decided = dialects.decision(dialect, reply)
        assert decided.keys() == {"tool_calls", "text"}
        assert isinstance(decided["text"], str)
        for call in decided["tool_calls"]:
            assert call.keys() == {"id", "name", "arguments"}
            assert isinstance(call["id"], str)
            assert isinstance(call["name"], str)


def test_what_a_tool_gave_is_kept_when_it_is_nothing() -> None:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("")
    outputs: list[Any] = [None, "", 0, False, [], {}]
    for number, output in enumerate(outputs):
        writer.event("tool_started", call=f"t{number}", tool="", agent="", arguments={})
        writer.event("tool_finished", call=f"t{number}", output=output)
    writer.model_called("m1", "openai.chat", {"messages": []})
    writer.model_responded("m1", None)
    run = read(b"".join(lines))
    ended = [event for event in run.events() if event["kind"] == "tool_finished"]
    assert [event["output"] for event in ended] == outputs
    assert not any("agent" in event for event in run.events())
    assert run.name == ""
    assert run.decision(run.call(1)) == {"tool_calls": [], "text": ""}


def test_lists_that_begin_with_each_other_are_missing_and_not_endless() -> None:
    data = (b'{"seq":0,"kind":"run_started","schema":"agentrunproof/run/1","name":"x"}\n'
            b'{"list":0,"items":[],"after":1}\n{"list":1,"items":[],"after":0}\n'
            b'{"seq":1,"kind":"model_called","call":"m1","dialect":"openai.chat",'
            b'"body":{"messages":null},"lists":{"messages":1}}\n')
    run = read(data, skip_bad=True)
    with pytest.raises(RecordError, match="of this request is missing"):
        run.body(run.call(1))


def test_a_large_file_is_read_in_linear_time_and_lazily() -> None:
    data = written({"messages": [{"role": "user", "content": "x" * 5000 + str(number)}
                                 for number in range(2000)]})
    begun = time.process_time()
    run = read(data)
    assert time.process_time() - begun < 2.0  # 10 MB: a tenth of that on an idle machine
    assert len(run.body(run.call(1))["messages"]) == 2000


@given(sizes=st.lists(st.integers(0, 6), max_size=6))
def test_beginnings_of_one_list_are_read_back_though_nothing_of_them_is_compared(
        sizes: list[int]) -> None:
    class Odd(dict[str, Any]):
        __hash__ = None

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

    whole = [Odd(role="user", content=str(number % 4)) for number in range(6)]
    made = [{"model": "x", "messages": Beginning(whole, size)} for size in sizes]
    assert [body["messages"] for body in bodies_of(written(*made))] == [
        [dict(one) for one in whole[:size]] for size in sizes]


@pytest.mark.parametrize("lines", [
    b'{"seq":0,"kind":"run_started","schema":"agentrunproof/run/1","name":"a"},{"seq":1}\n',
    b'{"a":[{}\n{}]},{}\n',
    b'{"a":[{}\n,NaN,\n{}]},{}\n',
    b'{"a":[{},NaN,{}]}\n{},NaN,{}\n',
    b'{"a":1},{"b":\n2}\n',
])
def test_lines_that_are_values_only_together_are_none(lines: bytes) -> None:
    assert [value for _, _, value in json_lines.lines(lines)][:1] == [None]


@given(values=st.lists(json_values, min_size=1, max_size=8), sep=st.sampled_from(["\n", "\r\n"]))
def test_lines_read_at_once_are_what_each_of_them_says(values: list[Any], sep: str) -> None:
    data = "".join(json.dumps(value) + sep for value in values).encode()
    found = list(json_lines.lines(data))
    assert all(same(value, expected) for (_, _, value), expected in zip(found, values, strict=True))
    assert [json.loads(data[start:end]) for start, end, _ in found] == values


def test_of_several_runs_in_one_file_each_is_taken_by_what_it_was_called() -> None:
    first, second = (written({"model": "x", "messages": [{"role": "user", "content": said}]})
                     for said in ("one", "two"))
    both = first + second.replace(b'"name":"test"', b'"name":"other"') + second
    with pytest.raises(RecordError, match=r"holds 3 runs: test, other, test#2 .*--run ID") as told:
        read(both)
    assert told.value.code == "RUN_SEVERAL"
    for run, said in (("test", "one"), ("other", "two"), ("test#2", "two")):
        found = run_reader.read(both, "run.jsonl", run=run)
        assert found.body(found.call(1))["messages"][0]["content"] == said
    assert run_reader.read(first, "run.jsonl", run="test").name == "test"
    with pytest.raises(RecordError, match=r"there is no run 'tset'.*did you mean 'test'"):
        run_reader.read(first, "run.jsonl", run="tset")


def test_a_bad_line_of_a_later_run_is_named_by_its_place_in_the_file() -> None:
    first = written({"model": "x"})
    place = first.count(b"\n") + 2
    second = first.replace(b'"name":"test"', b'"name":"b"').replace(b"\n", b"\n{broken}\n", 1)
    with pytest.raises(RecordError, match=f"run.jsonl:{place}: not JSON"):
        run_reader.read(first + second, "run.jsonl", run="b")


def test_tool_calls_that_are_inside_of_one_another_are_told() -> None:
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("test")
    writer.event("tool_started", call="a", tool="x", parent="b")
    writer.event("tool_started", call="b", tool="x", parent="a")
    assert read(b"".join(lines)).notes == (
        "parents go round in a circle: a in b; what is inside of what is told without that",)
