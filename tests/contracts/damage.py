"""Ways to damage an observation in one place, in every mode or in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Damage = Callable[[Observation], Observation]
Edit = Callable[[list[Event]], list[Event]]


def on(phase: str, edit: Edit, mode: str | None = None) -> Damage:
    """Apply `edit` to the events of a phase, in all modes or in one; it must change them."""
    def damage(seen: Observation) -> Observation:
        runs = []
        for run in seen.runs:
            if run.phase == phase and mode in (None, run.mode):
                events = tuple(edit([dict(event) for event in run.events]))
                assert events != run.events, "the damage changes nothing"
                run = PhaseRun(run.mode, run.phase, events)
            runs.append(run)
        return replace(seen, runs=tuple(runs))

    return damage


def without(phase: str) -> Damage:
    """A phase that was never run."""
    return lambda seen: replace(
        seen, runs=tuple(run for run in seen.runs if run.phase != phase))


def _find(events: list[Event], kind: str, which: int, match: dict[str, Any]) -> int:
    found = [n for n, event in enumerate(events) if event["kind"] == kind
             and all(event[name] == value for name, value in match.items())]
    assert found, f"no event {kind} with {match}"
    return found[which]


def change(kind: str, which: int = 0, match: dict[str, Any] | None = None,
           **fields: Any) -> Edit:
    """Set fields of an event; a function as value is given the old value."""
    def edit(events: list[Event]) -> list[Event]:
        event = events[_find(events, kind, which, match or {})]
        for name, value in fields.items():
            event[name] = value(event[name]) if callable(value) else value
        return events

    return edit


def drop(kind: str, which: int | None = 0, **match: Any) -> Edit:
    """Leave out an event; all that match when `which` is None."""
    def edit(events: list[Event]) -> list[Event]:
        if which is None:
            return [event for event in events if event["kind"] != kind
                    or any(event[name] != value for name, value in match.items())]
        del events[_find(events, kind, which, match)]
        return events

    return edit


def repeat(kind: str, which: int = 0, **match: Any) -> Edit:
    """Let an event happen twice."""
    def edit(events: list[Event]) -> list[Event]:
        place = _find(events, kind, which, match)
        return [*events[:place + 1], dict(events[place]), *events[place + 1:]]

    return edit


def insert(event: Event, before: str = "run_finished", **match: Any) -> Edit:
    """Let something happen that did not."""
    def edit(events: list[Event]) -> list[Event]:
        events.insert(_find(events, before, 0, match), event)
        return events

    return edit


def to_front(kind: str, **match: Any) -> Edit:
    """Let an event happen before everything else."""
    def edit(events: list[Event]) -> list[Event]:
        return [events.pop(_find(events, kind, 0, match)), *events]

    return edit


def both(*edits: Edit) -> Edit:
    def edit(events: list[Event]) -> list[Event]:
        for one in edits:
            events = one(events)
        return events

    return edit


def less(*positions: int) -> Callable[[Any], Any]:
    """Change a list field by leaving out the items at these positions."""
    def leave_out(items: Any) -> Any:
        left_out = {position % len(items) for position in positions}
        return tuple(item for n, item in enumerate(items) if n not in left_out)

    return leave_out


def more(item: Any, position: int | None = None) -> Callable[[Any], Any]:
    """Change a list field by putting an item in (at the end, or at a position)."""
    def add(items: Any) -> Any:
        place = len(items) if position is None else position
        return (*items[:place], item, *items[place:])

    return add


def swapped(first: int, second: int) -> Callable[[Any], Any]:
    def swap(items: Any) -> Any:
        changed = list(items)
        changed[first], changed[second] = changed[second], changed[first]
        return tuple(changed)

    return swap


def given(call: str, text: Any) -> Callable[[Any], Any]:
    """Change a field of items, or of new items, by another output for a call."""
    def changed(item: Any) -> Any:
        if "item" in item:
            return item | {"item": changed(item["item"])}
        return item | {"output": text} if item.get("call_id") == call and "output" in item else item

    return lambda items: tuple(map(changed, items))
