"""Nothing leaves the process while a scenario runs, and only then."""

import asyncio
import socket
import subprocess
import sys

import pytest

from agentrunproof.sdk.guard import NetworkDenied, no_network


def _udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"x", ("127.0.0.1", 9))


def _connect():
    with socket.socket() as tcp:
        tcp.connect(("127.0.0.1", 9))


def _listen():
    with socket.socket() as tcp:
        tcp.bind(("127.0.0.1", 0))


ATTEMPTS = {
    "connect": _connect,
    "udp": _udp,
    "dns": lambda: socket.getaddrinfo("localhost", 80),
    "listen": _listen,
    "child": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_each_way_out_is_refused_inside(attempt):
    with no_network(), pytest.raises(NetworkDenied):
        attempt()


def test_the_guard_holds_in_tasks_and_threads_of_the_scenario():
    async def main():
        with no_network():
            with pytest.raises(NetworkDenied):
                await asyncio.create_task(_in_task())
            with pytest.raises(NetworkDenied):
                await asyncio.to_thread(_connect)

    async def _in_task():
        _connect()

    asyncio.run(main())


def test_outside_of_it_everything_is_as_before():
    with no_network():
        pass
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    _listen()
