"""What is explained: a subject of pieces that can be rerun with some of them gone.

A *subject* is a recorded model call or a failing plan. The search sees its *leaves* only, the
finest pieces in their order, and says what to take away as a bit mask over them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agentrunproof.ablation.leaves import Texts
from agentrunproof.errors import AgentRunProofError

Kind = Literal["system", "developer", "user", "assistant", "reasoning", "tool_result",
               "tool_definition", "tool_description", "arguments", "plan"]

#: How leaves are taken away: overwritten by a text of the same size (one of two), or cut out.
Way = Literal["filler", "other", "removed"]


class AblationError(AgentRunProofError):
    """A subject, a target or an edit cannot be used."""


@dataclass(frozen=True)
class Piece:
    """A part of a subject that can be taken away.

    Args:
        id: stable and readable, as users type it: ``12.body sentence 3``, ``system``.
        kind: what it is.
        text: what it says.
        place: where it stands, for people.
        leaves: first and one past the last of the leaves it covers.
        children: its parts: JSON items, paragraphs, lines, sentences.
    """

    id: str
    kind: Kind
    text: str
    place: str
    leaves: tuple[int, int]
    children: tuple[Piece, ...] = ()

    def walk(self) -> Iterator[Piece]:
        """This piece, then everything in it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Leaf:
    """A finest piece: all that the search needs to know of it.

    Args:
        id: of its piece.
        kind: what it is.
        text: what it says.
        place: where it stands, for people.
        group: number of the text (message, result, description) that it belongs to.
    """

    id: str
    kind: Kind
    text: str
    place: str
    group: int


@dataclass(frozen=True)
class Call:
    """A tool call: its name, and its arguments as JSON."""

    name: str
    arguments: Any


@dataclass(frozen=True)
class Decision:
    """What the model did: the calls it made, and what it said."""

    calls: tuple[Call, ...] = ()
    text: str = ""

    @classmethod
    def of(cls, reply: dict[str, Any]) -> Decision:
        """From a reply ``{"tool_calls": [{"name", "arguments"}], "text": ...}``."""
        calls = tuple(Call(call["name"], arguments_of(call.get("arguments")))
                      for call in reply.get("tool_calls") or ())
        return cls(calls, reply.get("text") or "")

    def __str__(self) -> str:
        calls = ", ".join(f"{call.name}({json.dumps(call.arguments, sort_keys=True)})"
                          for call in self.calls)
        return calls or self.text


def arguments_of(value: Any) -> Any:
    """Arguments as JSON, whether they came parsed or as a string; a broken string as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


@dataclass(frozen=True)
class Target:
    """What a user asks about: a predicate over decisions.

    Args:
        spec: ``any``, ``tool:NAME``, ``tool:NAME:ARGUMENT=VALUE`` or ``text:REGEX``. The target
            ``any`` is met by a decision that does what the recorded one did.
        recorded: the decision in the record.
    """

    spec: str
    recorded: Decision

    def __post_init__(self) -> None:
        kind, _, rest = self.spec.partition(":")
        if self.spec != "any" and (kind not in ("tool", "text") or not rest):
            raise AblationError("TARGET_FORM", f"target {self.spec!r} has no known form",
                                "tool:NAME, tool:NAME:ARGUMENT=VALUE, text:REGEX or any")
        if kind == "text":
            try:
                re.compile(rest)
            except re.error as problem:
                raise AblationError("TARGET_REGEX", f"target {self.spec!r}: {problem}",
                                    "what follows text: is a regular expression") from None

    def met(self, decision: Decision) -> bool:
        """Whether the decision is what the user asks about."""
        kind, _, rest = self.spec.partition(":")
        if kind == "text":
            return re.search(rest, decision.text) is not None
        if kind == "any":
            if self.recorded.calls:
                return [c.name for c in decision.calls] == [c.name for c in self.recorded.calls]
            return not decision.calls
        name, _, condition = rest.partition(":")
        key, _, wanted = condition.partition("=")
        return any(call.name == name and (not condition or _has(call.arguments, key, wanted))
                   for call in decision.calls)

    @property
    def acts(self) -> bool:
        """Whether the decision asked about is an action, not words."""
        return self.spec.startswith("tool:") or (self.spec == "any" and bool(self.recorded.calls))


def _has(arguments: Any, key: str, wanted: str) -> bool:
    if not isinstance(arguments, dict) or key not in arguments:
        return False
    value = arguments[key]
    return wanted == (value if isinstance(value, str) else json.dumps(value))


@dataclass(frozen=True)
class Edit:
    """What to take away.

    Args:
        leaves: bit n is set for leaf n.
        way: how.
    """

    leaves: int = 0
    way: Way = "filler"


@dataclass(frozen=True)
class Earlier:
    """A call that stands in the context, and the leaves of its result (a bit mask)."""

    call: Call
    result: int
    id: str


class Subject(Protocol):
    """A recorded model call or a failing plan; its leaves are numbered from 0."""

    @property
    def texts(self) -> Texts:
        """What each leaf says."""

    @property
    def groups(self) -> Sequence[tuple[int, int]]:
        """The leaves of each text, message or result: the first, and one past the last."""

    @property
    def earlier(self) -> Sequence[Earlier]:
        """The calls whose results are among the leaves."""

    @property
    def deterministic(self) -> bool:
        """Whether the same edit always gives the same decision, so that one rerun will do."""

    def group_id(self, n: int, /) -> str:
        """The id of group number `n`."""

    def leaf(self, n: int, /) -> Leaf:
        """Leaf number `n`."""

    def pieces(self) -> tuple[Piece, ...]:
        """All pieces, as trees whose ends are the leaves."""

    def rerun(self, edit: Edit, /) -> Decision:
        """One fresh decision with the edit made."""
