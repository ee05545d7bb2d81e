"""What was observed of a plan: its runs, mode by mode and phase by phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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


def nearest(places: Sequence[tuple[str, str]], mode: str, phase: str) -> int | None:
    """Which run (by mode and phase) a variant's is held against: the phase in the nearest mode."""
    same = [n for n, place in enumerate(places) if place[1] == phase]
    return min(same, key=lambda n: (places[n][0] != mode, places[n][0] != "run"), default=None)


@dataclass(frozen=True)
class VariantRuns:
    """The runs of a variant of the plan (`plan.variants`), phase by phase in its one mode."""

    name: str
    runs: tuple[PhaseRun, ...]

    def run(self, phase: str) -> PhaseRun | None:
        return next((run for run in self.runs if run.phase == phase), None)


@dataclass(frozen=True)
class Observation:
    """All runs of a plan and of its variants, or what the SDK release lacks for it.

    Args:
        runs: of the plan itself.
        missing: names of the capabilities that the release lacks.
        variants: runs of its variants, in the order of `plan.variants`.
    """

    runs: tuple[PhaseRun, ...]
    missing: tuple[str, ...] = ()
    variants: tuple[VariantRuns, ...] = ()

    @cached_property
    def modes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.mode for run in self.runs))

    def in_mode(self, mode: str) -> tuple[PhaseRun, ...]:
        return tuple(run for run in self.runs if run.mode == mode)

    def run(self, mode: str, phase: str) -> PhaseRun | None:
        return next((r for r in self.runs if r.mode == mode and r.phase == phase), None)

    def likeness_base(self, run: PhaseRun) -> PhaseRun | None:
        """The plan's own run that a variant's run is held against."""
        place = nearest([(own.mode, own.phase) for own in self.runs], run.mode, run.phase)
        return None if place is None else self.runs[place]

    def mapped(self, change: Callable[[PhaseRun], PhaseRun]) -> Observation:
        """The observation with every run changed, those of variants too."""
        return replace(self, runs=tuple(map(change, self.runs)), variants=tuple(
            replace(variant, runs=tuple(map(change, variant.runs)))
            for variant in self.variants))

    def pairs(self, first: str, second: str) -> Iterator[tuple[PhaseRun, PhaseRun]]:
        """The runs of each phase in two modes, where both ran it."""
        for run in self.in_mode(first):
            other = self.run(second, run.phase)
            if other is not None:
                yield run, other


def gathered(runs: Iterable[tuple[str, PhaseRun]], missing: Sequence[str] = ()) -> Observation:
    """An observation of runs as they were driven, each with its variant's name or an empty one."""
    found: dict[str, list[PhaseRun]] = {"": []}
    for variant, run in runs:
        found.setdefault(variant, []).append(run)
    own = tuple(found.pop(""))
    return Observation(own, tuple(missing), tuple(
        VariantRuns(name, tuple(varied)) for name, varied in found.items()))
