"""The search, with histories instead of releases."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof.errors import LabError
from agentrunproof.lab import bisect as lab
from agentrunproof.lab import columns
from agentrunproof.lab.bisect import Answer, Probe, State, bisect, probe_of
from agentrunproof.lab.columns import Job, Result
from agentrunproof.record.layout import Finding, of_error, of_exit
from agentrunproof.record.matrix import Column
from agentrunproof.record.result import CheckResult
from tests.plans import greeting

RELEASES = [f"0.{number}.0" for number in range(123)]
LETTERS: dict[str, State] = {"p": "PASS", "F": "FAIL", "-": "LACKING", "?": "UNCLEAR"}


class History:
    """A history in letters, and what was asked of it."""

    def __init__(self, letters: str) -> None:
        self.letters = letters
        self.releases = RELEASES[:len(letters)]
        self.asked: list[str] = []

    def __call__(self, release: str) -> Probe:
        assert release not in self.asked, "each release is probed once"
        self.asked.append(release)
        return Probe(release, LETTERS[self.letters[self.releases.index(release)]])

    def find(self, goal: lab.Goal | None = None) -> Answer:
        return bisect(self.releases, self, goal)

    def index(self, probe: Probe | None) -> int:
        assert probe is not None
        return self.releases.index(probe.release)


@given(st.integers(0, 60), st.integers(0, 122), st.booleans())
def test_one_change_among_123_releases_is_found_with_8_probes(
        lacking: int, change: int, breaks: bool) -> None:
    change = max(change, lacking + 1)
    old, new = ("p", "F") if breaks else ("F", "p")
    letters = ("-" * lacking + old * (change - lacking) + new * 123)[:123]
    history = History(letters)
    answer = history.find()
    assert len(history.asked) <= 8
    if change < 123:
        assert answer.goal == ("first-bad" if breaks else "first-fixed")
        assert history.index(answer.at) == change
        assert history.index(answer.before) == change - 1
        assert (answer.unclear, len(answer.changes)) == ((), 1)


@given(st.integers(1, 122))
def test_what_fails_since_the_feature_is_there_is_first_bad_with_it(lacking: int) -> None:
    history = History("-" * lacking + "F" * (123 - lacking))
    answer = history.find("first-bad")
    assert (history.index(answer.at), history.index(answer.before)) == (lacking, lacking - 1)
    assert answer.before is not None
    assert answer.before.state == "LACKING"
    assert len(history.asked) <= 8


@given(st.text("pF?", min_size=1, max_size=123), st.integers(0, 40),
       st.sampled_from(["first-bad", "first-fixed", None]))
def test_whatever_the_history_an_answer_is_a_true_boundary(
        letters: str, lacking: int, goal: lab.Goal | None) -> None:
    history = History(("-" * lacking + letters)[:123])
    answer = history.find(goal)
    assert len(history.asked) <= lab.MOST
    if answer.at is None:
        assert answer.why
        return
    at, before = history.index(answer.at), history.index(answer.before)
    new = "F" if answer.goal == "first-bad" else "p"
    assert history.letters[at] == new
    assert history.letters[before] in {"F": "p-", "p": "F"}[new]
    assert list(answer.unclear) == history.releases[before + 1:at]
    if len(history.asked) < lab.MOST:
        assert set(history.letters[before + 1:at]) <= {"?"}


def test_releases_that_cannot_be_judged_are_stepped_around() -> None:
    answer = History("ppp????????FFFF?").find()
    assert answer.at is not None
    assert answer.before is not None
    assert (answer.before.release, answer.at.release) == ("0.2.0", "0.11.0")
    assert answer.unclear == tuple(f"0.{number}.0" for number in range(3, 11))


def test_a_window_of_failures_that_the_search_steps_over_is_looked_for() -> None:
    history = History("p" * 80 + "F" * 30 + "p" * 13)
    fixed = history.find("first-fixed")
    assert history.index(fixed.at) == 110
    bad = History(history.letters).find("first-bad")
    assert history.index(bad.at) == 80


def test_a_window_of_passes_below_failures_at_both_ends_is_looked_for() -> None:
    history = History("F" * 70 + "p" * 20 + "F" * 33)
    answer = history.find()
    assert (answer.goal, history.index(answer.at), history.index(answer.before)) == (
        "first-bad", 90, 89)
    assert len(answer.changes) == 2


def test_a_history_with_several_changes_says_so() -> None:
    answer = History("p" * 80 + "F" * 30 + "p" * 13).find("first-fixed")
    assert [(a.state, b.state) for a, b in answer.changes] == [("PASS", "FAIL"), ("FAIL", "PASS")]
    assert len(History("F" * 80 + "p" * 43).find().changes) == 1


@pytest.mark.parametrize(("letters", "goal", "why"), [
    ("pppp", "first-bad", "no release that was probed fails"),
    ("pppp", "first-fixed", "no release that was probed fails"),
    ("--pp", None, "no release that was probed fails"),
    ("FFFF", "first-bad", "0.0.0, the oldest, fails already"),
    ("ppFF", "first-fixed", "0.3.0, the newest that can be judged, still fails"),
    ("????", None, "no release could be judged"),
    ("----", None, "no release could be judged"),
])
def test_where_there_is_no_boundary_the_answer_says_why(
        letters: str, goal: lab.Goal | None, why: str) -> None:
    answer = History(letters).find(goal)
    assert (answer.at, answer.before, answer.why) == (None, None, why)


CHECKS = (CheckResult("tool_linkage", "FAIL", "LOST"), CheckResult("usage_sum", "PASS", "OK"),
          CheckResult("span_tree", "UNTESTABLE", "NONE"))


@pytest.mark.parametrize(("finding", "check", "state", "reason"), [
    (Finding("FAIL", "id", (), CHECKS), None, "FAIL", "tool_linkage LOST"),
    (Finding("FAIL", "id", (), CHECKS), "usage_sum", "PASS", "OK"),
    (Finding("FAIL", "id", (), CHECKS), "span_tree", "UNCLEAR", "span_tree NONE"),
    (Finding("FAIL", "id", (), CHECKS), "max_turns", "UNCLEAR", "max_turns does not apply"),
    (Finding("UNTESTABLE", "id", ("run-state",)), None, "LACKING", "lacks run-state"),
    (of_error("WORKER_DIED"), None, "UNCLEAR", "WORKER_DIED"),
    (of_exit("FAIL", "EXIT_1"), None, "FAIL", "exit EXIT_1"),
])
def test_a_finding_is_read_by_one_check_or_by_all(
        finding: Finding, check: str | None, state: State, reason: str) -> None:
    assert probe_of("0.20.0", finding, check) == Probe("0.20.0", state, reason)


def test_an_error_of_this_machine_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(job: Job, column: Column, say: object = None) -> Result:
        return columns.Result(column, errors={"greeting": LabError("NO_NETWORK", "no way")})

    monkeypatch.setattr(lab, "run_column", fails)
    oracle = lab.oracle_of(Job({"greeting": greeting()}), "3.12", None)
    releases: Sequence[str] = RELEASES
    with pytest.raises(LabError, match="no way"):
        bisect(releases, oracle)
