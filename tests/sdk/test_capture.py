"""The recorder lists concurrent calls in call order, whatever the scheduler did."""

import asyncio
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.sdk.capture import Recorder, inside

CALLS = ("c1", "c2", "c3")


def _recorder() -> Recorder:
    recorder = Recorder()
    output = [{"type": "function_call", "call_id": call} for call in CALLS]
    recorder.add_response("a", output, {}, "r")
    return recorder


@given(st.permutations([call for call in CALLS for _ in range(3)]))
def test_events_of_concurrent_calls_are_listed_call_by_call(schedule):
    recorder = _recorder()
    for call in schedule:
        recorder.add("tool_started", tool="t", call=call)
    recorder.add("run_finished", outcome="completed")
    events = recorder.events()
    assert [event.get("call") for event in events[1:-1]] == [c for c in CALLS for _ in range(3)]
    assert events[0]["kind"] == "model_responded"
    assert events[-1]["kind"] == "run_finished"


def test_events_of_a_nested_run_stay_with_the_call_that_holds_it():
    recorder = _recorder()

    async def nested(call, first, gate):
        with inside(call):
            recorder.add("model_called", agent=f"{call}-agent")
            if first:
                gate.set()
            await gate.wait()
            recorder.add("tool_started", tool="inner", call=f"{call}-inner")

    async def main():
        gate = asyncio.Event()
        await asyncio.gather(nested("c2", False, gate), nested("c1", True, gate))

    asyncio.run(main())
    events = recorder.events()[1:]
    assert [event["parent"] for event in events] == ["c1", "c1", "c2", "c2"]
    assert [event["kind"] for event in events] == ["model_called", "tool_started"] * 2


def test_an_event_of_the_run_separates_what_came_before_from_what_came_after():
    recorder = _recorder()
    recorder.add("tool_started", tool="t", call="c2")
    recorder.add("session_written")
    recorder.add("tool_started", tool="t", call="c1")
    assert [event.get("call") for event in recorder.events()[1:]] == ["c2", None, "c1"]


def _raw(type, delta=None):
    data = SimpleNamespace(type=type, delta=delta, item=None)
    return SimpleNamespace(type="raw_response_event", data=data)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=8))
def test_deltas_in_a_row_become_one_event_that_holds_all_their_text(pieces):
    recorder = Recorder()
    for piece in pieces:
        recorder.add_streamed(_raw("response.output_text.delta", piece))
    recorder.add_streamed(_raw("response.completed"))
    first, second = recorder.events()
    assert (first["count"], first["text"]) == (len(pieces), "".join(pieces))
    assert second["name"] == "response.completed"
