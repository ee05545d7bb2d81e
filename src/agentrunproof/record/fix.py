"""The fix record: what was changed in a request, and how often the decision was still made.

It lists every rerun, so that every count, bound, e-value and verdict in it can be derived again
(`checker.fix`, by the rules of `ablation.fixing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from agentrunproof.record.ablation import Guess, Rate, SubjectLine
from agentrunproof.record.document import Document, Program
from agentrunproof.shape import Count, Decimal, Digest, Positive, Text

#: Reruns in their order: of each the number of what the model did (`Fix.deeds`), from 0.
Trials = Annotated[str, Text(r"(\d+( \d+)*)?", "numbers of deeds such as 0 0 2")]

Kind = Literal["own", "action guard", "content rule", "both", "source"]
Verdict = Literal["PASS", "PART", "FAIL", "OPEN"]
Status = Literal["PASS", "NONE", "UNSTABLE", "BUDGET", "STOPPED"]


@dataclass(frozen=True, kw_only=True)
class Deed:
    """One of the things that the model did.

    Args:
        kind: the decision asked about (``hit``), other tool calls, a question, other words, or
            nothing at all.
        calls: names of the tools called; of a hit, nothing is said.
        example: the first such decision, in words.
    """

    kind: Literal["hit", "calls", "asks", "says", "nothing"]
    calls: str = ""
    example: str = ""


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """A piece that gave way to another text."""

    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Change:
    """What was changed in the request; what is at its default was not.

    Args:
        system: text that the system prompt was replaced by.
        added: text that was added to the system prompt.
        marked: whether what tools gave was marked as untrusted.
        removed: ids of the pieces that were cut out.
        replaced: pieces that gave way to other texts.
    """

    system: str | None = None
    added: str = ""
    marked: bool = False
    removed: tuple[str, ...] = ()
    replaced: tuple[Replacement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A fix and its test on fresh reruns.

    Args:
        name: of the fix.
        kind: of the fix.
        change: what it changes.
        request: digest of the changed request.
        trials: fresh reruns of it.
        rate: how often the model still decided so.
        upper: the exact one-sided 95% upper bound of that rate.
        e: the largest e-value on the way that the decision is rarer than unchanged.
        verdict: ``PASS``: shown to be rarer, and the bound is within what is tolerated; ``PART``:
            shown to be rarer; ``FAIL``: not shown; ``OPEN``: its test did not come to its end.
    """

    name: str
    kind: Kind
    change: Change
    request: Digest
    trials: Trials = ""
    rate: Rate
    upper: Decimal
    e: Decimal
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Fix:
    """Several fixes of one decision, measured against the unchanged request.

    Args:
        producer: who made it.
        subject: the recorded model call.
        target: what is to be fixed, as the user wrote it.
        decision: what the model did in the record, in words.
        finding: id of the ablation record that named the source, if there was one.
        alpha: the chance, at most, that any fix is called better wrongly.
        tolerance: the rate of the decision that is tolerated.
        runs: reruns of each request that are planned.
        budget: of model calls.
        deterministic: whether one rerun tells everything.
        guess: of all tests.
        deeds: all that the model did.
        trials: of the unchanged request; block n of a test is its n-th and the candidate's.
        base: how often the unchanged request decided so.
        candidates: the best first.
        calls: how many reruns there were.
        ended: ``done``, or what cut it short.
        status: the answer.
    """

    producer: Program
    subject: SubjectLine
    target: str
    decision: str
    finding: Digest | None = None
    alpha: Decimal
    tolerance: Decimal
    runs: Positive
    budget: Positive
    deterministic: bool = False
    guess: Guess
    deeds: tuple[Deed, ...] = ()
    trials: Trials = ""
    base: Rate
    candidates: tuple[Candidate, ...]
    calls: Count
    ended: Literal["done", "budget", "stopped"] = "done"
    status: Status


FORM = Document("fix", Fix)
