"""Trials: what was asked of the model, and what came of it.

The search is a generator: it yields an `Ask` and is sent the decisions. Whoever drives it (one
call at a time, threads, a cluster) has the effects; what the search does depends on the
decisions alone.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from agentrunproof.ablation.subject import Decision, Earlier, Edit, Subject, Target

#: What a trial is for: the rate of the unchanged request, the search, or a claim.
Phase = Literal["base", "search", "confirm"]

#: ``hit``: decided as asked about; ``repeat``: made an earlier call again, whose result was gone;
#: ``asks``: only asked for something, where the decision was an action; else ``other``.
Outcome = Literal["hit", "repeat", "asks", "other"]

T = TypeVar("T")


@dataclass(frozen=True)
class Ask:
    """Reruns that are wanted: of one edit, so many, each a fresh sample."""

    edit: Edit
    runs: int
    phase: Phase


Step = Generator[Ask, Iterable[Decision], T]


@dataclass
class Tally:
    """The outcomes of one edit in one phase, in their order."""

    edit: Edit
    phase: Phase
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def hits(self) -> int:
        return self.outcomes.count("hit")

    @property
    def misses(self) -> int:
        return len(self.outcomes) - self.hits


class Trials:
    """All trials of one explanation, and what they say.

    Args:
        subject: what is explained.
        target: what is asked about it.
    """

    def __init__(self, subject: Subject, target: Target) -> None:
        self.target = target
        self.tallies: dict[tuple[Phase, Edit], Tally] = {}
        self.order: list[tuple[Tally, Outcome]] = []
        self.instead: dict[Edit, list[Decision]] = {}  # decisions that missed, by edit
        self.prerequisites: list[Earlier] = []
        self._earlier = {repr(item.call): item for item in subject.earlier}

    def tally(self, phase: Phase, edit: Edit) -> Tally:
        """The outcomes of an edit in a phase."""
        return self.tallies.setdefault((phase, edit), Tally(edit, phase))

    def ask(self, phase: Phase, edit: Edit, runs: int) -> Step[Tally]:
        """Have reruns made, and take their decisions down one by one."""
        tally = self.tally(phase, edit)
        for decision in (yield Ask(edit, runs, phase)):
            self.note(tally, decision)
        return tally

    def note(self, tally: Tally, decision: Decision) -> None:
        """Take one decision down."""
        outcome = self._outcome(tally.edit, decision)
        tally.outcomes.append(outcome)
        self.order.append((tally, outcome))
        if outcome != "hit":
            self.instead.setdefault(tally.edit, []).append(decision)

    @property
    def calls(self) -> int:
        return len(self.order)

    def _outcome(self, edit: Edit, decision: Decision) -> Outcome:
        if self.target.met(decision):
            return "hit"
        again = [self._earlier[key] for key in map(repr, decision.calls) if key in self._earlier]
        gone = [item for item in again if item.result & edit.leaves]
        if gone:
            self.prerequisites += [item for item in gone if item not in self.prerequisites]
            return "repeat"
        if self.target.acts and not decision.calls and asks(decision.text):
            return "asks"
        return "other"


def asks(text: str) -> bool:
    """Whether a text ends as a question."""
    return text.rstrip().endswith(("?", "\uff1f", "\u061f"))
