"""The usage of a run is the sum of the usage of its responses.

"Usage is aggregated across all model calls during the run (including tool calls and handoffs)":
"requests: number of LLM API calls made", "input_tokens: total input tokens sent",
"output_tokens: total output tokens received", "total_tokens: input + output".
(https://openai.github.io/openai-agents-python/usage/) "Each call to add() automatically creates
an entry in request_usage_entries if the added usage represents a new request (i.e., has non-zero
tokens)." (agents.usage.Usage) A resumed run goes on counting from its state, nested agent runs
count into the outer one.

Where several states of one paused result are resumed, their runs are not judged: whether they
share one account is a question of its own (openai-agents-python#4479, mended in 0.22.0).
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

_SUMMED = ("input", "output", "cached", "reasoning")
_JUDGED = ("completed", "interrupted")


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run in seen.runs:
        if run.outcome not in _JUDGED or _forked(plan, run):
            continue
        usage = run.last("usage")
        if usage is None:
            yield Unobserved("USAGE_UNOBSERVED", f"{run.where}: no usage was recorded")
            continue
        expected = _sum(lineage(plan, seen, run))
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


def _sum(runs: tuple[PhaseRun, ...]) -> dict[str, int]:
    answers = [event["usage"] for run in runs for event in run.of("model_responded")]
    figures = {name: sum(answer.get(name, 0) for answer in answers) for name in _SUMMED}
    return figures | {
        "requests": len(answers),
        "total": figures["input"] + figures["output"],
        "entries": sum(1 for answer in answers if answer.get("input") or answer.get("output")),
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
