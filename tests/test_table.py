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
    return table.store(Observation((PhaseRun("run", "only", events),)))[:2]


def _resolve(items: Any, runs: Any, variants: Any) -> Observation:
    return table.resolve(items, runs, variants=variants)


def _code(items: Any, runs: Any) -> str:
    with pytest.raises(RecordError) as caught:
        table.resolve(items, runs)
    return caught.value.code


@given(OBSERVATIONS)
def test_what_is_stored_is_read_back_and_stored_alike(seen: Observation) -> None:
    data = canonical.dumps(list(table.store(seen)))
    read = _resolve(*canonical.parse(data))
    assert read == seen
    assert canonical.dumps(list(table.store(read))) == data


@given(OBSERVATIONS, st.data())
def test_two_stored_forms_never_mean_the_same(seen: Observation, data: st.DataObject) -> None:
    """Whatever one changes in a stored form, it is refused or means something else."""
    items, runs, variants = copy.deepcopy(table.store(seen))
    told = [run for variant in variants for run in variant["runs"]]
    spans = [event for run in told for event in run["events"] if isinstance(event, list)]
    events = [event for run in (*runs, *told) for event in run["events"]
              if isinstance(event, dict)]
    if spans and data.draw(st.booleans()):
        span = data.draw(st.sampled_from(spans))
        span[data.draw(st.integers(0, 1))] += data.draw(st.sampled_from([-1, 1]))
        _hold(seen, items, runs, variants)
        return
    if not events:
        return
    event = data.draw(st.sampled_from(events))
    field = data.draw(st.sampled_from(FIELDS[event["kind"]]))
    if field.name in event and data.draw(st.booleans()):
        del event[field.name]
    else:
        event[field.name] = data.draw(st.sampled_from([field.default, 0, [0], "", False, [], {}]))
    _hold(seen, items, runs, variants)


def _hold(seen: Observation, items: Any, runs: Any, variants: Any) -> None:
    """What is not the stored form of `seen` is refused or that of something else."""
    changed = canonical.dumps([items, runs, variants])
    if changed == canonical.dumps(list(table.store(seen))):
        return
    try:
        read = _resolve(items, runs, variants)
    except RecordError:
        return
    assert read != seen
    assert canonical.dumps(list(table.store(read))) == changed


START, ENDED = {"kind": "run_started", "agent": "a"}, {"kind": "run_finished", "outcome": "timeout"}
HOOK = {"kind": "hook", "scope": "run", "on": "on_agent_start", "agent": "a"}
OWN = [{"mode": "run", "phase": "p", "events": [START, HOOK, HOOK, ENDED]}]


def _variant(*events: Any, phase: str = "p") -> list[Any]:
    return [{"name": "v", "runs": [{"mode": "run_sync", "phase": phase, "events": list(events)}]}]


@pytest.mark.parametrize(("told", "kinds"), [
    ([[0, 3]], ["run_started", "hook", "hook", "run_finished"]),
    ([[0, 0], [3, 3]], ["run_started", "run_finished"]),
    ([[0, 1], [3, 3]], ["run_started", "hook", "run_finished"]),
    ([[3, 3], START], ["run_finished", "run_started"]),
])
def test_a_variants_run_is_told_by_what_it_shares_with_the_plans_own(
        told: list[Any], kinds: list[str]) -> None:
    seen = _resolve([], OWN, _variant(*told))
    assert [event["kind"] for event in seen.variants[0].runs[0].events] == kinds
    assert table.store(seen).variants == _variant(*told)


@pytest.mark.parametrize(("told", "code"), [
    ([START], "RECORD_LIKENESS"),                     # the plan's own run has it
    ([[0, 0], [2, 2]], "RECORD_LIKENESS"),            # the earliest hook is meant
    ([[0, 1], [2, 3]], "RECORD_LIKENESS"),            # one span
    ([[0, 4]], "RECORD_DANGLING_EVENT"), ([[2, 1]], "RECORD_DANGLING_EVENT"),
    ([[0]], "RECORD_DANGLING_EVENT"), ([[]], "RECORD_DANGLING_EVENT"),
    ([[-1, 0]], "RECORD_SHAPE"), ([["0", "1"]], "RECORD_SHAPE"), ([[0, True]], "RECORD_SHAPE"),
    ([3], "RECORD_SHAPE"), ([None], "RECORD_SHAPE"),
])
def test_there_is_one_way_to_tell_it(told: list[Any], code: str) -> None:
    with pytest.raises(RecordError) as caught:
        _resolve([], OWN, _variant(*told))
    assert caught.value.code == code


def test_a_phase_that_the_plan_did_not_run_stands_in_full() -> None:
    seen = _resolve([], OWN, _variant(START, phase="q"))
    assert seen.variants[0].run("q") is not None
    with pytest.raises(RecordError):
        _resolve([], OWN, _variant([0, 0], phase="q"))


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
