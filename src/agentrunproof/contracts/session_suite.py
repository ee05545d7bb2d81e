"""A session backend passes the cases of the session suite that a plan names.

The cases hold any `Session` to what the documentation of `agents.memory.session.Session` and
https://openai.github.io/openai-agents-python/sessions/ promise, or to relations and expectations
that the suite names with their reasons; ``agentrunproof check session --list`` shows them. A plan
calls one with the name of a backend that the package makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.plan.model import OWN_CODE, Phase, Plan
from agentrunproof.record.observation import Observation

_CASE = OWN_CODE + "sessions:case"


def _is_case(phase: Phase) -> bool:
    return phase.call is not None and phase.call.python == _CASE


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for phase in filter(_is_case, plan.phases):
        run = seen.run("run", phase.id)
        returned = run.last("call_returned") if run is not None else None
        if run is None or returned is None:
            yield Unobserved("CASE_UNOBSERVED", f"run/{phase.id}: the case was not judged")
            continue
        came_to = json.loads(returned["value"])
        told = f"the case came to {came_to['verdict']} {came_to['code']}"
        if came_to["verdict"] == "UNTESTABLE":
            yield Unobserved("CASE_UNOBSERVED", f"{run.where}: {told}")
        elif came_to["verdict"] != "PASS":
            yield Violation("CASE_FAILS", run.where, told)


CONTRACT = Contract(
    name="session_suite",
    promise="A session backend passes the cases of the session suite that the plan names.",
    source="https://openai.github.io/openai-agents-python/sessions/",
    codes={
        "CASE_FAILS": "the backend does not keep what the case asks",
        "CASE_UNOBSERVED": "the release or the backend lacks what the case needs",
    },
    applies=lambda plan, seen: any(map(_is_case, plan.phases)),
    violations=_violations,
    of_calls=True,
)
