"""Data flow: which step wrote the values that a failing step consumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentrunproof.localize import values
from agentrunproof.localize.trace import Trace, changes_state

#: as many of the first and of the last failing steps are traced back, and as many values of each
FAILING = 10
_VALUES = 50
#: what comes in flags and small numbers is shared by chance
_SHORTEST = 3


@dataclass(frozen=True)
class Flow:
    """A value on its way: where it was written, where it was consumed."""

    source: int
    target: int
    value: str


def into(trace: Trace, targets: list[int]) -> list[Flow]:
    """The flows into steps, each value from the step that wrote it last before.

    A step writes a value when it changes state or memory with it, or when its result is the first
    to say it. Equal values tie steps together; nothing is guessed from their order.

    Args:
        trace: the run.
        targets: where the failing steps stand; the first and last `FAILING` are traced back.
    """
    ordered = sorted(set(targets))
    wanted = {at: set(_consumed(trace, at)) for at in {*ordered[:FAILING], *ordered[-FAILING:]}}
    interesting = set().union(*wanted.values()) if wanted else set()
    if not interesting:
        return []
    flows = []
    written: dict[str, int] = {}
    for at, step in enumerate(trace.steps):
        flows += [Flow(written[value], at, value) for value in sorted(wanted.get(at, ()))
                  if value in written]
        if (step.kind == "tool" and step.status == "ok" and changes_state(step)) or \
                (step.kind == "memory" and step.facts.get("operation") == "write"):
            for value in _written(trace, at):
                if value in interesting:
                    written[value] = at
    return flows


def _consumed(trace: Trace, at: int) -> list[str]:
    """The values in a step's input."""
    step = trace.steps[at]
    found = [*_leaves(step.input), *([step.tool] if step.kind == "memory" else ())]
    if step.facts.get("input_digest"):
        found.append(step.facts["input_digest"])
    return _usable(found)


def _written(trace: Trace, at: int) -> list[str]:
    step = trace.steps[at]
    found = [*_leaves(step.input), *step.changes, *step.changes.values()]
    if step.kind == "memory":
        found.append(step.tool)
    if step.facts.get("output_digest"):
        found.append(step.facts["output_digest"])
    return _usable(found)


def _usable(found: list[str]) -> list[str]:
    plain = (values.normal(value) for value in found)
    return [value for value in dict.fromkeys(plain) if len(value) >= _SHORTEST][:_VALUES]


def _leaves(text: str) -> Iterator[str]:
    """The texts in a JSON text and the values within them; of any other text, its values."""
    if text[:1] not in ("{", "["):
        yield from values.values(text[:2000])
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from values.values(text[:2000])
        return
    for leaf in _strings(value):
        if len(leaf) <= 100:
            yield leaf
        yield from values.values(leaf[:2000])


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(reversed(one.values()))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, str):
            yield one
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield str(one)
