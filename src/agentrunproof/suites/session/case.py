"""A case of the suite, what it works with, and what comes of it."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from agentrunproof.suites.session.promises import Promise

#: What a backend may declare; a case that needs one then must not be untestable.
SUPPORTS = {
    "reopen": "a second session of one id shows what the first has stored",
    "settings": "session_settings can be set on a session",
    "close": "close() ends the session",
}


class Broken(Exception):
    """What a case demands does not hold.

    Args:
        code: what kind of failure, upper case, stable.
        detail: one line: what was seen, and what was expected.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


class Untestable(Broken):
    """The session or the SDK's release lacks what the case needs.

    Args:
        code: what is lacking, upper case, stable.
        detail: one line.
        supports: what to declare (of `SUPPORTS`) to make this a failure; "" if nothing.
    """

    def __init__(self, code: str, detail: str, supports: str = "") -> None:
        super().__init__(code, detail)
        self.supports = supports


@dataclass(frozen=True)
class Backend:
    """A kind of session, as the suite needs to know it.

    Args:
        make: gives the session of an id, on the same storage at every call; may be async.
        supports: names of `SUPPORTS`: what must work, so that its cases cannot be untestable.
        known_failures: names of cases that fail, each with the reason; one that passes fails the
            suite.
        damage: makes the newest stored item unreadable, in the storage below a session; may be
            async. Without it, cases about unreadable items are untestable.
        effects: what is in the storage below a session, as a value that can be compared; may be
            async. Without it, the case that nothing is stored for nothing is untestable.
        dispose: ends a session after a case; by default its ``close()``, if it has one.
    """

    make: Callable[[str], Any]
    supports: frozenset[str] = frozenset()
    known_failures: dict[str, str] = field(default_factory=dict)
    damage: Callable[[Any], Any] | None = None
    effects: Callable[[Any], Any] | None = None
    dispose: Callable[[Any], Any] | None = None


class World:
    """What one case works with: sessions of ids that nobody else uses."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._prefix = f"agentrunproof-{uuid.uuid4().hex[:12]}"
        self._opened: list[Any] = []

    async def open(self, name: str = "a") -> Any:
        """A session of the id that stands for `name` in this case."""
        session = await finished(self.backend.make(f"{self._prefix}-{name}"))
        self._opened.append(session)
        return session

    async def shut(self, session: Any) -> None:
        """End a session, as its users would."""
        dispose = self.backend.dispose or _close
        self._opened = [other for other in self._opened if other is not session]
        await finished(dispose(session))

    async def end(self) -> None:
        """End all sessions; what goes wrong now is not the case's matter."""
        for session in list(self._opened):
            try:
                await self.shut(session)
            except Exception:  # noqa: PERF203 -- each must be tried
                continue


async def finished(value: Any) -> Any:
    """A value, waited for if it has to be."""
    return await value if inspect.isawaitable(value) else value


def _close(session: Any) -> Any:
    close = getattr(session, "close", None)
    return close() if callable(close) else None


@dataclass(frozen=True)
class Case:
    """One thing that is asked of a session.

    Args:
        name: words joined with hyphens.
        title: one line.
        promise: why it may be asked.
        body: does it; raises `Broken` or `Untestable`.
        upstream: issues and changes of the SDK about it.
    """

    name: str
    title: str
    promise: Promise
    body: Callable[[World], Awaitable[None]]
    upstream: tuple[str, ...] = ()


def case(promise: Promise, *upstream: str) -> Callable[[Callable[[World], Awaitable[None]]], Case]:
    """Make a case of a function: its name is the function's, its title the docstring."""

    def made(body: Callable[[World], Awaitable[None]]) -> Case:
        title = " ".join((body.__doc__ or "").split()).removesuffix(".")
        return Case(body.__name__.replace("_", "-"), title, promise, body,
                    tuple(f"openai/openai-agents-python#{number}" for number in upstream))

    return made


@dataclass(frozen=True)
class Result:
    """What came of a case.

    Args:
        case: which.
        verdict: ``PASS``, ``FAIL`` or ``UNTESTABLE``.
        code: ``OK``, or what kind of failure or lack.
        detail: one line, "" for a PASS.
        known: why the failure is known; "" if it is not.
    """

    case: Case
    verdict: str
    code: str
    detail: str = ""
    known: str = ""

    @property
    def fails(self) -> bool:
        """Whether the suite fails by it."""
        return self.verdict == "FAIL" and not self.known
