"""The usage of a run is the sum of the usage of its responses.

"Usage is aggregated across all model calls during the run, including model calls that produce tool
calls or handoffs": "requests: number of LLM API calls made", "input_tokens: total input tokens
sent", "output_tokens: total output tokens received", "total_tokens: input + output".
(https://openai.github.io/openai-agents-python/usage/) "Each call to add() automatically creates an
entry in this list if the added usage represents a new request (i.e., has non-zero tokens)."
(agents.usage.Usage.request_usage_entries) A resumed run goes on counting from its state, nested
agent runs count into the outer one.

States of one paused result have each an account of their own (openai-agents-python#4479). Where
several are resumed, a run is judged if it asks a model; one that pauses again at once is not. A
failed call that the Runner tries again is a request without tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage, retries
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

_SUMMED = ("input", "output", "cached", "reasoning")
_JUDGED = ("completed", "interrupted")


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        if run.outcome not in _JUDGED or (_forked(plan, run) and not run.of("model_called")):
            continue
        usage = run.last("usage")
        if usage is None:
            yield Unobserved("USAGE_UNOBSERVED", f"{run.where}: no usage was recorded")
            continue
        expected = _sum(plan, lineage(plan, seen, run))
        if usage["entries"] is None:
            del expected["entries"]
        for name, figure in expected.items():
            if usage[name] != figure:
                code = "USAGE_ENTRIES_DIFFER" if name == "entries" else "USAGE_DIFFERS"
                yield Violation(code, run.where, f"{name} is {usage[name]}, the responses of the "
                                f"run add up to {figure}")


def _forked(plan: Plan, run: PhaseRun) -> bool:
    """Whether the run, or a run it continues, was resumed from one of several states."""
    phase = plan.phase(run.phase)
    while phase.resume is not None:
        if sum(1 for other in plan.phases
               if other.resume is not None and other.resume.from_ == phase.resume.from_) > 1:
            return True
        phase = plan.phase(phase.resume.from_)
    return False


def _sum(plan: Plan, runs: tuple[PhaseRun, ...]) -> dict[str, int]:
    again = sum(len(retries(plan, run)) for run in runs)  # as many failed requests came before
    answers = [event["usage"] for run in runs for event in run.of("model_responded")]
    figures = {name: sum(answer.get(name, 0) for answer in answers) for name in _SUMMED}
    return figures | {
        "requests": len(answers) + again,
        "total": figures["input"] + figures["output"],
        "entries": again + sum(1 for answer in answers
                               if answer.get("input") or answer.get("output")),
    }


CONTRACT = Contract(
    name="usage_sum",
    promise="The usage of a run is the sum of the usage of its responses.",
    source="https://openai.github.io/openai-agents-python/usage/",
    codes={
        "USAGE_DIFFERS": "requests or tokens are not the sum over the run's responses",
        "USAGE_ENTRIES_DIFFER": "not one request entry for each response with tokens",
        "USAGE_UNOBSERVED": "no usage was recorded for a run that ended well",
    },
    applies=lambda plan, seen: any(run.outcome in _JUDGED for run in seen.runs),
    violations=_violations,
)
