"""Rules about plans whose phases call functions: nothing of a run goes with a call."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentrunproof.plan.items import value_text
from agentrunproof.plan.model import Phase, Plan
from agentrunproof.plan.problem import Problem
from agentrunproof.shape import encode

_OF_PLAN = {"title", "area", "contract", "revision", "why", "docs", "upstream", "requires", "modes",
            "phases"}
_OF_PHASE = {"id", "call", "expect"}
_OF_EXPECT = {"outcome", "error", "value"}
_OUTCOMES = ("completed", "raised")


def call_problems(plan: Plan) -> Iterator[Problem]:
    """Problems of calls, and of what stands beside them; none in a plan of runs."""
    if not plan.calls:
        for n, phase in enumerate(plan.phases):
            if phase.expect.value is not None:
                yield Problem("PLAN_CONTRADICTION", f"phases[{n}].expect.value",
                              "is what a call gives", "a run has a final_output")
        return
    for key in sorted(encode(plan).keys() - _OF_PLAN):
        yield _misplaced(key)
    if plan.modes != ("run",):
        yield Problem("PLAN_CONTRADICTION", "modes", "a call is made in one way",
                      "leave it out, or modes = [\"run\"]")
    for n, phase in enumerate(plan.phases):
        yield from _phase_problems(phase, f"phases[{n}]")


def _phase_problems(phase: Phase, place: str) -> Iterator[Problem]:
    if phase.call is None:
        yield Problem("PLAN_CONTRADICTION", place, "a plan has runs or calls, not both",
                      "make two plans of it")
        return
    for key in sorted(encode(phase).keys() - _OF_PHASE):
        yield _misplaced(f"{place}.{key}")
    if not isinstance(_parsed(phase.call.arguments), dict):
        yield Problem("PLAN_TYPE", f"{place}.call.arguments",
                      "expected the JSON text of a table, its keys sorted")
    expect = phase.expect
    for key in sorted(encode(expect).keys() - _OF_EXPECT):
        yield _misplaced(f"{place}.expect.{key}")
    if expect.outcome not in _OUTCOMES:
        yield Problem("PLAN_CONTRADICTION", f"{place}.expect.outcome",
                      f"a call is {' or '.join(_OUTCOMES)}")
    for key, outcome in (("error", "raised"), ("value", "completed")):
        if getattr(expect, key) is not None and expect.outcome != outcome:
            yield Problem("PLAN_CONTRADICTION", f"{place}.expect.{key}",
                          f"cannot be with outcome {expect.outcome!r}", f"it goes with {outcome}")
    if expect.value is not None and _parsed(expect.value) is None:
        yield Problem("PLAN_TYPE", f"{place}.expect.value",
                      "expected the JSON text of a value that is not null, its keys sorted")


def _misplaced(place: str) -> Problem:
    return Problem("PLAN_CONTRADICTION", place, "does not go with a call", "leave it out")


def _parsed(text: str) -> object:
    """The value of a JSON text that is written as ours are; None for any other."""
    try:
        value: object = json.loads(text)
        return value if value_text(value) == text else None
    except ValueError:
        return None
