"""Labelled sets: whose labels count from where, what cannot be scored, and that a run of a set is
read as `localize` reads the user's own file of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrunproof.cli import commands, exits
from agentrunproof.errors import RecordError
from agentrunproof.localize import datasets, ranking
from agentrunproof.localize.trace import Trace
from agentrunproof.report import localize_bench as report

TALK = [("human", "What is left?"), ("Keeper (-> Clerk)", "Please count."),
        ("Clerk", "```python\nprint(11)\n```"), ("Computer_terminal", "exitcode: 1 (failed)\n"),
        ("Clerk", "There are 11.")]
WHO: dict[str, Any] = {"question_ID": "q-1", "mistake_step": "2", "mistake_agent": "Clerk",
                       "history": [{"role": name, "content": text} for name, text in TALK]}
STEPS: dict[str, Any] = {"id": "s-1", "onset": 2, "agent": "Clerk",
         "steps": [{"agent": name, "kind": name, "text": text} for name, text in TALK]}
MESSAGES = {"id": "m-1", "onset": 1, "messages": [
    {"role": "user", "content": "Cancel 7."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {
            "name": "cancel_order", "arguments": '{"order": 7}'}}]},
    {"role": "tool", "tool_call_id": "c", "name": "cancel_order", "content": "done"}]}
RX: dict[str, Any] = {"trajectory_id": "tau_retail_7", "steps": [
    {"index": number, "substeps": [{"sub_index": 1, "role": role, "content": text}]}
    for number, (role, text) in enumerate([("system", "Policy."), ("user", "Hi"),
                                           ("assistant", "Hello"), ("user", "Bye")], 1)]}
RX_LABEL = {"trajectory_id": "7", "root_cause_failure_id": "2", "failures": [
    {"failure_id": "1", "step_number": 4, "failed_agent": "User"},
    {"failure_id": "2", "step_number": 3, "failed_agent": "Assistant"}]}


def span(id: str, at: int, kind: str, *inner: dict[str, Any]) -> dict[str, Any]:
    said = {"LLM": {"input.value": "Hi", "output.value": f"Hello {id}"},
            "TOOL": {"tool.name": id, "output.value": "done"}}.get(kind, {})
    return {"span_id": id, "span_name": id, "timestamp": f"2026-01-01T00:00:{at:02}Z",
            "span_attributes": {"openinference.span.kind": kind, **said},
            "child_spans": list(inner)}


TRAIL = {"trace_id": "t-1", "spans": [span("main", 0, "AGENT", span(
    "one", 1, "CHAIN", span("ask", 1, "LLM"), span("look", 2, "TOOL")), span(
    "two", 3, "CHAIN", span("again", 3, "LLM")), span("nothing", 4, "CHAIN"))]}
RUNOPSY = {"name": "r-1", "deterministically_detectable": False, "onset_step": 3, "events": [
    {"run_id": "r", "sequence": 0, "kind": "run_start", "run": {"task": "Count."}},
    {"run_id": "r", "sequence": 3, "kind": "tool_call", "tool": {"name": "look", "status": "ok"}},
    {"run_id": "r", "sequence": 5, "kind": "tool_call", "tool": {"name": "x", "status": "ok"}}]}


def rows(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def case(value: Any) -> datasets.Case:
    found, = datasets.read(rows(value), "x.jsonl")
    return found


def meant(found: datasets.Case) -> str:
    """What the step says that is labelled."""
    step, = (step for step in found.steps if step.number == found.onset)
    return step.output or step.input


def test_each_message_of_a_talk_is_one_step() -> None:
    found = case(WHO).steps
    assert [(step.number, step.kind, step.agent, step.asked_by) for step in found] == [
        (1, "start", "", None), (2, "input", "human", None), (3, "handoff", "Keeper", None),
        (4, "answer", "Clerk", None), (5, "tool", "", 4), (6, "answer", "Clerk", None),
        (7, "end", "", None)]
    assert found[4].error == "exited with 1"


def test_chat_messages_are_steps_with_their_calls() -> None:
    found = case(MESSAGES).steps
    assert [(step.kind, step.tool, step.input) for step in found[1:4]] == [
        ("input", "", "Cancel 7."), ("answer", "", ""),
        ("tool", "cancel_order", '{"order": 7}')]
    assert found[3].asked_by == 3


def test_in_a_talk_without_people_the_first_message_is_the_task() -> None:
    found = case({**WHO, "history": WHO["history"][1:], "mistake_step": "0"})
    assert [step.kind for step in found.steps] == [
        "start", "input", "answer", "tool", "answer", "end"]
    assert meant(found) == "Please count."


@pytest.mark.parametrize(("value", "labelled", "agent", "failed"), [
    (WHO, TALK[2][1], "Clerk", True), ({**WHO, "mistake_step": 0}, TALK[0][1], "Clerk", True),
    (STEPS, TALK[2][1], "Clerk", True), (MESSAGES, '\ncancel_order({"order": 7})', "", True),
    ({**RX, **RX_LABEL}, "Hello", "Assistant", True)])
def test_labels_count_messages_from_0_and_agentrx_steps_from_1(
        value: Any, labelled: str, agent: str, failed: bool) -> None:
    found = case(value)
    assert (meant(found), found.agent, found.failed) == (labelled, agent, failed)


def test_runopsy_counts_by_the_numbers_of_its_events() -> None:
    found = case(RUNOPSY)
    step, = (step for step in found.steps if step.number == found.onset)
    assert (step.tool, found.failed, found.detectable) == ("look", False, False)


@pytest.mark.parametrize("value", [
    {**STEPS, "onset": None}, {**RUNOPSY, "onset_step": None},
    {**WHO, "mistake_step": None, "is_correct": True},
    {"trace": json.dumps(TRAIL), "labels": '{"errors": []}'}])
def test_a_healthy_run_has_no_onset(value: Any) -> None:
    found = case(value)
    assert (found.onset, found.failed) == (None, False)


@pytest.mark.parametrize(("locations", "says"), [
    (["look"], "look"), (["again", "ask"], "Hello ask"),  # the earliest of the run
    (["two"], "Hello again"), (["main"], "Hello ask")])  # the first step in a chain or agent
def test_trail_labels_spans_and_the_earliest_is_the_onset(locations: list[str], says: str) -> None:
    labels = {"errors": [{"location": one, "category": "x", "impact": "LOW"} for one in locations]}
    found = case({"trace": json.dumps(TRAIL), "labels": json.dumps(labels)})
    step, = (step for step in found.steps if step.number == found.onset)
    assert (step.tool or step.output) == says


def test_of_several_labels_those_at_no_step_are_told() -> None:
    found = datasets.read_all({"GAIA/t-1.json": rows(TRAIL), "annotations/t-1.json": rows(
        {"errors": [{"location": "nothing"}, {"location": "look"}], "scores": []})})
    assert [one.onset is not None for one in found.cases] == [True]
    assert found.notes == ("GAIA/t-1.json (t-1): 1 of 2 labels are at no step of it, such as "
                           "nothing",)


def test_trajectories_and_annotations_find_each_other_in_either_order() -> None:
    for files in ({"a": rows(RX), "b": rows(RX_LABEL)}, {"b": rows(RX_LABEL), "a": rows(RX)}):
        found = datasets.read_all(files)
        assert [(meant(one), one.name) for one in found.cases] == [("Hello", "7")]
        assert found.left == ()


def test_tau_bench_files_that_agentrx_numbered_are_trajectories_too() -> None:
    talk = [{"index": step["index"], "role": part["role"], "content": part["content"]}
            for step in RX["steps"] for part in step["substeps"]]
    found = datasets.read_all({"7.json": rows({"task_id": 7, "traj": talk, "reward": 0.0}),
                               "labels": rows(RX_LABEL)})
    assert [meant(one) for one in found.cases] == ["Hello"]


def test_of_several_substeps_the_labelled_agents_is_meant() -> None:
    step = {"index": 3, "substeps": [{"role": "Lead (thought)", "content": "Hm."},
                                     {"role": "Assistant", "content": "Hello there"}]}
    assert meant(case({**RX, **RX_LABEL, "steps": [*RX["steps"][:2], step]})) == "Hello there"
    other = {**RX_LABEL, "failures": [{"failure_id": "2", "step_number": 3}]}
    assert meant(case({**RX, **other, "steps": [*RX["steps"][:2], step]})) == "Hm."


@pytest.mark.parametrize(("value", "reason", "detail"), [
    ({**STEPS, "onset": 5}, "what is labelled is no step of the run", "index 5; it has 5 steps"),
    ({**STEPS, "onset": -1}, "what is labelled is no step of the run", "index -1; it has 5 steps"),
    ({**WHO, "mistake_step": "5"}, "what is labelled is no step of the run",
     "index 5; it has 5 steps"),
    ({**RX, **RX_LABEL, "failures": [{"failure_id": "2", "step_number": 0}]},
     "what is labelled is no step of the run", "index 0; it has 4 steps"),
    ({"trace": json.dumps(TRAIL), "labels": '{"errors": [{"location": "elsewhere"}]}'},
     "what is labelled is no step of the run", "span elsewhere; it has 4 steps"),
    ({**WHO, "mistake_step": ""}, "mistake_step is missing", ""),
    ({**STEPS, "onset": "two"}, "onset is no whole number: 'two'", ""),
    ({**STEPS, "onset": True}, "onset is no whole number: True", ""),
    ({**RX, **RX_LABEL, "root_cause_failure_id": "9"},
     "the root cause, failure 9, is none of its failures", ""),
    (RX, "no label", ""), (TRAIL, "no label", ""),
    (RX_LABEL, "a label without its trace", ""),
    ([1], "no labelled run of a known form", "")])
def test_what_cannot_be_scored_is_named_with_the_reason(value: Any, reason: str,
                                                        detail: str) -> None:
    found = datasets.read_all({"x.jsonl": rows(STEPS, value)})
    assert len(found.cases) == 1
    assert [(one.reason, one.detail) for one in found.left] == [(reason, detail)]
    told = " ".join(" ".join(report.left(found.left, ())).split())
    assert f"1: {reason}: {found.left[0].name} {detail}".strip() in told


def test_a_run_that_its_importer_refuses_is_named_with_what_it_says() -> None:
    found = datasets.read_all({"x.jsonl": rows(STEPS, {**STEPS, "id": "b", "steps": ["no"]})})
    assert [one.name for one in found.left] == ["x.jsonl:2 (b)"]
    assert "no known format" in found.left[0].reason


def test_labels_that_contradict_one_another_are_refused() -> None:
    other = {**RX_LABEL, "root_cause_failure_id": "1"}
    with pytest.raises(RecordError, match="run 7 is labelled twice, and differently"):
        datasets.read_all({"x": rows(RX, RX_LABEL, other)})


@pytest.mark.parametrize(("data", "code"), [
    (b"", "DATASET_EMPTY"), (b"[]", "DATASET_EMPTY"), (b"\xff\xfe", "DATASET_SYNTAX"),
    (b'{"a": 1}', "DATASET_FORMAT"), (b"{", "DATASET_SYNTAX"),
    (b'{"a": 1}\n{"b"', "DATASET_SYNTAX"),
    (b"[1]", "DATASET_FORMAT"), (b'{"steps": 3, "onset": 1}', "DATASET_FORMAT"),
    (b"PAR1, and no more", "DATASET_SYNTAX"), (rows({**STEPS, "onset": 9}), "DATASET_LABEL")])
def test_what_holds_no_labelled_run_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(RecordError) as refused:
        datasets.read(data, "x.jsonl")
    assert refused.value.code == code


def test_a_file_may_hold_a_list_lines_or_a_page_of_the_viewer() -> None:
    both = [STEPS, {**STEPS, "id": "s-2"}]
    page = {"features": [], "rows": [{"row_idx": at, "row": one} for at, one in enumerate(both)]}
    for data in (json.dumps(both).encode(), rows(*both), json.dumps(page).encode()):
        assert [one.name for one in datasets.read(data, "x")] == ["s-1", "s-2"]


def test_parquet_files_are_read() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    buffer = io.BytesIO()
    # as Hugging Face stores it: every message has all fields, those of others are null
    history = [{**one, "name": None} for one in WHO["history"]]
    parquet.write_table(pyarrow.Table.from_pylist([{**WHO, "history": history}]), buffer)
    found, = datasets.read(buffer.getvalue(), "x.parquet")
    assert found == case(WHO)


SPEAKERS = st.sampled_from(["human", "Keeper", "Clerk", "Keeper (-> Clerk)", "Keeper (thought)",
                            "Computer_terminal"])
TEXTS = st.sampled_from(["", "Count the ropes.", "exitcode: 1 (failed)\nError: no shop", "[]",
                         "```python\nprint(11)\n```", "There are 11 ropes.", "TERMINATE",
                         "Sorry, an error occurred: no such order."])


@settings(max_examples=20, deadline=None)
@given(talk=st.lists(st.tuples(SPEAKERS, TEXTS), min_size=1, max_size=9), data=st.data())
def test_localize_says_of_the_users_own_file_what_is_scored(
        talk: list[tuple[str, str]], data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    onset = data.draw(st.integers(0, len(talk) - 1))
    value = {"question_ID": "q", "mistake_step": str(onset), "mistake_agent": "Clerk",
             "history": [{"role": name, "content": text} for name, text in talk]}
    found = case(value)
    # each message is one step, whoever wrote it
    assert [step.number for step in found.steps if step.kind not in ("start", "end")] == list(
        range(2, len(talk) + 2))
    assert found.onset == onset + 2
    if all(step.kind in ("start", "end", "input") for step in found.steps):
        return  # nobody acted: localize refuses it
    folder = tmp_path_factory.mktemp("own")
    (folder / "own.json").write_text(json.dumps(value))
    out = folder / "record.json"
    code = commands.run(["localize", str(folder / "own.json"), "--failed", "-o", str(out)])
    said = json.loads(out.read_text())
    scored = ranking.localize(Trace(found.steps, failed=found.failed))
    assert code == (exits.OK if scored.suspects else exits.NOTHING)
    assert [(one["step"], one["score"]) for one in said["suspects"]] == [
        (one.step, one.score) for one in scored.suspects]


def test_a_folder_is_one_set_and_what_is_left_of_it_is_told(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Hand-Crafted").mkdir()
    (tmp_path / "Hand-Crafted" / "1.json").write_text(json.dumps(WHO))
    (tmp_path / "Hand-Crafted" / "2.json").write_text(json.dumps({**WHO, "mistake_step": "77"}))
    (tmp_path / "other.json").write_text("{}")
    assert commands.run(["bench", "localize", "--dataset", str(tmp_path)]) == exits.OK
    said = capsys.readouterr().out
    assert "all: 1 went wrong, 0 healthy" in said
    assert "not scored: 2" in said
    assert "Hand-Crafted/2.json (q-1) index 77" in " ".join(said.split())
    assert "other.json" in said
    assert commands.run(["bench", "localize", "--dataset", str(tmp_path), "--json"]) == exits.OK
    table, = json.loads(capsys.readouterr().out)
    assert [one["reason"] for one in table["not_scored"]] == [
        "no labelled run of a known form", "what is labelled is no step of the run"]


def test_of_a_set_without_labels_nothing_is_scored(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tau_retail_dataset.jsonl").write_bytes(rows(RX))
    assert commands.run(["bench", "localize", "--dataset", str(tmp_path)]) == exits.OK
    said = capsys.readouterr().out
    assert "onset not scored: no run in it went wrong (n = 0)" in said
    assert "1: no label: tau_retail_dataset.jsonl (7)" in said


def test_a_folder_without_a_set_is_refused(tmp_path: Path,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["bench", "localize", "--dataset", str(tmp_path)]) == exits.UNUSABLE
    assert "a folder without *.json, *.jsonl, *.parquet" in capsys.readouterr().err
