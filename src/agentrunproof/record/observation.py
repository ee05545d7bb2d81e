"""What was observed of a plan: its runs, mode by mode and phase by phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agentrunproof.record.events import Event


@dataclass(frozen=True)
class PhaseRun:
    """One phase in one mode, as events with their items inline (see `record.events`)."""

    mode: str
    phase: str
    events: tuple[Event, ...]

    @cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event["kind"], []).append(event)
        return found

    @property
    def where(self) -> str:
        return f"{self.mode}/{self.phase}"

    def of(self, *kinds: str) -> list[Event]:
        """Events of these kinds, in order."""
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], [])
        return [event for event in self.events if event["kind"] in kinds]

    def last(self, kind: str) -> Event | None:
        found = self._by_kind.get(kind)
        return found[-1] if found else None

    @property
    def outcome(self) -> str:
        """How the phase ended; empty if it never did."""
        finished = self.last("run_finished")
        return str(finished["outcome"]) if finished else ""


@dataclass(frozen=True)
class Observation:
    """All runs of a plan, or the capabilities that the SDK release lacks for it."""

    runs: tuple[PhaseRun, ...]
    missing: tuple[str, ...] = ()

    @cached_property
    def modes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.mode for run in self.runs))

    def in_mode(self, mode: str) -> tuple[PhaseRun, ...]:
        return tuple(run for run in self.runs if run.mode == mode)

    def run(self, mode: str, phase: str) -> PhaseRun | None:
        return next((r for r in self.runs if r.mode == mode and r.phase == phase), None)

    def pairs(self, first: str, second: str) -> Iterator[tuple[PhaseRun, PhaseRun]]:
        """The runs of each phase in two modes, where both ran it."""
        for run in self.in_mode(first):
            other = self.run(second, run.phase)
            if other is not None:
                yield run, other
