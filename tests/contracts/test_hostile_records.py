"""A record may hold any value of the declared shape: contracts judge it and never crash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentrunproof.contracts.registry import CONTRACTS, judge
from agentrunproof.record.observation import Observation, PhaseRun
from tests.contracts import server_worlds, worlds
from tests.contracts.worlds import World

WORLDS: tuple[World, ...] = (
    worlds.tools(), worlds.failing(), worlds.fork(), worlds.nested(), worlds.handoff(),
    worlds.handoff(filtered=True), worlds.guarded(), worlds.raced(), worlds.cancelled(),
    server_worlds.two_servers(), server_worlds.kept())

ODD_ITEMS: tuple[dict[str, Any], ...] = (
    {}, {"type": "function_call"}, {"type": "function_call_output"}, {"type": "reasoning"},
    {"type": "message", "content": [{}]}, {"type": "message", "content": None}, {"type": "other"})


#: Fields that hold conversation items, or tuples of them; an empty one does not tell.
ITEM_FIELDS = ("input", "output", "items", "history", "new_items", "responses")


def _odd(name: str, value: Any) -> Iterator[Any]:
    """Values of the same shape that no faithful Runner would leave there."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield 7
    elif isinstance(value, str) or value is None:
        yield from ("", "zz")
    elif isinstance(value, dict):
        yield from ODD_ITEMS
    elif isinstance(value, tuple):
        yield ()
        if value and isinstance(value[0], dict):
            yield from ((*value, item) for item in ODD_ITEMS)
            yield from ((item,) for item in ODD_ITEMS)
        elif value and isinstance(value[0], tuple):
            yield ((),)
        elif name not in ITEM_FIELDS:
            yield ("zz",)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_odd_field_is_judged_without_a_crash(data: st.DataObject) -> None:
    plan, seen = data.draw(st.sampled_from(WORLDS))
    runs = list(seen.runs)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(runs) - 1))
        events = list(runs[place].events)
        at = data.draw(st.integers(0, len(events) - 1))
        name = data.draw(st.sampled_from([key for key in events[at] if key != "kind"]))
        odd = data.draw(st.sampled_from(list(_odd(name, events[at][name]))))
        events[at] = events[at] | {name: odd}
        runs[place] = PhaseRun(runs[place].mode, runs[place].phase, tuple(events))
    results = judge(plan, Observation(tuple(runs)))
    known = {contract.name: contract.codes for contract in CONTRACTS}
    assert all(result.code == "OK" or result.code in known[result.check] for result in results)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_events_that_are_missing_are_judged_without_a_crash(data: st.DataObject) -> None:
    plan, seen = data.draw(st.sampled_from(WORLDS))
    runs = tuple(
        PhaseRun(run.mode, run.phase, tuple(
            event for event in run.events if data.draw(st.integers(0, 9), label="keep")))
        for run in seen.runs[:2])
    assert judge(plan, Observation(runs))
