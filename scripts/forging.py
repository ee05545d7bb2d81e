"""How a forger works who knows the format: edit alike in every mode, judge anew, number anew."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any

from agentrunproof.contracts import registry
from agentrunproof.errors import AgentRunProofError
from agentrunproof.plan.model import Plan
from agentrunproof.record.certificate import Certificate, as_recorded
from agentrunproof.record.observation import Observation, PhaseRun

Events = list[dict[str, Any]]
Forger = Callable[[Certificate], Iterator[Certificate]]

KINDS: dict[str, Forger] = {}


def forgery(function: Forger) -> Forger:
    KINDS[function.__name__] = function
    return function


def judged(made: Certificate, plan: Plan | None = None, seen: Observation | None = None,
           **changes: Any) -> Certificate:
    """The certificate with plan and observation replaced and judged again."""
    plan, seen = as_recorded(plan or made.plan, seen or made.observation)
    checks = registry.judge(plan, seen)
    changes = {"checks": checks, "verdict": registry.verdict(checks, seen.missing)} | changes
    return dataclasses.replace(made, plan=plan, observation=seen, **changes)


def edited(made: Certificate, edit: Callable[[str, Events], Events | None]) -> Certificate | None:
    """Apply `edit` to the events of every run alike, variants' too; None where nothing changed."""
    seen = made.observation.mapped(lambda run: _edited(run, edit))
    return None if seen == made.observation else judged(made, seen=seen)


def _edited(run: PhaseRun, edit: Callable[[str, Events], Events | None]) -> PhaseRun:
    try:
        events = edit(run.phase, copy.deepcopy(list(run.events)))
    except (LookupError, StopIteration):  # a variant may not have what is edited
        return run
    return run if events is None else PhaseRun(run.mode, run.phase, tuple(events))


def each(made: Certificate, kind: str, edit: Callable[[Events, int], None],
         where: Callable[[dict[str, Any]], bool] = lambda event: True) -> Iterator[Certificate]:
    """Edit the nth event of a kind in a phase, in every mode, for each n and phase."""
    places = sorted({(run.phase, n) for run in made.observation.runs
                     for n, event in enumerate(e for e in run.events if e["kind"] == kind)
                     if where(event)})
    random.Random(made.scenario).shuffle(places)
    for phase, n in places:
        def apply(of: str, events: Events, phase: str = phase, n: int = n) -> Events | None:
            found = [i for i, event in enumerate(events) if event["kind"] == kind]
            if of != phase or n >= len(found) or not where(events[found[n]]):
                return None
            edit(events, found[n])
            return events

        forged = edited(made, apply)
        if forged is not None:
            yield forged


def drop(events: Events, at: int) -> None:
    del events[at]


def put(**fields: Any) -> Callable[[Events, int], None]:
    def edit(events: Events, at: int) -> None:
        for name, value in fields.items():
            events[at][name] = value(events[at][name]) if callable(value) else value
    return edit


def everywhere(made: Certificate, old: str, new: str) -> Certificate | None:
    """Replace a text wherever it stands in the observation."""
    def swap(value: Any) -> Any:
        if isinstance(value, str):
            return new if value == old else value.replace(old, new) if len(old) > 3 else value
        if isinstance(value, dict):
            return {key: swap(item) if key not in ("kind", "type") else item
                    for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(swap(item) for item in value)
        return value

    return edited(made, lambda _, events: [swap(event) for event in events])


def texts_of(made: Certificate, kind: str, field: str) -> list[str]:
    return sorted({event[field] for run in made.observation.runs for event in run.of(kind)
                   if event[field]})


def forge(made: Certificate, kind: str) -> Iterator[Certificate]:
    """The forgeries of one kind, as far as they can be judged at all."""
    try:
        yield from KINDS[kind](made)
    except (AgentRunProofError, LookupError, StopIteration, RuntimeError):
        return
