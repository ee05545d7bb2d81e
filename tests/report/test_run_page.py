"""What the page of a run holds; what it does is in test_run_page_in_a_browser."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.record import run_reader
from agentrunproof.record.run_writer import RunWriter
from agentrunproof.report import run as report
from agentrunproof.report import run_page
from tests.report import recorded
from tests.report.recorded import CAUSE, LOOKED, everything, found, long, written
from tests.report.test_page import Elements, data_of


def table(*findings: Any) -> Any:
    return data_of(run_page.render(everything(), findings))


def texts(data: Any, number: int) -> list[str]:
    return [block.get("text", "") for block in data["messages"][number]["blocks"]]


def test_the_timeline_has_all_calls_in_their_order_with_how_long_they_took() -> None:
    data = table()
    named = {"m": [call["id"] for call in data["calls"]],
             "t": [tool["id"] for tool in data["tools"]]}
    assert [(named[kind][number], took) for kind, number, took in data["rows"]] == [
        ("m1", 2.0), ("t1", 0.75), ("m2", 0.5), ("m3", None), ("t2", None), ("m4", None)]
    assert data["calls"][1]["tokens"] == [1200, 7]


def test_a_message_stands_once_and_a_request_says_what_it_adds() -> None:
    data = table()
    first, _, third, _ = data["calls"]
    assert (first["before"], first["keep"], len(first["add"])) == (None, 0, 2)
    assert (third["before"], third["keep"], len(third["add"])) == (0, 2, 2)
    assert texts(data, third["add"][1]) == [LOOKED["content"]]
    assert first["toolset"] == third["toolset"]


def test_every_kind_of_text_in_every_dialect_is_there() -> None:
    data = table()
    kinds = {(message["role"], block["kind"], block.get("name", ""), block.get("id", ""))
             for message in data["messages"] for block in message["blocks"]}
    assert kinds >= {
        ("system", "text", "", ""), ("user", "text", "", ""), ("user", "other", "", ""),
        ("assistant", "call", "look", "c1"), ("tool", "result", "", "c1"),
        ("assistant", "reasoning", "", ""), ("assistant", "call", "open", "u1"),
        ("user", "result", "", "u1"), ("reasoning", "reasoning", "", ""),
        ("function_call", "call", "pay", "f1"), ("function_call_output", "result", "", "f1")}


def test_a_cause_is_told_with_its_rates_and_with_its_place_in_the_request() -> None:
    data = table(("m3", found()))
    (told,) = data["calls"][2]["findings"]
    (claim,) = told["claims"]
    assert told["status"] == "CAUSE"
    assert [text for _, text in claim["quotes"]] == [CAUSE]
    assert (claim["with"]["hits"], claim["without"]["hits"]) == (1, 0)
    ((path, start, end),) = claim["spans"]
    assert path == ["messages", 3, "content"]
    assert LOOKED["content"][start:end] == CAUSE.replace('"', '\\"')


def test_nothing_in_a_run_becomes_an_element() -> None:
    hostile = Elements(run_page.render(everything(), [("m3", found())]))
    harmless = Elements(run_page.render(written(lambda writer: None)))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in harmless.tags]
    assert "innerHTML" not in hostile.texts["script"][1]


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_comes_back_as_it_was(text: str, number: float) -> None:
    def write(writer: RunWriter) -> None:
        writer.model_called("m1", "openai.chat", {"messages": [{"role": "user", "content": text}],
                                                  "temperature": number})
        writer.model_responded("m1", {"text": text, "tool_calls": []}, clock={"took": number})

    page = run_page.render(written(write))
    assert page.count("<script") == 2
    data = data_of(page)
    assert texts(data, data["calls"][0]["add"][0]) == [text]
    assert data["calls"][0]["decision"]["text"] == text


def test_a_very_long_text_is_shown_without_its_middle_and_says_so() -> None:
    def write(writer: RunWriter) -> None:
        writer.model_called("m1", "openai.chat", {"messages": [
            {"role": "user", "content": "a" * 30_000 + "z" * 30_000}]})

    data = data_of(run_page.render(written(write)))
    (text,) = texts(data, 0)
    assert len(text) < run_page.MOST + 100
    assert text[0] + text[-1] == "az"
    assert "40,000 characters are not shown here" in text


def test_a_page_of_a_thousand_calls_grows_with_what_is_new() -> None:
    run = long(1000)
    size = len(run_page.render(run).encode())
    whole = sum(len(str(run.body(run.call(n)))) for n in (250, 500, 750, 1000)) * 250
    assert size < 2_500_000 < whole


def test_a_request_that_stood_in_lines_that_were_left_out_is_said_to_be_lost() -> None:
    lines = recorded.content(recorded.write_everything).splitlines(keepends=True)
    lines[next(n for n, line in enumerate(lines)
               if line.startswith(b'{"item"') and b"Whoever reads" in line)] = b"{torn\n"
    run = run_reader.read(b"".join(lines), "torn.jsonl", skip_bad=True)
    calls = data_of(run_page.render(run))["calls"]
    assert ["lost" in call for call in calls] == [False, False, True, False]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["role", "type", "content", "tool_calls", "function", "arguments", "text", "output", "name",
         "input", "tool_use", "tool_result", "id", "summary", "call_id"]), inner, max_size=4),
    max_leaves=12)


@given(st.sampled_from(["openai.chat", "openai.responses", "anthropic.messages"]),
       st.dictionaries(st.sampled_from(["messages", "input", "system", "instructions", "tools",
                                        "model", "stop"]), JSON))
def test_a_request_of_any_form_is_shown(dialect: str, body: dict[str, Any]) -> None:
    def write(writer: RunWriter) -> None:
        writer.model_called("m1", dialect, body)

    run = written(write)
    assert len(data_of(run_page.render(run))["calls"]) == 1
    assert report.call_lines(run, run.call("m1"))
