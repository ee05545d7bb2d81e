"""Ways to name the onset of a run: ours, and simple ones to hold it against.

A strategy takes a run and gives step numbers, the likeliest first; none if it stays silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace, names_a_change

Strategy = Callable[[Trace], list[int]]
_ERROR = re.compile(r"exit ?code: *[1-9]|error", re.I)


def no_diagnosis(trace: Trace) -> list[int]:
    """Silence."""
    return []


def last_failing(trace: Trace) -> list[int]:
    """The steps that report a failure, the last first."""
    return earliest_failing(trace)[::-1]


def earliest_failing(trace: Trace) -> list[int]:
    """The steps that report a failure, the earliest first."""
    return [trace.steps[at].number for at in _failing(trace)]


def simple_rule(trace: Trace) -> list[int]:
    """Twelve lines: the first state-changing call, else the step before the first error, else
    the first worker's step, else step 1."""
    for at in trace.tools:
        if names_a_change(trace.steps[at].tool):
            return [trace.steps[trace.writer(at)].number]
    for at in _failing(trace):
        if at > 0:
            return [trace.steps[at - 1].number]
    for at in trace.answers:
        if at > 0 and trace.steps[at].agent not in trace.coordinators:
            return [trace.steps[at].number]
    return [step.number for step in trace.steps[1:2]]


def ours(trace: Trace) -> list[int]:
    """`ranking.localize`."""
    return [suspect.step for suspect in localize(trace).suspects]


def _failing(trace: Trace) -> list[int]:
    return [at for at, step in enumerate(trace.steps)
            if (step.kind in ("tool", "answer") and step.status not in ("ok", "open", "cut"))
            or (step.kind == "tool" and _ERROR.match(step.output))]


#: by the names in tables; chance is computed, see `scoring.chance`
STRATEGIES: dict[str, Strategy] = {
    "no diagnosis": no_diagnosis, "last failing step": last_failing,
    "earliest failing step": earliest_failing, "simple rule": simple_rule, "agentrunproof": ours}
OURS = "agentrunproof"
