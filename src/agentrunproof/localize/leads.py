"""Which decisions of models the suspected steps come from: what `why` can ask again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from agentrunproof.localize.detectors import state_change
from agentrunproof.localize.ranking import Result
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step


@dataclass(frozen=True)
class Lead:
    """A decision to be asked about.

    Args:
        step: number of the step that it is behind.
        call: the id of the model call that decided it.
        target: what was decided, as `why` takes it: ``tool:NAME`` with the argument that is wrong,
            if one is known to be; ``any`` for whatever was recorded.
    """

    step: int
    call: str
    target: str


def leads(trace: Trace, result: Result) -> Iterator[Lead]:
    """The decisions behind the candidates, the likeliest first, each once."""
    told: set[tuple[str, str]] = set()
    for suspect in result.suspects:
        found = lead(trace, suspect.step)
        if found is not None and (found.call, found.target) not in told:
            told.add((found.call, found.target))
            yield found


def lead(trace: Trace, number: int) -> Lead | None:
    """The decision behind one step; None if no model call is known to be behind it."""
    at = trace.place[number]
    by = trace.steps[trace.writer(at)]
    if by.kind not in ("answer", "handoff") or not by.call:
        return None
    asked = [at] if trace.steps[at].kind == "tool" else trace.asked.get(at, [])
    return Lead(number, by.call, _target(trace, asked))


def _target(trace: Trace, asked: list[int]) -> str:
    """What was decided: the call with a wrong argument, else the only tool that was called."""
    for at in asked:
        wrong = state_change.contradicted(trace, at, {})
        if wrong is not None and wrong.name in _argument_names(trace.steps[at]):
            return f"tool:{trace.steps[at].tool}:{wrong.name}={wrong.value}"
    tools = {trace.steps[at].tool for at in asked}
    return f"tool:{tools.pop()}" if len(tools) == 1 else "any"


def _argument_names(step: Step) -> set[str]:
    try:
        value = json.loads(step.input)
    except (ValueError, RecursionError):
        return set()
    return set(value) if isinstance(value, dict) else set()
