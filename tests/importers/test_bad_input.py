"""Files that cannot be imported: each is refused in one line that names file, place and remedy."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from agentrunproof.cli import commands, exits
from agentrunproof.errors import AgentRunProofError, RecordError
from agentrunproof.importers import detect

SAMPLES = Path(__file__).parent / "samples"
CHAT = (SAMPLES / "chat_request.json").read_bytes()
LINES = (SAMPLES / "chat_exchanges.jsonl").read_bytes()
OTLP = (SAMPLES / "openinference.json").read_bytes()


def lines_of(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.mark.parametrize(("data", "code", "words"), [
    (b"", "IMPORT_EMPTY", "x.json: empty"),
    (b" \n\n", "IMPORT_EMPTY", "x.json: empty"),
    (b"\xef\xbb\xbf" + CHAT, "IMPORT_ENCODING", "byte order mark"),
    (CHAT.decode().encode("utf-16"), "IMPORT_ENCODING", "UTF-16"),
    (CHAT.replace(b"harbour", b"h\xff"), "IMPORT_ENCODING", "x.json:11: not UTF-8"),
    (LINES.replace(b'"id": "b"', b'"id": "\xff"'), "IMPORT_ENCODING", "x.json:2: not UTF-8"),
    (CHAT[:-40], "IMPORT_SYNTAX", "it is cut off"),
    (CHAT.replace(b'"model":', b'"model"'), "IMPORT_SYNTAX", "x.json:2: not JSON: Expecting ':'"),
    (LINES.replace(b'{"id": "a"', b'{"id" "a"') + LINES, "IMPORT_SYNTAX", "x.json:1: not JSON"),
    (LINES + b"{broken}\n" + LINES, "IMPORT_SYNTAX", "x.json:3: not JSON"),
    (b'{"messages": NaN}', "IMPORT_SYNTAX", "NaN is no number of JSON"),
    (b"[" * 100_000, "IMPORT_SYNTAX", "not JSON"),
    (b"42", "IMPORT_FORMAT", "it holds 42"),
    (b"[]", "IMPORT_FORMAT", "it holds an empty list"),
    (b'{"steps": []}', "IMPORT_FORMAT", "otlp: neither resourceSpans nor a span"),
    (b'{"resource_span": []}', "IMPORT_FORMAT", "nearest: otlp, with 'resourceSpans'"),
    (b'{"choices": [{"message": {}}]}', "IMPORT_FORMAT", "a reply without its request"),
    (b'{"messages": [{"role": "user"}, 5]}', "IMPORT_SHAPE",
     "x.json: messages[1]: expected a message, found 5"),
    (b'{"messages": [{"role": "user"}, {"role": "boss"}]}', "IMPORT_SHAPE",
     "messages[1]: unknown role 'boss'"),
    (b'{"messages": [{"role": "user"}, {"content": ""}]}', "IMPORT_SHAPE",
     "messages[1]: role is missing"),
    (OTLP.replace(b'"spanId": "b2"', b'"spanId": "b1"'), "IMPORT_DUPLICATE",
     "span b1 stands twice"),
    (OTLP.replace(b'"1767225601000000000"', b'"yesterday"', 1), "IMPORT_SHAPE",
     "spans[0]: not a time: 'yesterday'"),
    (b'[{"name": "x", "spanId": "1", "attributes": 7}]', "IMPORT_SHAPE",
     "[0]: attributes: expected a table or a list"),
    (OTLP.replace(b'"1767225601000000000"', b"true", 1), "IMPORT_SHAPE", "not a time: True"),
    (OTLP.replace(b'"1767225601000000000"', b'"2026-02-30T00:00:00Z"', 1), "IMPORT_SHAPE",
     "not a time: '2026-02-30T00:00:00Z'"),
    (OTLP.replace(b'"1767225601000000000"', b"1e999", 1), "IMPORT_SYNTAX", "1e999 is greater"),
    (b'{"resourceSpans": [3]}', "IMPORT_SHAPE", "resourceSpans[0]: expected a table, found 3"),
    (b'{"resourceSpans": []}', "IMPORT_FORMAT", "otlp: no spans in it"),
    (b'{"observations": [{"id": "1", "type": "SPAN", "startTime": ""}, 3]}', "IMPORT_SHAPE",
     "observations[1]: expected an observation"),
    (lines_of({"seq": 0, "kind": "run_startd"}), "RUN_KIND", "x.json:1: unknown event"),
])
def test_what_is_wrong_is_named(data: bytes, code: str, words: str) -> None:
    with pytest.raises(RecordError) as caught:
        detect.read(data, "x.json")
    assert caught.value.code == code
    assert words in str(caught.value)
    assert caught.value.hint
    assert len(str(caught.value).splitlines()) == 1


def test_a_last_line_that_was_cut_off_is_left_out_and_said() -> None:
    found = detect.read(LINES[:-30], "x.jsonl")
    assert found.model_calls == 1
    assert found.notes == (
        "x.jsonl:2: the last line is cut off; the trace is used up to there",)


def test_bad_lines_are_left_out_on_demand() -> None:
    first, second = LINES.splitlines(keepends=True)
    found = detect.read(first + b"{broken}\n" + second, "x.jsonl", skip_bad=True)
    assert found.model_calls == 2
    assert len(found.notes) == 1
    assert found.notes[0].startswith("left out: x.jsonl:2: not JSON")


def test_a_format_that_is_known_and_not_read_is_named() -> None:
    value = {"events": [{"eventId": "1", "eventType": "STARTED"}]}
    with pytest.raises(RecordError, match=r"x: this is a Temporal .*, which is not read") as caught:
        detect.read(lines_of(value), "x")
    assert caught.value.code == "IMPORT_FORMAT"


def test_an_unknown_format_is_told_with_the_nearest() -> None:
    with pytest.raises(RecordError, match="did you mean 'openai-chat'"):
        detect.read(CHAT, "x", "openai-chats")


def test_a_named_format_says_what_it_looked_for() -> None:
    with pytest.raises(RecordError, match=r"not langfuse: .*looked for observations"):
        detect.read(CHAT, "x", "langfuse")


def test_half_of_a_surrogate_pair_survives() -> None:
    found = detect.read(b'[{"role": "user", "content": "\\ud83d"}]', "x")
    assert found.model_calls == 1
    assert b"\\ud83d" in found.data


@pytest.mark.parametrize("make", [
    lambda path: None, lambda path: path.mkdir(), lambda path: path.write_bytes(b"")],
    ids=["missing", "directory", "empty"])
def test_the_command_refuses_in_one_line(make: Any, tmp_path: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.json"
    make(path)
    assert commands.run(["import", str(path), "-o", str(tmp_path / "run.jsonl")]) == exits.UNUSABLE
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert str(path) in said.err
    assert not (tmp_path / "run.jsonl").exists()


ODD: tuple[Any, ...] = (None, True, 0, -1.5, "", "{", "[1]", "x.y", [], [None], [[]], {}, {"a": 1},
                        [{"type": "text"}], [{"role": "user"}], {"role": "assistant"})


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a value with each of its keys."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += [(value, key), *places(value[key])]
    return found


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
def test_no_odd_value_anywhere_breaks_an_importer(name: str) -> None:
    """Odd values in the place of each value, also inside of texts that hold JSON."""
    whole = [json.loads(line) for line in (SAMPLES / name).read_text("utf-8").splitlines()] \
        if name.endswith("l") else [json.loads((SAMPLES / name).read_text("utf-8"))]
    random_ = random.Random(name)
    count = len(places(whole))
    refused: list[str] = []
    for _ in range(150):
        changed = copy.deepcopy(whole)
        holder, key = places(changed)[random_.randrange(count)]
        value = holder[key]
        odd = random_.choice(ODD)
        if isinstance(value, str) and value[:1] in "[{" and value:
            inner = json.loads(value)
            within = places(inner)
            if within:
                at, name_ = random_.choice(within)
                at[name_] = odd
                odd = json.dumps(inner)
        holder[key] = odd
        try:
            detect.read(lines_of(*changed), "x")
        except AgentRunProofError as error:
            refused.append(str(error))
    assert len(refused) < 150
    assert [told for told in refused if len(told.splitlines()) != 1] == []
