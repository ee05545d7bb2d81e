"""The history matrix: upstream bugs that a check saw, on the releases around each boundary.

A row names one bug by what shows it: a check of a scenario, and the code it fails with. It has
the four releases that bound the bug, each with what the check said there and the certificate that
shows it: the release before it came, the first and the last that have it, and the first without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from agentrunproof.plan.model import ScenarioId
from agentrunproof.record.document import Document, Version
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column, MatrixProducer, MinorPython, Row
from agentrunproof.shape import Digest, Name

#: What a check said on a release; ``ABSENT`` where the contract did not apply.
State = Literal["PASS", "FAIL", "UNTESTABLE", "ABSENT"]

#: What can catch a bug: a check that watches every run, one that compares a run with another that
#: must agree, a case of the session suite, or what a scenario expects of itself alone.
Catcher = Literal["universal", "relation", "suite", "expectation"]

_CATCHERS: dict[str, Catcher] = {"execution_outcome": "expectation", "session_suite": "suite"}
_RELATION = "relation_"


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a row's check said on one release.

    Args:
        sdk: the release.
        state: what it said; ``UNTESTABLE`` too where the release lacks what the plan needs.
        code: of a check that did not pass.
        certificate: id of the certificate that shows it.
    """

    sdk: Version
    state: State
    code: Name | None = None
    certificate: Digest

    @property
    def words(self) -> str:
        return " ".join(filter(None, (self.state, self.code)))


@dataclass(frozen=True, kw_only=True)
class Bug:
    """One row.

    Args:
        scenario: the plan that shows the bug.
        plan: its digest.
        area: of the plan.
        title: of the plan.
        check: the check that fails.
        code: what it fails with.
        universal: whether that check watches every run.
        upstream: links of the plan.
        bug: which of these reports it; nothing where no report is known.
        before: the release before `first_bad`; nothing if there is none.
        first_bad: the first release that has it.
        last_bad: the last release that has it.
        first_fixed: the release after that.
    """

    scenario: ScenarioId
    plan: Digest
    area: Name
    title: str
    check: Name
    code: Name
    universal: bool
    upstream: tuple[str, ...] = ()
    bug: str | None = None
    before: Side | None = None
    first_bad: Side
    last_bad: Side
    first_fixed: Side

    @property
    def catcher(self) -> Catcher:
        """What kind of check it is."""
        return catcher(self.check)

    @property
    def sides(self) -> Iterator[tuple[str, Side]]:
        """The sides there are, oldest first, with their names."""
        for name in ("before", "first_bad", "last_bad", "first_fixed"):
            side = getattr(self, name)
            if side is not None:
                yield name, side

    @property
    def row(self) -> Row:
        """What a certificate of this row must be of, in the terms of a matrix."""
        return Row(scenario=self.scenario, plan=self.plan, area=self.area, title=self.title,
                   upstream=self.upstream, checks=(), cells=())


@dataclass(frozen=True, kw_only=True)
class History:
    """All rows, in the order of `order`; `python` is that of every environment."""

    producer: MatrixProducer
    python: MinorPython
    rows: tuple[Bug, ...]

    def column(self, side: Side) -> Column:
        """The environment of a side."""
        return Column(sdk=side.sdk, python=self.python)


FORM = Document("history", History)


def catcher(check: str) -> Catcher:
    """What kind of check it is, by its name."""
    if check.startswith(_RELATION):
        return "relation"
    return _CATCHERS.get(check, "universal")


def is_universal(check: str) -> bool:
    """Whether a check watches every run, rather than what one plan is about."""
    return catcher(check) == "universal"


def order(bug: Bug) -> tuple[str, ...]:
    """Sorts rows: by area, scenario, check and code."""
    return bug.area, bug.scenario, bug.check, bug.code


def side(sdk: str, check: str, finding: Finding) -> Side:
    """What a finding says of one check.

    Args:
        sdk: the release.
        check: the check's name.
        finding: of a certificate.
    """
    assert finding.certificate is not None
    result = next((one for one in finding.checks if one.check == check), None)
    if finding.missing:
        return Side(sdk=sdk, state="UNTESTABLE", certificate=finding.certificate)
    if result is None:
        return Side(sdk=sdk, state="ABSENT", certificate=finding.certificate)
    state: State = "UNTESTABLE" if result.verdict == "ERROR" else result.verdict
    return Side(sdk=sdk, state=state, code=None if state == "PASS" else result.code,
                certificate=finding.certificate)


def broken(bug: Bug) -> str:
    """Why a row does not show what it says, or nothing if it does."""
    for name in ("first_bad", "last_bad"):
        seen: Side = getattr(bug, name)
        if (seen.state, seen.code) != ("FAIL", bug.code):
            return f"{bug.check} does not fail with {bug.code} on {seen.sdk}: {seen.words}"
    if bug.first_fixed.state != "PASS":
        return f"{bug.check} does not pass on {bug.first_fixed.sdk}: {bug.first_fixed.words}"
    if bug.before is not None and bug.before.code == bug.code:
        return f"{bug.check} fails with {bug.code} on {bug.before.sdk} already"
    return ""


def build(version: str, python: str, rows: Iterable[Bug]) -> History:
    """The record of rows in any order."""
    return History(producer=MatrixProducer(version=version), python=python,
                   rows=tuple(sorted(rows, key=order)))
