"""No network and no child process while a scenario runs.

An audit hook refuses connecting, sending, looking names up, listening and starting processes.
Where the kernel allows it, the worker moves into an empty network namespace besides, in which
even native code finds no interface. An audit hook can't be removed, so it heeds a switch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_REFUSED = frozenset({
    "socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind", "socket.getaddrinfo",
    "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo", "subprocess.Popen",
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn",
    "os.startfile",
})

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000

#: Whether what runs in this context is refused; inherited by tasks and by `asyncio.to_thread`.
_CLOSED: ContextVar[bool] = ContextVar("agentrunproof_no_network", default=False)
_closed_everywhere = False
_installed = False


class NetworkDenied(PermissionError):
    """A scenario tried to leave the process."""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event in _REFUSED and (_closed_everywhere or _CLOSED.get()):
        raise NetworkDenied(f"{event} is refused while a scenario runs")


def close_network_everywhere() -> None:
    """Refuse network and child processes in this process from now on: for the worker."""
    global _closed_everywhere
    _install()
    _closed_everywhere = True


@contextmanager
def no_network() -> Iterator[None]:
    """Refuse network and child processes to what is run within, and to nobody else."""
    _install()
    token = _CLOSED.set(True)
    try:
        yield
    finally:
        _CLOSED.reset(token)


def _install() -> None:
    global _installed
    if not _installed:
        sys.addaudithook(_hook)
        _installed = True


def enter_empty_namespace() -> bool:
    """Move this single-threaded process into a network namespace without interfaces.

    Returns:
        Whether the kernel allowed it (Linux, with user namespaces or as root).
    """
    if not sys.platform.startswith("linux"):
        return False
    uid, gid = os.getuid(), os.getgid()
    if uid == 0 and _unshare(_CLONE_NEWNET):
        return True
    if not _unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        return False
    try:  # keep our own identity inside, so that files stay ours
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                           ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError:
        pass  # the namespace stands all the same
    return True


def _unshare(flags: int) -> bool:
    try:
        if sys.version_info >= (3, 12):
            os.unshare(flags)
            return True
        import ctypes

        return bool(ctypes.CDLL(None, use_errno=True).unshare(flags) == 0)
    except (OSError, AttributeError):
        return False
