"""A model call has the time that its settings give it, and no more.

"Set ModelSettings.timeout to a positive number of seconds to bound each model-call attempt. The
timeout applies to streaming and non-streaming calls ... It does not limit the full agent run,
function-tool execution, or retry backoff."; "If an attempt exceeds the limit, the SDK cancels the
attempt and waits for its cleanup to finish before raising ModelTimeoutError."
(https://openai.github.io/openai-agents-python/models/#model-call-timeouts)

The declared `delay` of a turn and the timeout are seconds of one virtual clock, so which of them
comes first is no matter of chance. A turn that waits for a gate, or takes just as long, is not
judged; nor is a run whose failed model calls are tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT, turns
from agentrunproof.plan.model import ModelStep, Plan
from agentrunproof.record.observation import Observation, PhaseRun

_ERROR = "ModelTimeoutError"


def _timed(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, str, bool, bool]]:
    """Model calls with a timeout: agent, whether they take longer and answered."""
    for run in seen.runs:
        taken: Counter[str] = Counter()
        for turn in turns(run) if plan.run.retries is None else ():
            steps = plan.phase(run.phase).script.get(turn.agent, ())[taken[turn.agent]:]
            taken[turn.agent] += 1
            late = _late(steps[0], timeout(plan, turn.agent)) if steps else None
            if late is not None:
                yield run, turn.agent, late, turn.output is not None


def timeout(plan: Plan, agent: str) -> Decimal | None:
    """Seconds that a model call of the agent may take, if they are limited."""
    own = plan.agents[agent].model_settings.timeout if agent in plan.agents else None
    declared = plan.run.model_settings.timeout or own
    return None if declared is None else Decimal(declared)


def _late(step: ModelStep, limit: Decimal | None) -> bool | None:
    """Whether a turn takes longer than the limit; None where it cannot be told."""
    takes = Decimal(step.delay or "0")
    if limit is None or step.after is not None or takes == limit:
        return None
    return step.hang or takes > limit


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    late_runs: set[str] = set()
    judged = list(_timed(plan, seen))
    for run, agent, late, answered in judged:
        if not late:
            continue
        late_runs.add(run.where)
        raised = run.last("raised")
        if answered or run.outcome == "timeout":
            yield Violation("MODEL_TIMEOUT_IGNORED", run.where, f"the model of {agent} took longer "
                            "than its timeout, and was let go on")
        elif run.outcome not in CUT_SHORT and (
                raised is None or raised["error"].get("type") != _ERROR):
            yield Violation("MODEL_TIMEOUT_NOT_RAISED", run.where, f"the model of {agent} took "
                            f"longer than its timeout, and the run ended {run.outcome}")
    in_time = {run.where: run for run, *_ in judged if run.where not in late_runs}
    for run in in_time.values():
        raised = run.last("raised")
        if raised is not None and raised["error"].get("type") == _ERROR:
            yield Violation("MODEL_TIMEOUT_EARLY", run.where, "a model call timed out, and each "
                            "had its time")


CONTRACT = Contract(
    name="model_timeout",
    promise="A model call is stopped at its timeout and not before, which ends the run.",
    source="https://openai.github.io/openai-agents-python/models/#model-call-timeouts",
    codes={
        "MODEL_TIMEOUT_IGNORED": "a model call went on after its timeout",
        "MODEL_TIMEOUT_NOT_RAISED": "a model call timed out, and the run raised something else",
        "MODEL_TIMEOUT_EARLY": "a model call timed out before its time was over",
    },
    applies=lambda plan, seen: any(_timed(plan, seen)),
    violations=_violations,
)
