"""Whoever is given the run's context is given the object that the run was given, unchanged.

"You create any Python object you want." "You pass that object to the various run methods (e.g.
Runner.run(..., context=whatever))." "All your tool calls, lifecycle hooks etc will be passed a
wrapper object, RunContextWrapper[T], where T represents the type of your context object; the object
itself is available via wrapper.context." (https://openai.github.io/openai-agents-python/context/)

Looked at are tools, hooks, guardrails of agents and of tools, callbacks of handoffs, instructions
that are functions, and the input filter, in nested runs too, which an agent tool starts with the
context of its own call. A run that goes on from a stored state has another object that must hold
the same; whoever is given it first says which. The parts of a plan change nothing in a context.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation

_CODES = {"replaced": "CONTEXT_REPLACED", "changed": "CONTEXT_CHANGED"}


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        for event in run.of("context_given"):
            for how, code in _CODES.items():
                if event[how]:
                    yield Violation(code, run.where, f"the {event['to']} {event['name']} is given "
                                    f"a context that was {how}")


CONTRACT = Contract(
    name="context_passing",
    promise="Tools, hooks, guardrails, handoffs and instructions get the context of the run.",
    source="https://openai.github.io/openai-agents-python/context/#local-context",
    codes={
        "CONTEXT_REPLACED": "a part was given another object than the run's context",
        "CONTEXT_CHANGED": "a part was given a context that holds something else",
    },
    applies=lambda plan, seen: any(run.of("context_given") for run in seen.runs),
    violations=_violations,
)
