"""The session suite: each case can fail, alone; a sound session passes; what is declared counts."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from dataclasses import replace
from typing import Any

import pytest

from agentrunproof.suites.session import CASES, Backend, Result, SessionSuite, SuiteError, run
from agentrunproof.suites.session.backends import BACKENDS
from agentrunproof.suites.session.suite import chosen
from tests import scripts
from tests.suites.miniatures import KINDS, miniature
from tests.suites.sound import Rows, Sound, backend

pytestmark = pytest.mark.sdk


def _only(found: Backend, *names: str, deadline: float = 30.0) -> list[Result]:
    return list(run(found, chosen(names), deadline))


def test_a_sound_session_passes_every_case() -> None:
    assert {result.case.name: result.detail for result in run(backend(Sound))
            if result.verdict != "PASS"} == {}


def test_every_case_has_a_miniature() -> None:
    assert list(KINDS) == list(CASES)


@pytest.mark.parametrize("name", KINDS)
def test_a_miniature_fails_its_case_and_no_other(name: str) -> None:
    found = {result.case.name: result.verdict for result in run(miniature(name))
             if result.verdict != "PASS"}
    assert found == {name: "FAIL"}


def test_what_is_quoted_of_docstrings_stands_in_the_sdk() -> None:
    quoted = [case.promise for case in CASES.values()
              if case.promise.basis == "documentation" and "://" not in case.promise.source]
    assert quoted
    for promise in quoted:
        place, _, method = promise.source.rpartition(".")
        module, _, name = place.rpartition(".")
        text = inspect.getdoc(getattr(getattr(importlib.import_module(module), name), method))
        assert promise.text in " ".join(str(text).split())


def test_every_case_says_why_it_may_ask() -> None:
    for case in CASES.values():
        assert case.title
        assert case.promise.text
        assert case.promise.basis in ("documentation", "relation", "expectation")
        assert case.promise.source or case.promise.basis == "relation"


class InItself(Sound):
    """Keeps its items in itself, and cannot be closed."""

    close = None  # type: ignore[assignment]

    def __init__(self, session_id: str, rows: Rows) -> None:
        super().__init__(session_id, {})


_LACKING = {"add-nothing": "NO_EFFECTS", "clear-nothing": "NO_EFFECTS",
            "reopen": "NOT_SHARED",
            "concurrent-sessions": "NOT_SHARED", "unreadable-read": "NO_DAMAGE",
            "unreadable-limit": "NO_DAMAGE", "unreadable-pop": "NO_DAMAGE", "closed": "NO_CLOSE"}


def test_what_a_backend_cannot_show_is_untestable() -> None:
    bare = backend(InItself, supports=frozenset(), damage=None, effects=None)
    found = {result.case.name: result.code for result in run(bare) if result.verdict != "PASS"}
    assert found == _LACKING
    assert {result.verdict for result in _only(bare, *_LACKING)} == {"UNTESTABLE"}


def test_what_a_backend_declares_must_be_there() -> None:
    declared = backend(InItself)
    found = {result.case.name: result.code for result in _only(declared, *_LACKING)
             if result.verdict == "FAIL"}
    assert found == {"reopen": "NOT_SHARED", "concurrent-sessions": "NOT_SHARED",
                     "closed": "NO_CLOSE"}


class FixedSettings(Sound):
    """Its settings cannot be set."""

    @property
    def session_settings(self) -> Any:
        return None

    @session_settings.setter
    def session_settings(self, value: Any) -> None:
        if value is not None:
            raise AttributeError("session_settings")


@pytest.mark.parametrize(("supports", "verdict"), [((), "UNTESTABLE"), (("settings",), "FAIL")])
def test_settings_that_cannot_be_set(supports: tuple[str, ...], verdict: str) -> None:
    fixed = backend(FixedSettings, supports=frozenset(supports))
    [result] = _only(fixed, "limit-from-settings")
    assert (result.verdict, result.code) == (verdict, "NO_SETTINGS")


def test_refusing_every_item_is_not_refusing_odd_values() -> None:
    class Full(Sound):
        def store(self, rows: list[str]) -> None:
            raise OSError("disk full")

    [result] = _only(backend(Full), "other-values")
    assert (result.verdict, result.code) == ("FAIL", "RAISED")


def test_a_close_that_ends_nothing_is_no_failure_unless_declared() -> None:
    class NeverClosed(Sound):
        def must_be_open(self) -> None:
            pass

    [result] = _only(backend(NeverClosed, supports=frozenset()), "closed")
    assert (result.verdict, result.code) == ("UNTESTABLE", "CLOSES_NOTHING")
    [result] = _only(backend(NeverClosed), "closed")
    assert result.verdict == "FAIL"


def test_a_known_failure_does_not_fail_the_suite_and_one_that_passes_does() -> None:
    declared = replace(miniature("limit-zero"),
                       known_failures={"limit-zero": "issue 12", "limit-n": "issue 13"})
    zero, n = _only(declared, "limit-zero", "limit-n")
    assert (zero.verdict, zero.known, zero.fails) == ("FAIL", "issue 12", False)
    assert (n.verdict, n.code, n.fails) == ("FAIL", "KNOWN_FAILURE_PASSES", True)


@pytest.mark.parametrize(("options", "code"), [
    ({"known_failures": {"limit-zro": ""}}, "CASE_UNKNOWN"),
    ({"supports": frozenset({"reopening"})}, "SUPPORTS_UNKNOWN")])
def test_a_backend_that_names_what_does_not_exist_is_refused(options: Any, code: str) -> None:
    with pytest.raises(SuiteError, match="did you mean") as caught:
        _only(backend(Sound, **options), "pop")
    assert caught.value.code == code


def test_a_backend_that_makes_no_session_is_refused() -> None:
    with pytest.raises(SuiteError, match="no session can be made: ZeroDivisionError"):
        _only(Backend(lambda _: 1 / 0), "pop")


def test_a_case_that_never_ends_fails_and_the_next_is_run() -> None:
    class Waits(Sound):
        async def pop_item(self) -> Any:
            await asyncio.Event().wait()

    pop, clear = _only(backend(Waits), "pop", "clear", deadline=0.2)
    assert (pop.verdict, pop.code) == ("FAIL", "HANGS")
    assert clear.verdict == "PASS"


def test_sessions_may_be_made_and_ended_by_async_functions() -> None:
    rows: Rows = {}
    made, ended = [], []

    async def make(session_id: str) -> Any:
        made.append(Sound(session_id, rows))
        return made[-1]

    async def dispose(session: Any) -> None:
        ended.append(session)

    [result] = _only(Backend(make, dispose=dispose), "isolation")
    assert result.verdict == "PASS"
    assert ended == made
    assert len({session.session_id for session in made}) == len(made)


@pytest.fixture
def backends(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(scripts.FOLDER))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    return scripts.load("session_backends")


@pytest.mark.parametrize(("name", "untestable"), [
    ("sqlite_file", set()), ("encrypted", set()),
    ("compaction", {"closed", "compaction", "failed-compaction", "cancelled-compaction",
                    "added-meanwhile"}),
    ("conversations", {"closed", "compaction", "failed-compaction", "cancelled-compaction",
                       "added-meanwhile", "unreadable-read", "unreadable-limit",
                       "unreadable-pop"})])
def test_sessions_of_the_sdk_fail_nothing_but_what_is_known(
        name: str, untestable: set[str], backends: Any) -> None:
    # What the Runner does with wrappers of SQLite it does with SQLite.
    names = [case for case in CASES
             if name in ("sqlite_file", "conversations") or not case.startswith("run")]
    results = _only(getattr(backends, name), *names)
    assert [f"{result.case.name}: {result.detail}" for result in results if result.fails] == []
    assert {result.case.name for result in results
            if result.verdict == "UNTESTABLE"} == untestable


def test_the_session_in_a_list_is_sound() -> None:
    assert [result.case.name for result in run(BACKENDS["memory"]()) if result.fails] == []


@pytest.mark.parametrize(("backend", "name", "verdict"), [
    ("memory", "limit-zero", "PASS"), ("memory", "reopen", "UNTESTABLE"),
    ("conversations", "long-history", "PASS")])
def test_a_plan_can_call_a_case_by_names(backend: str, name: str, verdict: str) -> None:
    from agentrunproof.suites.probes import sessions

    came_to = sessions.case(backend, name)
    assert came_to["verdict"] == verdict
    assert (came_to["code"] == "OK") == (verdict == "PASS")


_KNOWN = {"limit-zero": "by design of this test"}


class TestSubclass(SessionSuite):
    """The class of tests itself, as a user has it."""

    supports = frozenset({"reopen", "settings", "close"})
    known_failures = _KNOWN

    @pytest.fixture
    def make_session(self) -> Any:
        return miniature("limit-zero").make


def _test(suite: type[SessionSuite], case: str, found: Backend) -> None:
    suite().test_session(case, found.make)


def test_a_subclass_fails_with_the_promise() -> None:
    with pytest.raises(pytest.fail.Exception, match="LIMIT_IGNORED") as caught:
        _test(SessionSuite, "limit-zero", miniature("limit-zero"))
    assert "documentation: When specified, returns the latest N items" in str(caught.value)


def test_a_subclass_fails_where_a_known_failure_passes() -> None:
    with pytest.raises(pytest.fail.Exception, match="KNOWN_FAILURE_PASSES"):
        _test(TestSubclass, "limit-zero", backend(Sound))


def test_a_subclass_skips_what_it_cannot_test_and_may_give_methods() -> None:
    with pytest.raises(pytest.skip.Exception, match="NO_DAMAGE"):
        _test(SessionSuite, "unreadable-pop", backend(Sound))

    class Damages(SessionSuite):
        def damage(self, session: Any) -> None:
            session.rows[session.key][-1] = "{"

    with pytest.raises(pytest.fail.Exception, match="NOT_SKIPPED"):
        _test(Damages, "unreadable-pop", miniature("unreadable-pop"))
