"""Where a behaviour changed: a binary search over releases.

Each release is probed at most once. The search goes down from the newest release that can be
judged, so that in a history with one change it needs one probe and the logarithm of the number of
releases: 8 for 123. A release that lacks what the plan needs counts as before the change, because
features come and stay; one that cannot be judged otherwise makes the search step to its nearest
neighbour.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agentrunproof.lab.columns import Job, Result, run_column
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column
from agentrunproof.record.result import OK

Goal = Literal["first-bad", "first-fixed"]
State = Literal["PASS", "FAIL", "LACKING", "UNCLEAR"]

#: Further probes, in the widest gaps, where every release that the search probed passes.
EXPLORED = 8

#: Releases that are probed at most, however many cannot be judged.
MOST = 24

#: Errors of this machine, not of a release: no other release would do better.
_HOPELESS = {"NO_NETWORK", "DISK_FULL", "UV_UNUSABLE", "CACHE_UNWRITABLE", "PYTHON_UNKNOWN",
             "COMMAND_NOT_RUN"}


@dataclass(frozen=True)
class Probe:
    """What one release said; `reason` is a check and its code, or why it cannot be judged."""

    release: str
    state: State
    reason: str = ""


@dataclass(frozen=True)
class Answer:
    """What a bisection found.

    Args:
        goal: what was looked for.
        at: the first release of the new state; None if no change was found.
        before: the release before it, in the old state or lacking what the plan needs.
        unclear: releases between the two that cannot be judged.
        probes: all that was probed, oldest first.
        why: in words, where nothing was found.
    """

    goal: Goal
    at: Probe | None
    before: Probe | None
    unclear: tuple[str, ...]
    probes: tuple[Probe, ...]
    why: str = ""

    @property
    def changes(self) -> tuple[tuple[Probe, Probe], ...]:
        """Every change among what was probed; more than one means there is no single answer."""
        judged = [probe for probe in self.probes if probe.state in ("PASS", "FAIL")]
        return tuple((a, b) for a, b in itertools.pairwise(judged)
                     if a.state != b.state)


Oracle = Callable[[str], Probe]


def bisect(releases: Sequence[str], oracle: Oracle, goal: Goal | None = None) -> Answer:
    """Find the release at which the behaviour broke, or was mended.

    Args:
        releases: oldest first.
        oracle: probes one release.
        goal: ``first-bad`` or ``first-fixed``; without it, the one that is nearest to the newest
            release: the first bad one if that fails, else the first fixed one.

    Raises:
        LabError: what `oracle` raises.
    """
    return _Search(releases, oracle).answer(goal)


def oracle_of(job: Job, python: str, check: str | None,
              say: Callable[[str], None] | None = None) -> Oracle:
    """An oracle that runs a job of one plan or command.

    Args:
        job: what to run.
        python: in environments of this Python.
        check: judge by this check only; by the whole verdict without it.
        say: told in a line what is being done.
    """
    (head,) = job.heads()

    def oracle(release: str) -> Probe:
        result = run_column(job, Column(sdk=release, python=python), say)
        return probe_of(release, _finding(result, head.scenario), check)

    return oracle


def probe_of(release: str, finding: Finding, check: str | None) -> Probe:
    """What a finding says of a release."""
    if finding.error is not None:
        return Probe(release, "UNCLEAR", finding.error)
    if finding.missing:
        return Probe(release, "LACKING", "lacks " + ", ".join(finding.missing))
    results = [one for one in finding.checks if check in (None, one.check)]
    broken = next((one for one in results if one.verdict == "FAIL"), None)
    if broken is not None:
        return Probe(release, "FAIL", f"{broken.check} {broken.code}")
    odd = next((one for one in results if one.verdict != "PASS"), None)
    if odd is not None or not results:
        return Probe(release, "UNCLEAR", f"{odd.check} {odd.code}" if odd else
                     f"{check} does not apply")
    return Probe(release, "PASS", OK)


def _finding(result: Result, scenario: str) -> Finding:
    if result.commanded is not None:
        return result.commanded
    error = result.errors.get(scenario)
    if error is not None and error.code in _HOPELESS:
        raise error
    return result.findings()[scenario]


class _Search:
    def __init__(self, releases: Sequence[str], oracle: Oracle) -> None:
        self._releases = releases
        self._oracle = oracle
        self._memo: dict[int, Probe] = {}

    def answer(self, goal: Goal | None) -> Answer:
        top = self._nearest(len(self._releases) - 1, -1, len(self._releases))
        if top is None or self._memo[top].state == "LACKING":
            return self._nothing(goal or "first-bad", "no release could be judged")
        if self._memo[top].state == "FAIL":
            if goal == "first-fixed":
                return self._nothing(goal, f"{self._releases[top]}, the newest that can be "
                                     "judged, still fails")
            return self._last_change("first-bad", top)
        fixed = self._last_change("first-fixed", top)
        if goal != "first-bad" or fixed.before is None:
            return replace(fixed, goal=goal or "first-fixed")
        return self._boundary("first-bad", self._releases.index(fixed.before.release))

    def _last_change(self, goal: Goal, top: int) -> Answer:
        """The change into the state of `top`; if halving meets none, one that gaps may hide."""
        answer = self._boundary(goal, top)
        other = self._explore(top) if answer.at is None else None
        if other is None:
            return answer
        above = min(number for number, probe in self._memo.items()
                    if number > other and probe.state == self._memo[top].state)
        return self._boundary(goal, above, other)

    def _boundary(self, goal: Goal, high: int, low: int = -1) -> Answer:
        """The change between `low` and `high`, which is in the new state."""
        new = self._memo[high].state
        while high - low > 1:
            middle = self._nearest((low + high) // 2, low, high)
            if middle is None:
                break
            if self._memo[middle].state == new:
                high = middle
            else:
                low = middle
        before = self._memo.get(low)
        if goal == "first-fixed" and (before is None or before.state != "FAIL"):
            return self._nothing(goal, "no release that was probed fails")
        if before is None:
            return self._nothing(goal, f"{self._releases[high]}, the oldest, fails already")
        unclear = tuple(self._releases[low + 1:high])
        return Answer(goal, self._memo[high], before, unclear, self._probes())

    def _nearest(self, wanted: int, low: int, high: int) -> int | None:
        """The release nearest to `wanted`, between `low` and `high`, that can be judged."""
        for number in sorted(range(low + 1, high), key=lambda one: abs(one - wanted)):
            if number not in self._memo and len(self._memo) >= MOST:
                return None
            if self._probe(number).state != "UNCLEAR":
                return number
        return None

    def _explore(self, top: int) -> int | None:
        """A release in the other state than `top`, in the widest gaps between the probed."""
        for _ in range(EXPLORED):
            gaps = list(self._gaps(top))
            if not gaps:
                return None
            low, high = max(gaps, key=lambda gap: gap[1] - gap[0])
            middle = (low + high) // 2
            if {self._probe(middle).state, self._memo[top].state} == {"PASS", "FAIL"}:
                return middle
        return None

    def _gaps(self, top: int) -> Iterator[tuple[int, int]]:
        """Pairs of neighbours among the probed that have others between them."""
        lacking = [number for number, probe in self._memo.items() if probe.state == "LACKING"]
        start = max(lacking, default=-1)
        known = sorted({start, *(number for number in self._memo if start < number <= top)})
        yield from ((a, b) for a, b in itertools.pairwise(known) if b - a > 1)

    def _probe(self, number: int) -> Probe:
        if number not in self._memo:
            self._memo[number] = self._oracle(self._releases[number])
        return self._memo[number]

    def _probes(self) -> tuple[Probe, ...]:
        return tuple(self._memo[number] for number in sorted(self._memo))

    def _nothing(self, goal: Goal, why: str) -> Answer:
        return Answer(goal, None, None, (), self._probes(), why)
