"""What the newest release still gets wrong, as declared, and what came of running it.

A row needs something that it contradicts: a sentence of the SDK's documentation, or a relation
between two runs that must come to the same. What has neither is set aside, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from agentrunproof.plan.model import ScenarioId
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.document import Version
from agentrunproof.shape import Count, Name, Positive, Text

Link = Annotated[str, Text(r"https://\S+", "a link")]


@dataclass(frozen=True, kw_only=True)
class Open:
    """One violation: a plan, and the check that it fails.

    Args:
        id: of the plan, and of the certificate and the reproducer that belong to it.
        kind: a ``race`` shows in some runs only.
        check: what fails, and `code` with what.
        since: the first release of those up to the newest on which it does.
        passes: the release before, if the check passes there.
        promise: the sentence that is contradicted, word for word, and `url` where it stands.
        relation: which two runs must come to the same, in words.
        note: what one should know.
    """

    id: ScenarioId
    kind: Literal["bug", "race"] = "bug"
    check: Name
    code: Name
    since: Version
    passes: Version | None = None
    promise: str | None = None
    url: Link | None = None
    relation: str | None = None
    note: str = ""

    @property
    def is_founded(self) -> bool:
        """Whether it contradicts something."""
        return self.relation is not None or (self.promise is not None and self.url is not None)

    def holds(self, certificate: Certificate) -> bool:
        """Whether a certificate shows the violation."""
        return any((result.check, result.verdict, result.code) == (self.check, "FAIL", self.code)
                   for result in certificate.checks)


@dataclass(frozen=True, kw_only=True)
class Aside:
    """What was seen and is no row: ``documented`` as it is, or an expectation of ``ours``.

    Args:
        id: a name for it.
        kind: which of the two.
        what: is seen, in one sentence.
        why: it is set aside.
        url: where the documentation speaks of it.
    """

    id: ScenarioId
    kind: Literal["documented", "ours"]
    what: str
    why: str
    url: Link | None = None


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The rows of a file: violations on the release `sdk`, and what is set aside."""

    sdk: Version
    python: str
    rows: tuple[Open, ...]
    aside: tuple[Aside, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Stability:
    """In how many of the runs a row failed so, and what they left.

    Args:
        failed: runs of the plan in which the check failed with the code.
        certificates: how many different ones those runs gave.
        reproduced: runs of the reproducer that ended with its assertion.
    """

    failed: Count
    certificates: Count
    reproduced: Count


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What came of running all rows `runs` times each, on one release and Python."""

    sdk: Version
    python: str
    runs: Positive
    rows: dict[ScenarioId, Stability] = field(default_factory=dict)
