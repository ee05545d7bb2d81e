"""What the tests name on the command line."""

from __future__ import annotations

import sys
from typing import Any

from agentrunproof.suites.session import SessionSuite
from tests.suites.miniatures import miniature
from tests.suites.sound import Sound, backend

sound = backend(Sound)
zero_is_all = miniature("limit-zero")
no_function = 7

_rows: dict[str, list[str]] = {}


def make_session(session_id: str) -> Any:
    return Sound(session_id, _rows)


def broken(session_id: str) -> Any:
    raise OSError("no route to the storage")


def leaves(session_id: str) -> Any:
    sys.exit(3)


def leaves_later(session_id: str) -> Any:
    class Leaves(Sound):
        async def pop_item(self) -> Any:
            sys.exit(3)

    return Leaves(session_id, {})


def gives_none(session_id: str) -> None:
    Sound(session_id, _rows)


class TestsOfTheirs(SessionSuite):
    __test__ = False
