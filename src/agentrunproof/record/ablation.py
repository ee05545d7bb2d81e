"""The ablation record: which parts of a subject were taken away, how often, and what came of it.

It lists every trial, so that every count, interval, e-value and verdict in it can be derived again
(`checker.ablation`). The parts themselves are named, and only what was found is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from agentrunproof.plan.model import ScenarioId
from agentrunproof.record.document import Document, Program, Version
from agentrunproof.shape import Count, Decimal, Digest, Positive, Text

#: Leaves by number, such as ``0-17 25``, in ascending runs as long as they can be.
Leaves = Annotated[str, Text(r"(\d+(-\d+)?( \d+(-\d+)?)*)?", "leaves such as 0-17 25")]
Outcomes = Annotated[str, Text(r"[hraopc]*", "outcomes: h, r, a, o, p and c")]

Phase = Literal["base", "search", "confirm"]
Way = Literal["filler", "other", "removed"]
Status = Literal["CAUSE", "NONE", "UNSTABLE", "BUDGET", "STOPPED"]

#: How outcomes are written: the decision asked about; an earlier call made again because its result
#: was gone; nothing but a question; anything else.
LETTERS = {"hit": "h", "repeat": "r", "asks": "a", "other": "o"}

#: And of a plan: it fails in the same check with the same code, and in no new one; it passes; it
#: fails the same, but does not pass where the whole plan does; anything else.
PLAN_LETTERS = {"same": "h", "passes": "p", "control": "c", "other": "o"}


@dataclass(frozen=True, kw_only=True)
class Arm:
    """All reruns with the same leaves gone in the same way and phase, in their order.

    Args:
        phase: what they were for.
        way: how the leaves went; nothing is said where none did.
        leaves: that were gone.
        outcomes: one letter for each rerun, in their order (`LETTERS`).
    """

    phase: Phase
    way: Way | None = None
    leaves: Leaves = ""
    outcomes: Outcomes


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Hits out of runs, with the exact 95% interval of the rate."""

    hits: Count
    runs: Count
    low: Decimal
    high: Decimal


@dataclass(frozen=True, kw_only=True)
class Guess:
    """Where the alternative of a claim's test began; see `ablation.statistics.Guess`."""

    high: Decimal
    low: Decimal
    weight: Positive


@dataclass(frozen=True, kw_only=True)
class Claim:
    """With these leaves gone the decision is rarer: a claim with its test on fresh reruns.

    Args:
        leaves: that were gone, all of them together.
        guess: of the test.
        with_: the unchanged request.
        without: with the leaves gone.
        e: the largest e-value on the way, of as many blocks as both have.
        verdict: whether it reached what alpha asks for, split over all claims.
    """

    leaves: Leaves
    guess: Guess
    with_: Rate
    without: Rate
    e: Decimal
    verdict: Literal["CONFIRMED", "OPEN"]


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """Leaves that the decision needs without being caused by them.

    Args:
        leaves: without them the model makes a call again (``repeat``) or asks (``asks``).
        reason: which of the two.
        runs: reruns of the search in which it did.
    """

    leaves: Leaves
    reason: Literal["repeat", "asks"]
    runs: Positive


@dataclass(frozen=True, kw_only=True)
class Group:
    """A text of the subject, and how many leaves it has; leaves are numbered through all groups."""

    id: str
    leaves: Positive


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a leaf says that a claim or requirement names; of a plan, what each leaf says."""

    leaf: Count
    id: str
    kind: str
    place: str
    text: str


@dataclass(frozen=True, kw_only=True)
class SubjectLine:
    """What was explained.

    Args:
        kind: a recorded model call, or a failing plan.
        digest: of its request, or of the plan.
        dialect: of the request.
        scenario: id of the plan.
        sdk: release of the SDK on which the plan was run.
        good: release on which it passes, and must without any of its leaves, if one was known.
    """

    kind: Literal["call", "plan"]
    digest: Digest
    dialect: str = ""
    scenario: ScenarioId | None = None
    sdk: Version | None = None
    good: Version | None = None


@dataclass(frozen=True, kw_only=True)
class Needed:
    """A leaf without which the smallest plan does not fail the same.

    Args:
        leaf: that is needed.
        leaves: that were gone in the trial without it: those of the smallest plan, this one, and
            what hangs on it.
        instead: what happened, in words, where the trial's letter doesn't say it.
    """

    leaf: Count
    leaves: Leaves
    instead: str = ""


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """The smallest plan that was seen to fail the same.

    Args:
        gone: the leaves of the whole plan that it does not have.
        plan: its digest.
        certificate: id of its certificate, on the release where it fails.
        needed: its leaves without each of which it does not fail the same.
        fixed: its leaves that cannot be taken away alone and leave a plan.
        untried: its leaves that were not taken away alone, because the search ended before.
    """

    gone: Leaves = ""
    plan: Digest
    certificate: Digest
    needed: tuple[Needed, ...] = ()
    fixed: Leaves = ""
    untried: Leaves = ""


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A whole explanation.

    Args:
        producer: who made it.
        subject: what was explained.
        target: what was asked, as the user wrote it.
        decision: what the model did, in words.
        alpha: the chance, at most, that any claim is confirmed wrongly.
        budget: of calls.
        deterministic: whether one rerun of each edit told everything.
        groups: the texts that the leaves belong to.
        arms: all trials.
        calls: how many trials there were.
        base: how often the unchanged request decided so, apart from the confirmation.
        claims: of what was found, the strongest first.
        required: what the decision needs besides.
        complete: whether the search ended because everything else was seen to do nothing; of a
            plan, because nothing more can be taken away alone.
        ended: ``done``, or what cut it short.
        status: the answer.
        quotes: what the named leaves say.
        instead: what the model did most with the first claim's leaves gone, in words.
        reduction: of a plan that fails when it is rerun.
    """

    producer: Program
    subject: SubjectLine
    target: str
    decision: str
    alpha: Decimal
    budget: Positive
    deterministic: bool = False
    groups: tuple[Group, ...]
    arms: tuple[Arm, ...] = ()
    calls: Count
    base: Rate
    claims: tuple[Claim, ...] = ()
    required: tuple[Requirement, ...] = ()
    complete: bool = False
    ended: Literal["done", "budget", "stopped"] = "done"
    status: Status
    quotes: tuple[Quote, ...] = ()
    instead: str = ""
    reduction: Reduction | None = None


FORM = Document("ablation", Ablation)


def leaves_text(runs: Iterable[tuple[int, int]]) -> str:
    """Runs of leaves (the first, and one past the last) as they are written."""
    return " ".join(f"{low}" if high == low + 1 else f"{low}-{high - 1}" for low, high in runs)


def leaves_runs(text: str) -> list[tuple[int, int]]:
    """The runs that a text of leaves says: of each the first, and one past the last."""
    return [(int(low), int(high or low) + 1)
            for low, high in re.findall(r"(\d+)(?:-(\d+))?", text)]
