"""The suite as a class of tests, to subclass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentrunproof.suites.session.case import Backend
from agentrunproof.suites.session.suite import CASES, DEADLINE, run


class SessionSuite:
    """One test for each case, for a backend of one's own.

    A subclass whose name starts with ``Test`` has a fixture ``make_session`` that gives a
    function: from a session id to the session of that id, on the same storage at every call. The
    function may be async. Sessions are closed after each test by their ``close()``.

        class TestMySession(SessionSuite):
            supports = {"reopen"}
            known_failures = {"limit-zero": "issue 12"}

            @pytest.fixture
            def make_session(self, tmp_path):
                return lambda session_id: MySession(session_id, tmp_path / "sessions.db")

    Attributes:
        supports: what must work; see `agentrunproof.suites.session.SUPPORTS`.
        known_failures: names of cases that fail, each with the reason. One that passes fails.
        damage, effects, dispose: see `agentrunproof.suites.session.Backend`; may be methods.
        deadline: seconds of real time for each test.
    """

    supports: frozenset[str] | set[str] = frozenset()
    known_failures: Mapping[str, str] = {}
    damage: Callable[..., Any] | None = None
    effects: Callable[..., Any] | None = None
    dispose: Callable[..., Any] | None = None
    deadline: float = DEADLINE

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """One test for each case."""
        if "session_case" in metafunc.fixturenames:
            metafunc.parametrize("session_case", list(CASES))

    def test_session(self, session_case: str, make_session: Callable[[str], Any]) -> None:
        """A session keeps what the case names."""
        import pytest

        backend = Backend(make_session, frozenset(self.supports), dict(self.known_failures),
                          self.damage, self.effects, self.dispose)
        [result] = run(backend, [CASES[session_case]], self.deadline)
        told = f"{result.code}: {result.detail}"
        if result.verdict == "UNTESTABLE":
            pytest.skip(told)
        if result.known:
            pytest.xfail(f"{result.known} ({told})")
        if result.fails:
            promise = result.case.promise
            pytest.fail(f"{told}\n{promise.basis}: {promise.text}"
                        + (f" [{promise.source}]" if promise.source else ""), pytrace=False)
