"""The virtual-time loop: timers jump, threads are waited for, a deadlock is told."""

import asyncio
import threading
import time

import pytest

from agentrunproof.sdk.loop import Deadlock, VirtualTimeLoop


@pytest.fixture
def loop():
    made = VirtualTimeLoop()
    yield made
    made.close()


def test_an_hour_of_sleep_takes_no_time(loop):
    started = time.monotonic()
    loop.run_until_complete(asyncio.sleep(3600))
    assert loop.time() >= 3600
    assert time.monotonic() - started < 60


def test_timers_fire_in_the_order_of_their_time_not_of_their_creation(loop):
    fired = []

    async def after(seconds, name):
        await asyncio.sleep(seconds)
        fired.append(name)

    async def main():
        await asyncio.gather(after(3, "late"), after(1, "early"), after(2, "middle"))

    loop.run_until_complete(main())
    assert fired == ["early", "middle", "late"]


def test_a_timeout_fires_at_once_in_real_time(loop):
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 500)

    loop.run_until_complete(main())
    assert loop.time() >= 500


def test_waiting_for_what_can_never_happen_is_a_deadlock(loop):
    with pytest.raises(Deadlock):
        loop.run_until_complete(asyncio.Event().wait())


def test_the_result_of_a_thread_comes_before_a_timer_of_virtual_time(loop):
    release = threading.Event()
    order = []

    async def timer():
        await asyncio.sleep(1)
        order.append("timer")

    async def thread():
        await asyncio.to_thread(release.wait, 30)
        order.append("thread")

    async def main():
        loop.call_soon(release.set)
        await asyncio.gather(timer(), thread())

    loop.run_until_complete(main())
    assert order == ["thread", "timer"]


def test_a_foreign_thread_may_still_wake_the_loop(loop):
    async def main():
        event = asyncio.Event()
        thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(event.set))
        thread.start()
        await event.wait()
        thread.join()

    loop.run_until_complete(main())
