"""The recording session keeps what it is told and tells what was done with it."""

import asyncio
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.plan.model import FailingWrite
from agentrunproof.sdk.capture import Recorder
from agentrunproof.sdk.loop import VirtualTimeLoop
from agentrunproof.sdk.sessions import RecordingSession, SessionFailure

ITEMS = st.lists(st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=4)),
                 max_size=6)


@given(ITEMS, st.none() | st.integers(0, 8))
def test_reading_gives_the_newest_items_oldest_first(items, limit):
    session = RecordingSession(items=tuple(items))
    found = asyncio.run(session.get_items(limit))
    expected = items if limit is None else [] if limit == 0 else items[-limit:]
    assert found == expected


@given(ITEMS, ITEMS)
def test_what_is_added_is_appended_and_popping_takes_the_newest(before, added):
    async def main():
        session = RecordingSession(items=tuple(before))
        await session.add_items(added)
        popped = await session.pop_item()
        return popped, await session.get_items()

    everything = before + added
    popped, left = asyncio.run(main())
    assert popped == (everything[-1] if everything else None)
    assert left == everything[:-1]


def test_nothing_that_is_handed_out_or_in_is_shared():
    async def main():
        item = {"role": "user", "content": "a"}
        session = RecordingSession()
        await session.add_items([item])
        item["content"] = "changed by the writer"
        found = await session.get_items()
        kept = copy.deepcopy(found)
        found[0]["content"] = "changed by the reader"
        return kept, await session.get_items()

    kept, again = asyncio.run(main())
    assert kept == again == [{"role": "user", "content": "a"}]


def test_every_operation_is_recorded_on_a_delegate_too():
    async def main():
        recorder = Recorder()
        session = RecordingSession(inner=RecordingSession(), recorder=recorder)
        await session.add_items([{"role": "user", "content": "a"}])
        await session.get_items(5)
        await session.pop_item()
        await session.clear_session()
        await session.observe()
        return recorder.events()

    events = asyncio.run(main())
    assert [(event["kind"], event["op"]) for event in events] == [
        ("session_written", "add"), ("session_read", "get"), ("session_written", "pop"),
        ("session_written", "clear"), ("session_read", "observe")]
    assert events[1]["limit"] == 5
    assert events[2]["items"] == ({"role": "user", "content": "a"},)
    assert events[4]["items"] == ()


def test_a_slow_session_does_nothing_before_its_time_has_come():
    async def main():
        session = RecordingSession(delay="0.5")
        write = asyncio.ensure_future(session.add_items([{"role": "user", "content": "Hi"}]))
        await asyncio.sleep(0)
        write.cancel()
        await asyncio.gather(write, return_exceptions=True)
        kept = list(session._items)
        await session.add_items([{"role": "user", "content": "Hello"}])
        return kept, await session.get_items(), loop.time()

    loop = VirtualTimeLoop()
    try:
        assert loop.run_until_complete(main()) == (
            [], [{"role": "user", "content": "Hello"}], 1.0)
    finally:
        loop.close()


@pytest.mark.parametrize("stored", [False, True])
def test_only_the_declared_write_fails_and_it_says_what_became_of_its_items(stored):
    async def main():
        recorder = Recorder()
        session = RecordingSession(recorder=recorder)
        session.fail(FailingWrite(count=2, stored=stored))
        await session.add_items([{"role": "user", "content": "a"}])
        with pytest.raises(SessionFailure):
            await session.add_items([{"role": "user", "content": "b"}])
        await session.add_items([{"role": "user", "content": "c"}])
        kinds = [event["kind"] for event in recorder.events()]
        return kinds, [item["content"] for item in await session.get_items()]

    kinds, held = asyncio.run(main())
    assert held == (["a", "b", "c"] if stored else ["a", "c"])
    assert kinds.count("session_written") == len(held)
    assert kinds.count("session_failed") == 1
