"""The localization record: at which step a run started to go wrong, and why each is suspected.

It holds the steps that it was made from, so that every finding, score and the answer can be derived
again (`checker.localization`, by the rules of `localize`). Of a run too large for that it holds
their digest only, and whoever checks it brings the run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agentrunproof.record.document import Document, Program
from agentrunproof.shape import Count, Digest, Positive

StepKind = Literal["start", "input", "answer", "tool", "handoff", "claim", "memory", "guardrail",
                   "end"]
StepStatus = Literal["ok", "error", "timeout", "blocked", "cancelled", "open", "cut"]
Status = Literal["ONSET", "HEALTHY", "NONE"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that happened in a run.

    Args:
        number: of the step, as the trace counts; rising.
        kind: ``input`` is what a user or the system said, ``answer`` what a model or an agent did
            or said, ``tool`` a call with its result, ``memory`` a read or a write.
        agent: who did it; of an input, who said it.
        tool: name of the tool, of the guardrail, or the key in memory.
        call: the id of a model call, by which ``why`` knows it, or of a tool call.
        asked_by: number of the step that wrote this call's input, if another did.
        input: what went in, as text; of a tool its arguments as JSON.
        output: what came out, as text.
        status: how it ended; ``cut``: a model's answer that hit a limit of its length.
        error: why it failed.
        changes: what the trace says that it changed, by name, and the value since.
        facts: what else the trace says, by the names in `localize.steps`.
    """

    number: Count
    kind: StepKind
    agent: str = ""
    tool: str = ""
    call: str = ""
    asked_by: Count | None = None
    input: str = ""
    output: str = ""
    status: StepStatus = "ok"
    error: str = ""
    changes: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that a detector noticed.

    Args:
        detector: its name.
        step: number of the step it is about.
        steps: numbers of the others that show it.
        message: what was noticed, in words.
        points: what it adds to that step's score.
        failure: whether it is a failure by itself.
        recovered: whether the run got over it; then it adds nothing.
    """

    detector: str
    step: Count
    steps: tuple[Count, ...] = ()
    message: str
    points: Count = 0
    failure: bool = False
    recovered: bool = False


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A value that one step wrote and another consumed.

    Args:
        source: number of the step that wrote it.
        target: number of the step that consumed it.
        value: the value, shortened.
    """

    source: Count
    target: Count
    value: str


@dataclass(frozen=True, kw_only=True)
class Term:
    """A part of a score: its name, its points, and the reason in words."""

    name: str
    points: Positive
    reason: str


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A step at which the run may have started to go wrong.

    Args:
        step: its number.
        score: the sum of its terms.
        terms: why it is suspected.
    """

    step: Count
    score: Positive
    terms: tuple[Term, ...]


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """Where the failure was observed: a step's number, and what was seen there."""

    step: Count
    message: str


@dataclass(frozen=True, kw_only=True)
class TraceLine:
    """Which run it was: its name, its format, and the digest and number of its steps."""

    name: str
    format: str
    steps: Count
    digest: Digest


@dataclass(frozen=True, kw_only=True)
class Localization:
    """Where a run started to go wrong.

    Args:
        producer: who made it.
        subject: the run.
        failed: whether the user says that the run failed.
        steps: of the run; none if it is too large to be embedded.
        findings: of all detectors, in the order of their steps.
        edges: data flow into the steps that failed.
        symptom: where the failure was observed, if it was.
        suspects: the candidates for the onset, the likeliest first.
        status: ``ONSET``: suspects are named; ``HEALTHY``: no failure that the run did not get
            over; ``NONE``: there is one, and nothing to suspect.
    """

    producer: Program
    subject: TraceLine
    failed: bool = False
    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    edges: tuple[Edge, ...] = ()
    symptom: Symptom | None = None
    suspects: tuple[Suspect, ...] = ()
    status: Status


FORM = Document("localization", Localization)
