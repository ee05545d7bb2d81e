"""Phases that call a function in place of a run: what it gives, or how it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from agentrunproof.plan.model import Call
from agentrunproof.sdk.tools import resolve

#: Packages of which a release may not have what a function imports.
_OF_RELEASES = ("agents", "mcp", "openai")


class Lacking(Exception):
    """The release does not have what the function is about; a function may raise it too."""


def called(call: Call, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> Any:
    """What the function gives.

    Args:
        call: which function, and its arguments.
        wait: gives the result of a coroutine.

    Raises:
        LookupError: it is named as one of the package and is none.
        Lacking: it imports what the release does not have.
        BaseException: whatever the function raises.
    """
    try:
        function = resolve(call.python)
        if call.is_own and function.__module__ != call.python.split(":")[1]:
            raise LookupError(f"{call.python} is only imported there")
        given = function(**json.loads(call.arguments))
        return wait(given) if asyncio.iscoroutine(given) else given
    except ImportError as error:  # its message holds a path
        name = error.name or ""
        if name.partition(".")[0] in _OF_RELEASES:
            raise Lacking(f"{name} does not have what the call imports") from error
        raise
