"""Rows of known upstream bugs: what files declare of them, and what came of running them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import agentrunproof
from agentrunproof import canonical, shape
from agentrunproof.errors import LabError, PlanError, ShapeError
from agentrunproof.lab import releases
from agentrunproof.plan import catalog
from agentrunproof.plan.loader import read_toml
from agentrunproof.plan.model import Mode, ScenarioId
from agentrunproof.record import history
from agentrunproof.record.document import Version
from agentrunproof.record.history import Bug, History, is_universal
from agentrunproof.record.layout import Finding
from agentrunproof.record.matrix import Column
from agentrunproof.shape import Name


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One row as a file declares it, found by running every release.

    Args:
        scenario: the packaged plan that shows the bug.
        check: the check that fails.
        code: what it fails with.
        first_bad: the first release of those up to `last_bad` on which it does.
        last_bad: the last release on which it does.
        first_fixed: the release after that, on which the check passes.
        upstream: where the bug was reported; nothing where no report is known.
        modes: in which modes of the plan it fails on `last_bad`, where not in all.
        listed: which bug of the list that the matrix set out from; nothing for any other.
        note: what one should know about it.
    """

    scenario: ScenarioId
    check: Name
    code: Name
    first_bad: Version
    last_bad: Version
    first_fixed: Version
    upstream: str | None = None
    modes: tuple[Mode, ...] = ()
    listed: str | None = None
    note: str = ""

    @property
    def universal(self) -> bool:
        """Whether the check watches every run, rather than what this plan is about."""
        return is_universal(self.check)

    @property
    def sides(self) -> dict[str, str]:
        """The releases that bound the bug, by the names that a record has for them."""
        known = list(releases.known())
        place = known.index(self.first_bad)
        before = {"before": known[place - 1]} if place else {}
        return {**before, "first_bad": self.first_bad, "last_bad": self.last_bad,
                "first_fixed": self.first_fixed}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The upstream bugs that the matrix set out from, each known to fail and to be fixed.

    Args:
        bugs: their names: numbers of changes upstream, where there are any.
        uncovered: those that no row shows, each with the reason.
    """

    bugs: tuple[str, ...] = ()
    uncovered: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _File:
    rows: tuple[Declared, ...] = ()
    listed: Listed = field(default_factory=Listed)


def load(folder: Path, words: Sequence[str] = ()) -> tuple[Declared, ...]:
    """The rows in the files of a folder that have one of `words` in their scenario or link.

    Args:
        folder: of TOML files.
        words: all rows if there are none.

    Raises:
        PlanError: ``HISTORY_ROWS``, naming the file and what is wrong in it, ``HISTORY_RELEASE``
            for a release that does not exist, or ``HISTORY_NONE``.
    """
    found: list[Declared] = []
    for path in sorted(folder.glob("*.toml")):
        file = _read(path)
        for row in file.rows:
            unknown = {row.first_bad, row.last_bad, row.first_fixed} - releases.known().keys()
            if unknown:
                raise PlanError("HISTORY_RELEASE", f"{path}: {row.scenario}: there is no release "
                                f"{min(unknown)}")
        found += [row for row in file.rows if not words or any(
            word in f"{row.scenario} {row.upstream or ''}" for word in words)]
    if not found:
        raise PlanError("HISTORY_NONE", f"{folder}: there is no row"
                        + f" with {' or '.join(words)} in it" * bool(words))
    return tuple(found)


def listed(folder: Path) -> Listed:
    """The list of bugs that the files of a folder hold.

    Raises:
        PlanError: ``HISTORY_ROWS``.
    """
    files = [_read(path).listed for path in sorted(folder.glob("*.toml"))]
    return Listed(bugs=tuple(bug for file in files for bug in file.bugs),
                  uncovered={bug: why for file in files for bug, why in file.uncovered.items()})


def _read(path: Path) -> _File:
    try:
        file: _File = shape.decode(_File, read_toml(path))
    except ShapeError as error:
        raise PlanError("HISTORY_ROWS", f"{path}: {error.message}", error.hint) from error
    return file


def needed(rows: Iterable[Declared], python: str) -> dict[Column, set[str]]:
    """Which scenarios rows need in which columns."""
    wanted: dict[Column, set[str]] = {}
    for row in rows:
        for sdk in row.sides.values():
            wanted.setdefault(Column(sdk=sdk, python=python), set()).add(row.scenario)
    return wanted


def build(rows: Sequence[Declared], python: str,
          findings: Mapping[tuple[str, Column], Finding]) -> History:
    """The record of what rows came to; `history.broken` tells which of them do not hold.

    Args:
        rows: as declared.
        python: of all columns.
        findings: by scenario id and column, for every pair that `needed` names.

    Raises:
        LabError: ``HISTORY_GAP`` where something stood in the way of a certificate.
    """
    return history.build(agentrunproof.__version__, python,
                         (_bug(row, python, findings) for row in rows))


def _bug(row: Declared, python: str, findings: Mapping[tuple[str, Column], Finding]) -> Bug:
    plan = catalog.load(row.scenario)
    sides = {}
    for name, sdk in row.sides.items():
        found = findings[row.scenario, Column(sdk=sdk, python=python)]
        if found.certificate is None:
            raise LabError("HISTORY_GAP", f"{row.scenario} on {sdk}: no certificate, but "
                           f"{found.error}")
        sides[name] = history.side(sdk, row.check, found)
    return Bug(scenario=row.scenario, plan=canonical.digest(plan.to_json()), area=plan.area,
               title=plan.title, check=row.check, code=row.code, universal=row.universal,
               upstream=plan.upstream, bug=row.upstream, **sides)
