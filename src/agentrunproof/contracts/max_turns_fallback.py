"""A handler's fallback is the final output when turns run out, and only then.

"All Runner entry points accept error_handlers, a dict keyed by error kind. ... Use them when you
want to return a controlled final output instead of ending the run with the corresponding error";
"Set include_in_history=False when you want the fallback returned to the caller without adding it to
result history or session storage."
(https://openai.github.io/openai-agents-python/running_agents/#error-handlers;
openai-agents-python#4160)

That the handler is asked at all is max_turns' matter, and what stands in a session is
session_persistence's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import among_new_items, lineage, model_said, retries
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _ended(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, bool]]:
    """Completed runs under a handler, and whether their turns ran out before they were done."""
    for run in seen.runs:
        limit = plan.phase(run.phase).max_turns or plan.run.max_turns
        if plan.run.on_max_turns is None or limit is None or run.outcome != "completed":
            continue
        runs = lineage(plan, seen, run)
        calls = Counter(event["parent"] for other in runs for event in other.of("model_called"))
        calls -= Counter(event["parent"] for other in runs for event in retries(plan, other))
        answers = [event for other in runs for event in other.of("model_responded")
                   if not event["parent"]]
        stops = any(agent.tool_use_behavior != "run_llm_again" for agent in plan.agents.values())
        asks = bool(answers) and any(item.get("type") == "function_call"
                                     for item in answers[-1]["output"])
        if not (asks and stops):
            yield run, calls[""] >= limit and asks


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    fallback = plan.run.on_max_turns
    for run, ran_out in _ended(plan, seen):
        result = run.last("result")
        if result is None:
            continue
        final = result["final_output"]
        if ran_out and final != fallback:
            yield Violation("FALLBACK_NOT_GIVEN", run.where, f"turns ran out, and the final output "
                            f"is {final!r}, the handler's {fallback!r}")
        elif not ran_out and final == fallback and not model_said(run, fallback):
            yield Violation("FALLBACK_EARLY", run.where, "the final output is the handler's, and "
                            "turns had not run out")
        elif ran_out and plan.run.fallback_in_history != among_new_items(result, fallback):
            code = "FALLBACK_NOT_APPENDED" if plan.run.fallback_in_history else "FALLBACK_APPENDED"
            yield Violation(code, run.where, f"the handler's output is "
                            f"{'not ' * plan.run.fallback_in_history}among the new items")


CONTRACT = Contract(
    name="max_turns_fallback",
    promise="A handler's fallback is the final output when turns run out, and only then.",
    source="https://openai.github.io/openai-agents-python/running_agents/#error-handlers",
    codes={
        "FALLBACK_NOT_GIVEN": "turns ran out, and the final output is not the handler's",
        "FALLBACK_EARLY": "the final output is the handler's, though turns had not run out",
        "FALLBACK_NOT_APPENDED": "the handler's output is not appended to the history",
        "FALLBACK_APPENDED": "the handler's output is appended, which it is not to be",
    },
    applies=lambda plan, seen: any(_ended(plan, seen)),
    violations=_violations,
)
