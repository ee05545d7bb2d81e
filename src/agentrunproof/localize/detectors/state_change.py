"""The first call that changed the world: from there on the run cannot take anything back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentrunproof.localize import values
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, changes_state, label

#: A tool's name only suggests that it changed anything.
POINTS_BY_NAME = 3
#: A change that the trace records outweighs the failure seen later: it worked, so nobody looked.
POINTS_RECORDED = 5
#: A value that the task names otherwise, or that nothing before has, is likely to be the wrong one.
POINTS_OF_VALUE = 2
#: longer texts are written, not chosen
_LONGEST = 60


def find(trace: Trace) -> Iterator[Seen]:
    """The first call that succeeded, and the first with a value that is not the task's."""
    said: dict[str, str] = {}
    first = True
    for at in trace.tools:
        step = trace.steps[at]
        if step.status != "ok" or not changes_state(step) or _refused(step.output):
            continue
        by = trace.writer(at)
        others = (at,) if by != at else ()
        if first:
            first = False
            what = "; ".join(f"{name}={value}" for name, value in step.changes.items())
            yield Seen(by, f"{label(step)} was the first call to change anything"
                       + (f": {what[:80]}" if what else ""),
                       POINTS_RECORDED if step.changes else POINTS_BY_NAME, others, soft=True)
        wrong = contradicted(trace, at, said)
        if wrong is not None:
            yield Seen(by, f"{label(step)}: {wrong.name} is {wrong.value!r:.40}, the task says "
                       f"{wrong.told!r:.40}", POINTS_OF_VALUE, others, soft=True)
            return


@dataclass(frozen=True)
class Contradiction:
    """A value of a call, by its name, and the other one that the task tells for it."""

    name: str
    value: str
    told: str


def contradicted(trace: Trace, at: int, said: dict[str, str]) -> Contradiction | None:
    """The first value of the call at `at` that is not the task's.

    Args:
        trace: the run.
        at: where the call stands.
        said: what the task says for names that were looked up before; added to.
    """
    step = trace.steps[at]
    for name, value in {**_arguments(step.input), **step.changes}.items():
        if name not in said:
            said[name] = _told(trace.task, name)
        if said[name] and isinstance(value, str) and 2 <= len(value) <= _LONGEST and \
                values.normal(said[name]) != values.normal(value):
            return Contradiction(name, value, said[name])
    return None


def _refused(output: str) -> bool:
    return bool(re.match(r"\s*\W{0,3}error\b", output, re.I))


def _told(task: str, name: str) -> str:
    """The value that the task gives for a name, such as production for ``environment``."""
    if len(name) < 3:
        return ""
    words = r"[ _]".join(map(re.escape, name.split("_")))
    match = re.search(rf"\b{words}\b(?:\s+(?:is|must be|should be|to|as)\s+|\s*[:=]\s*)"
                      r"[\"'`]?([\w.\-/]+)", task, re.I)
    return match[1].rstrip(".") if match else ""


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text[:1] == "{" else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
