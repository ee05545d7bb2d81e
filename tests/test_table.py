"""Items are stored once, and every observation has exactly one stored form."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.errors import RecordError
from agentrunproof.record import table
from agentrunproof.record.events import FIELDS, make
from agentrunproof.record.observation import Observation, PhaseRun
from tests.observations import OBSERVATIONS

USER = {"role": "user", "content": "Hi"}
SAY = {"type": "message", "role": "assistant", "content": "Ho"}


def _stored(*events: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    return table.store(Observation((PhaseRun("run", "only", events),)))


def _code(items: Any, runs: Any) -> str:
    with pytest.raises(RecordError) as caught:
        table.resolve(items, runs)
    return caught.value.code


@given(OBSERVATIONS)
def test_what_is_stored_is_read_back_and_stored_alike(seen: Observation) -> None:
    items, runs = table.store(seen)
    data = canonical.dumps([items, runs])
    read = table.resolve(*canonical.parse(data))
    assert read == seen
    assert canonical.dumps(list(table.store(read))) == data


@given(OBSERVATIONS, st.data())
def test_two_stored_forms_never_mean_the_same(seen: Observation, data: st.DataObject) -> None:
    """Whatever one changes in a stored form, it is refused or means something else."""
    items, runs = copy.deepcopy(table.store(seen))
    events = [event for run in runs for event in run["events"]]
    if not events:
        return
    event = data.draw(st.sampled_from(events))
    field = data.draw(st.sampled_from(FIELDS[event["kind"]]))
    if field.name in event and data.draw(st.booleans()):
        del event[field.name]
    else:
        event[field.name] = data.draw(st.sampled_from([field.default, 0, [0], "", False, [], {}]))
    before = canonical.dumps(list(table.store(seen)))
    if canonical.dumps([items, runs]) == before:
        return
    try:
        read = table.resolve(items, runs)
    except RecordError:
        return
    assert canonical.dumps(list(table.store(read))) == canonical.dumps([items, runs])


def test_an_item_stands_once_and_is_numbered_by_first_appearance() -> None:
    items, runs = _stored(
        make("run_started", agent="a", input=[USER]),
        make("model_called", agent="a", input=[USER, SAY]),
        make("result", last_agent="a", new_items=({"type": "message_output_item", "item": SAY},),
             responses=((SAY,), (USER, SAY))))
    assert items == [USER, SAY]
    started, called, result = runs[0]["events"]
    assert started == {"kind": "run_started", "agent": "a", "input": [0]}
    assert called == {"kind": "model_called", "agent": "a", "input": [0, 1]}
    assert result["new_items"] == [{"type": "message_output_item", "item": 1}]
    assert result["responses"] == [[1], [0, 1]]


def test_true_and_one_are_different_items() -> None:
    items, _ = _stored(make("session_written", items=({"x": True}, {"x": 1})))
    assert len(items) == 2


@pytest.mark.parametrize(("items", "event", "code"), [
    ([USER, USER], {"kind": "session_written", "items": [0, 1]}, "RECORD_DUPLICATE_ITEM"),
    ([USER, SAY], {"kind": "session_written", "items": [1, 0]}, "RECORD_ITEM_ORDER"),
    ([USER, SAY], {"kind": "session_written", "items": [0]}, "RECORD_UNUSED_ITEM"),
    ([USER], {"kind": "session_written", "items": [0, 1]}, "RECORD_DANGLING_ITEM"),
    ([USER], {"kind": "session_written", "items": [0], "op": "add"}, "RECORD_EXPLICIT_DEFAULT"),
    ([], {"kind": "session_written", "items": []}, "RECORD_EXPLICIT_DEFAULT"),
    ([], {"kind": "stream_event", "type": "raw", "name": "x", "item": None}, "RECORD_SHAPE"),
    ([USER], {"kind": "session_written", "items": [-1]}, "RECORD_SHAPE"),
    ([USER], {"kind": "session_written", "items": [False]}, "RECORD_SHAPE"),
    ([USER], {"kind": "session_written", "items": [USER]}, "RECORD_SHAPE"),
    ([USER], {"kind": "session_written", "items": 0}, "RECORD_SHAPE"),
    ([], {"kind": "session_written", "size": 0}, "RECORD_SHAPE"),
    ([], {"kind": "run_finished"}, "RECORD_SHAPE"),
    ([], {"kind": "run_finished", "outcome": "exploded"}, "RECORD_SHAPE"),
    ([], {"kind": "run_begun"}, "RECORD_UNKNOWN_KIND"),
    ([], {}, "RECORD_UNKNOWN_KIND"),
    ([], {"kind": ["run_finished"]}, "RECORD_UNKNOWN_KIND"),
    ([3], {"kind": "session_written", "items": [0]}, "RECORD_SHAPE"),
    ([], {"kind": "raised", "error": {"type": "E"}, "new_items": [{"item": "0"}]}, "RECORD_SHAPE"),
])
def test_every_other_stored_form_is_refused(items: Any, event: Any, code: str) -> None:
    assert _code(items, [{"mode": "run", "phase": "p", "events": [event]}]) == code


def test_an_empty_list_that_is_not_the_default_is_kept_apart_from_none() -> None:
    items, runs = _stored(make("raised", error={"type": "E"}, new_items=()))
    assert runs[0]["events"][0]["new_items"] == []
    assert table.resolve(items, runs).runs[0].events[0]["new_items"] == ()
    items, runs = _stored(make("raised", error={"type": "E"}))
    assert "new_items" not in runs[0]["events"][0]
