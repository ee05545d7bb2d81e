"""The elements of a plan that can be taken away, and the smaller plan that is left without them.

An element is a place in the plan's canonical table: a phase, a turn, an item, a tool, a guardrail,
or an option that is not at its default. The declared shapes say which places there are, so a new
field of the plan is an element without a word here. What a removal leaves dangling goes with it
(`why.dangling`); the rest must hold to `plan.rules`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from agentrunproof.errors import PlanError, ShapeError
from agentrunproof.plan import rules
from agentrunproof.plan.model import (
    Agent,
    Decision,
    ExpectedOutcome,
    Guardrail,
    Handoff,
    Item,
    LiteralInput,
    McpServer,
    ModelSettings,
    ModelStep,
    OutputType,
    Phase,
    Plan,
    ResumeInput,
    Run,
    Sees,
    Session,
    Tool,
    ToolGuardrail,
)
from agentrunproof.shape import Field, fields_of
from agentrunproof.why import dangling
from agentrunproof.why.dangling import GONE, Table

Path = tuple[str | int, ...]

#: What the plan says of itself; taking it away says nothing about a run.
_HEAD = {"title", "area", "contract", "revision", "why", "docs", "upstream", "requires", "start"}

_KINDS: dict[Any, str] = {
    Phase: "phase", ModelStep: "turn", Item: "item", Agent: "agent", Tool: "tool",
    McpServer: "MCP server", Guardrail: "guardrail", ToolGuardrail: "tool guardrail",
    Handoff: "handoff", OutputType: "type", Session: "session", Decision: "decision",
    Sees: "expectation"}

#: Classes whose fields are elements, with the kind of those; all others are taken whole.
_OPEN: dict[Any, str] = {
    Plan: "option", Phase: "option", ModelStep: "option", Agent: "option", Tool: "option",
    Guardrail: "option", ToolGuardrail: "option", Handoff: "option", OutputType: "option",
    McpServer: "option", Session: "option", Decision: "option", ModelSettings: "option",
    Run: "option", ResumeInput: "option", LiteralInput: "option", ExpectedOutcome: "expectation"}

#: Classes that only hold other elements.
_PARTS_ONLY = (Run, ModelSettings, ResumeInput, LiteralInput, ExpectedOutcome)

#: Fields without which their owner is nothing.
_NEVER = {"input", "resume", "text", "output", "outcomes", "outcome"}

#: Lists whose only member is all that their owner is.
_NEEDS_ONE = {"output", "outcomes"}

_QUOTE = 60


@dataclass(frozen=True)
class Element:
    """One part of a plan that can be taken away.

    Args:
        id: its place, readable and stable: ``phases.second.script.clerk[0]``.
        kind: what it is: ``phase``, ``turn``, ``item``, ``tool``, ``expectation``, ``mode``,
            ``option``, ...
        says: its content, shortened.
        path: its place in the canonical table.
    """

    id: str
    kind: str
    says: str
    path: Path

    def holds(self, other: Element) -> bool:
        """Whether the other one lies within this one."""
        return len(other.path) > len(self.path) and other.path[:len(self.path)] == self.path


@dataclass(frozen=True)
class Reduced:
    """A smaller plan, and the elements of the whole one that are left in it."""

    plan: Plan
    left: frozenset[str]


class Whole:
    """A plan together with its elements."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._table: Table = plan.to_json() | {"modes": list(plan.modes)}  # each is an element
        found = [_element(self._table, path, kind)
                 for path, kind in _walk(Plan, self._table, (), "option")]
        #: as they stand in the plan, each before those within it; not each can go alone
        self.elements = tuple(found)

    def without(self, removed: Collection[str]) -> Reduced | None:
        """The plan without the elements of these ids and all that hangs on them.

        What is left of it says what it is: without all others the plan is the same again.

        Returns:
            None if what is left is no plan.
        """
        table = copy.deepcopy(self._table)
        for element in self.elements:
            if element.id in removed:
                _bury(table, element.path)
        dangling.settle(table, self._table)
        try:
            small = Plan.from_json(dangling.strip(table))
            rules.check(small)
        except (PlanError, ShapeError):
            return None
        left = frozenset(one.id for one in self.elements if _stands(table, one.path))
        return Reduced(small, left)


def _walk(annotation: Any, value: Any, path: Path, kind: str) -> Iterator[tuple[Path, str]]:
    """Places of elements below `path`, with their kinds."""
    origin = get_origin(annotation)
    if origin is Annotated or type(None) in get_args(annotation):
        yield from _walk(get_args(annotation)[0], value, path, kind)
    elif origin is tuple and (kind != "expectation" or path[-1] == "sees"):
        alone = len(value) == 1 and path[-1] in _NEEDS_ONE
        for n, item in enumerate(() if alone else value):
            yield from _member(get_args(annotation)[0], item, (*path, n), kind)
    elif origin is dict and get_args(annotation)[1] is not Any:
        for key, item in value.items():
            yield from _member(get_args(annotation)[1], item, (*path, key), kind)
    elif annotation in _OPEN:
        inside = _OPEN[annotation] or kind
        for field in fields_of(annotation):
            if field.name in value and field.name != "order" and not (
                    annotation is Plan and field.name in _HEAD):
                yield from _field(field, value[field.name], (*path, field.name), inside)


def _field(field: Field, value: Any, path: Path, kind: str) -> Iterator[tuple[Path, str]]:
    """A field that holds parts has them for elements; another one is an element itself."""
    if path == ("modes",):
        yield from (((*path, n), "mode") for n in range(len(value)))
        return
    held = _bare(field.annotation)
    inner = list(_walk(held, value, path, kind))
    parts = get_origin(held) in (dict, tuple) or held in _PARTS_ONLY
    if not (field.required or field.name in _NEVER or (parts and inner)):
        yield path, _KINDS.get(held, kind)
    yield from inner


def _member(annotation: Any, value: Any, path: Path, kind: str) -> Iterator[tuple[Path, str]]:
    """A member of a list or table: the script of an agent is a list in a table."""
    named = "script" if get_origin(annotation) is tuple else _KINDS.get(annotation, kind)
    if named != "script" or len(value) > 1:  # a script of one turn is that turn
        yield path, named
    yield from _walk(annotation, value, path, named)


def _bare(annotation: Any) -> Any:
    """The annotation without ``| None`` and constraints."""
    while get_origin(annotation) is Annotated or type(None) in get_args(annotation):
        annotation = get_args(annotation)[0]
    return annotation


def _bury(table: Table, path: Path) -> None:
    at: Any = table
    for step in path[:-1]:
        at = at[step]
        if at is GONE:
            return
    at[path[-1]] = GONE


def _stands(table: Table, path: Path) -> bool:
    at: Any = table
    for step in path:
        at = at[step]
        if at is GONE:
            return False
    return True


def _element(table: Table, path: Path, kind: str) -> Element:
    at: Any = table
    id = ""
    for step in path:
        at = at[step]
        if isinstance(step, int) and isinstance(at, dict) and id == "phases":
            id += f".{at['id']}"
        elif isinstance(step, int):
            id += f"[{step}]"
        else:
            id += f".{step}" if id else step
    return Element(id, kind, _says(at), path)


def _says(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _QUOTE else text[:_QUOTE - 3] + "..."
