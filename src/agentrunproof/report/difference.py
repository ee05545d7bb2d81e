"""Where two certificates of one plan part: the first event, and the checks.

Found as data (`Difference`), told in words by `lines`, so machines and people get the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentrunproof import canonical
from agentrunproof.errors import RecordError
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.report.text import wrap


@dataclass(frozen=True)
class Divergence:
    """The first place where two observations differ.

    Args:
        mode, phase: the run.
        event: number of the event in that run, from 0; None if one side lacks the whole run.
        kind: kind of the event, of `a` where the kinds differ.
        field: path of the differing field within the event, such as ``input[2].content``; empty
            if one side lacks the event.
        a, b: the differing values; None where a side has none.
    """

    mode: str
    phase: str
    event: int | None
    kind: str
    field: str
    a: Any
    b: Any


@dataclass(frozen=True)
class Difference:
    """All that `compare` tells: nothing set means that both say the same.

    Args:
        missing: capabilities each side lacked, if not the same.
        divergence: the first differing event.
        checks: (check, result in a, result in b) of differing checks; ``absent``, or verdict and
            code.
    """

    missing: tuple[tuple[str, ...], tuple[str, ...]] | None
    divergence: Divergence | None
    checks: tuple[tuple[str, str, str], ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.divergence or self.checks)

    def to_json(self) -> dict[str, Any]:
        """The difference as one JSON table."""
        table: dict[str, Any] = {"same": not self}
        if self.missing:
            table["missing"] = {"a": list(self.missing[0]), "b": list(self.missing[1])}
        if self.divergence:
            table["divergence"] = dict(vars(self.divergence))
        table["checks"] = [{"check": check, "a": a, "b": b} for check, a, b in self.checks]
        return table


def compare(a: Certificate, b: Certificate) -> Difference:
    """What differs between two certificates of one plan.

    Raises:
        RecordError: ``DIFF_OTHER_PLAN``, they are of different plans; ``DIFF_PRIVATE``, the
            payloads of one are digests.
    """
    if "private" in (a.profile, b.profile):
        raise RecordError("DIFF_PRIVATE", "the payloads of a private certificate are salted "
                          "digests and compare with nothing", "compare public certificates")
    if canonical.digest(a.plan.to_json()) != canonical.digest(b.plan.to_json()):
        raise RecordError("DIFF_OTHER_PLAN", f"the certificates are of different plans: "
                          f"{a.scenario} and {b.scenario}", "compare two of one scenario")
    missing = (a.observation.missing, b.observation.missing)
    results_a = {check.check: f"{check.verdict} {check.code}" for check in a.checks}
    results_b = {check.check: f"{check.verdict} {check.code}" for check in b.checks}
    differing = []
    for name in dict.fromkeys([*results_a, *results_b]):
        pair = results_a.get(name, "absent"), results_b.get(name, "absent")
        if pair[0] != pair[1]:
            differing.append((name, *pair))
    return Difference(missing if missing[0] != missing[1] else None,
                      _first_divergence(a, b), tuple(differing))


def lines(difference: Difference, a: str, b: str) -> list[str]:
    """The difference in words; `a` and `b` are what the two certificates are called."""
    if not difference:
        return ["no difference in what was observed"]
    told = [f"a: {a}", f"b: {b}"]
    if difference.missing:
        told += [f"  {name} lacks: {', '.join(lacks) or 'nothing'}"
                 for name, lacks in zip("ab", difference.missing, strict=True)]
    if difference.divergence:
        told += _divergence_lines(difference.divergence)
    if difference.checks:
        told.append("checks that differ:")
        told += [f"  {check}: {left} -> {right}" for check, left, right in difference.checks]
    return told


def _divergence_lines(found: Divergence) -> list[str]:
    where = f"{found.mode}/{found.phase}"
    if found.event is None:
        return [f"first divergence: {where} was run only in {'b' if found.a is None else 'a'}"]
    if not found.field:
        side = "b" if found.a is None else "a"
        told = [f"first divergence: {where}, event {found.event} is only in {side}: {found.kind}"]
        return told + wrap(_short(found.b if found.a is None else found.a), "  ")
    return [f"first divergence: {where}, event {found.event} ({found.kind}), {found.field}",
            *wrap(f"a: {_short(found.a)}", "  "), *wrap(f"b: {_short(found.b)}", "  ")]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:297] + "..."


def _first_divergence(a: Certificate, b: Certificate) -> Divergence | None:
    of_a, of_b = _runs(a.observation), _runs(b.observation)
    for mode, phase in dict.fromkeys([*of_a, *of_b]):
        left, right = of_a.get((mode, phase)), of_b.get((mode, phase))
        if left is None or right is None:
            return Divergence(mode, phase, None, "", "",
                              None if left is None else "run", None if right is None else "run")
        found = _in_run(left, right)
        if found is not None:
            return replace(found, mode=mode)
    return None


def _runs(seen: Observation) -> dict[tuple[str, str], PhaseRun]:
    """All runs by mode and phase; those of a variant have its name for a mode."""
    own = {(run.mode, run.phase): run for run in seen.runs}
    return own | {(varied.name, run.phase): run for varied in seen.variants
                  for run in varied.runs}


def _in_run(left: PhaseRun, right: PhaseRun) -> Divergence | None:
    for number, (one, other) in enumerate(zip(left.events, right.events, strict=False)):
        place = _first_field(one, other, "")
        if place is not None:
            field, a, b = place
            return Divergence(left.mode, left.phase, number, one["kind"], field, a, b)
    shorter = min(len(left.events), len(right.events))
    extra = (*left.events[shorter:], *right.events[shorter:])
    if not extra:
        return None
    of_left = len(left.events) > shorter
    return Divergence(left.mode, left.phase, shorter, extra[0]["kind"], "",
                      extra[0] if of_left else None, None if of_left else extra[0])


def _first_field(one: Any, other: Any, path: str) -> tuple[str, Any, Any] | None:
    """The innermost first place where two values differ, with what stands there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            found = _first_field(one.get(key), other.get(key), f"{path}.{key}" if path else key)
            if found is not None:
                return found
        return None
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        for number, (first, second) in enumerate(zip(one, other, strict=False)):
            found = _first_field(first, second, f"{path}[{number}]")
            if found is not None:
                return found
        shorter = min(len(one), len(other))
        if len(one) == len(other):
            return None
        return f"{path}[{shorter}]", _at(one, shorter), _at(other, shorter)
    if type(one) is type(other) and one == other:
        return None
    return path, one, other


def _at(values: Sequence[Any], number: int) -> Any:
    return values[number] if number < len(values) else None
