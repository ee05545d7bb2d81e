"""Labelled runs: of each its steps, and at which one people say that it started to go wrong.

A run is read as `localize` reads the user's own file of it: by the importer of its form. What
cannot be scored is named with the reason, and never counted as anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePath
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import detect, draft, trail
from agentrunproof.localize import labels, rows
from agentrunproof.localize.labels import Label, Part
from agentrunproof.localize.steps import with_sources
from agentrunproof.record.localization import Step
from agentrunproof.record.run import Run

PACKAGED = "runopsy_bench"
_FORMS = ("known: Who&When, AgentRx (trajectories and annotations), TRAIL (traces and "
          "annotations), runopsy_bench, and steps or messages with an onset")
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One labelled run.

    Args:
        name: its id within its set.
        steps: what happened.
        onset: number of the step at which it started to go wrong; None: it did not.
        agent: who made the mistake, if that is labelled.
        detectable: whether the set says that it can be seen in the trace.
        failed: whether the set says of the run that it failed, as sets of failures do.
    """

    name: str
    steps: tuple[Step, ...]
    onset: int | None
    agent: str = ""
    detectable: bool = True
    failed: bool = False


@dataclass(frozen=True)
class Left:
    """A value that is not scored, and why.

    Args:
        name: where the value stands, and the id of the run.
        reason: such as ``no label``.
        detail: what is labelled, if that is the reason.
    """

    name: str
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Dataset:
    """What files of a labelled set hold.

    Args:
        cases: the runs that can be scored.
        left: all others.
        notes: what a user must be told of the labels.
    """

    cases: tuple[Case, ...]
    left: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()


def packaged() -> bytes:
    """The content of the labelled set that comes with the package (see its notice)."""
    return resources.files("agentrunproof.localize").joinpath(
        f"data/{PACKAGED}.jsonl").read_bytes()


def read(data: bytes, name: str) -> tuple[Case, ...]:
    """The cases of one file of which each value must be a labelled run.

    Args:
        data: the file's content.
        name: its name, for messages.

    Raises:
        RecordError: what `read_all` says; ``DATASET_LABEL``: a run cannot be scored.
    """
    found = read_all({name: data})
    if found.left:
        first = found.left[0]
        raise RecordError("DATASET_LABEL", f"{first.name}: {first.reason} {first.detail}".strip(),
                          "are its labels counted from where the set counts them?")
    return found.cases


def read_all(files: Mapping[str, bytes], told: Callable[[str], None] | None = None) -> Dataset:
    """What the files of one set hold: traces and labels find each other by their ids.

    Args:
        files: their content by their names.
        told: called with the id of each run that was read.

    Raises:
        RecordError: ``DATASET_SYNTAX``: a file is neither JSON nor JSON lines nor Parquet;
            ``DATASET_PARQUET``: pyarrow is not installed; ``DATASET_EMPTY``: there is nothing in
            them; ``DATASET_FORMAT``: nothing of a known form; ``DATASET_DUPLICATE``: two labels of
            one run differ.
    """
    read = _Reading()
    for name, data in files.items():
        for place, value in rows.of_file(data, name):
            read.take(value, place, PurePath(name).stem)
    if not read.traces and not read.labels:
        if not read.left:
            raise RecordError("DATASET_EMPTY",
                              f"{', '.join(files) or 'no file'}: holds no labelled run")
        raise RecordError("DATASET_FORMAT", f"{read.left[0].name}: {read.left[0].reason}", _FORMS)
    return read.dataset(told)


class _Reading:
    """Takes the values of a set, one by one."""

    def __init__(self) -> None:
        self.traces: list[tuple[str, Part]] = []  # where they stand, and what they are
        self.labels: dict[str, Label] = {}  # of those that stand apart
        self.left: list[Left] = []
        self._notes: list[str] = []

    def take(self, value: Any, place: str, stem: str) -> None:
        part = labels.part(value, stem)
        if part is None:
            self.left.append(Left(place, "no labelled run of a known form"))
        elif part.trace is not None:
            self.traces.append((place, part))
        elif part.label is not None and \
                self.labels.setdefault(part.id, part.label) != part.label:
            raise RecordError("DATASET_DUPLICATE", f"{place}: run {part.id:.60} is labelled twice, "
                              "and differently", "leave one of the files out")

    def dataset(self, told: Callable[[str], None] | None) -> Dataset:
        """The cases of what was taken."""
        cases: list[Case] = []
        for place, part in self.traces:
            label = part.label or self.labels.get(part.id)
            name = f"{place} ({part.id:.60})"
            if label is None or label.problem:
                self.left.append(Left(name, label.problem if label else "no label"))
            else:
                try:
                    found: Case | Left = self._case(part, label, name)
                except RecordError as error:
                    found = Left(name, error.message)
                if isinstance(found, Case):
                    cases.append(found)
                else:
                    self.left.append(found)
            if told is not None:
                told(part.id)
        known = {part.id for _, part in self.traces}
        self.left += [Left(id, "a label without its trace") for id in self.labels
                      if id not in known]
        return Dataset(tuple(cases), tuple(self.left), tuple(self._notes))

    def _case(self, part: Part, label: Label, name: str) -> Case | Left:
        """A labelled run, unless what is labelled is not in it.

        Raises:
            RecordError: it cannot be read.
        """
        steps = _steps(part.trace, name)
        found = _found(label, part.trace, steps)
        nowhere = [wanted for wanted, number in found.items() if number is None]
        if nowhere and len(nowhere) == len(found):
            done = sum(step.kind not in ("start", "end") for step, _ in steps)
            return Left(name, "what is labelled is no step of the run", f"{label.key} "
                        f"{', '.join(map(str, nowhere))[:60]}; it has {done} steps")
        if nowhere:
            self._notes.append(f"{name}: {len(nowhere)} of {len(found)} labels are at no step of "
                               f"it, such as {nowhere[0]!s:.40}")
        onset = min((number for number in found.values() if number is not None), default=None)
        return Case(part.id, tuple(step for step, _ in steps), onset, label.agent,
                    label.detectable, label.failed)


def _steps(trace: Any, place: str) -> tuple[tuple[Step, Json], ...]:
    """The steps of a trace as `localize` reads them, with their sources."""
    read_as, found = detect.understand(json.dumps(trace, default=str).encode("ascii"), place)
    return with_sources(found if isinstance(found, Run) else
                        draft.told(found, imported_from=read_as))


def _found(label: Label, trace: Any, steps: tuple[tuple[Step, Json], ...]
           ) -> dict[Any, int | None]:
    """The step of each value that is labelled; None: there is none.

    Of several steps it is that of the labelled agent, else the first.
    """
    inside = _inside(trace) if label.key == "span" else {}
    found: dict[Any, int | None] = {}
    for wanted in label.wanted:
        meant = inside.get(wanted, {wanted})
        there = [step for step, source in steps if source.get(label.key) in meant]
        by = [step for step in there
              if label.agent and step.agent.lower() == label.agent.lower()]
        found[wanted] = (by or there)[0].number if there else None
    return found


def _inside(trace: Any) -> dict[str, set[str]]:
    """The ids of the spans inside of each span, itself included."""
    above: dict[str, str] = {}
    inside: dict[str, set[str]] = {}
    for span, parent in trail.walk(trace["spans"]):
        id = str(span.get("span_id") or "")
        above[id] = parent
        at = id
        while at and id not in inside.setdefault(at, set()):
            inside[at].add(id)
            at = above.get(at, "")
    return inside
