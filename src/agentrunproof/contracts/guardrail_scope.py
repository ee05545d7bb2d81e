"""Guardrails run on what goes into the first agent and comes out of the last, once each.

"Input guardrails run on the initial user input"; "Output guardrails run on the final agent
output"; "Input guardrails are intended to run on user input, so an agent's guardrails only run if
the agent is the *first* agent"; "Output guardrails are intended to run on the final agent output,
so an agent's guardrails only run if the agent is the *last* agent."
(https://openai.github.io/openai-agents-python/guardrails/) "RunConfig: input_guardrails,
output_guardrails: A list of input or output guardrails to include on all runs."
(https://openai.github.io/openai-agents-python/running_agents/#run-config)

Judged is the outermost run. A resumed run has had its input checked before it paused; what is
staged on its state "remains pending until its guardrails" accept it (agents.RunState.add_input), so
they may run once more for that. That a guardrail ran at all is due of runs that ended well; those
of foreign Python are not recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage, staged, words
from agentrunproof.plan.model import Agent, Plan, Run
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        first = runs[0].last("run_started")
        if first is not None and first["agent"] in plan.agents:
            yield from _judge(plan, run, "input", _checks(runs, "input"), first["agent"],
                              ended=run.outcome in ("completed", "interrupted"),
                              more=sum(bool(staged(part)) for part in runs))
        end = run.last("result") or run.last("raised")
        if end is not None and end["last_agent"] in plan.agents:
            yield from _judge(plan, run, "output", _checks((run,), "output"), end["last_agent"],
                              ended=run.outcome == "completed")


def _judge(plan: Plan, run: PhaseRun, stage: str, checks: list[Event], agent: str, *,
           ended: bool, more: int = 0) -> Found:
    """`more`: how often each guardrail may check besides."""
    due = _declared(plan, stage, agent)
    if more:  # what is staged may come to another agent than the first
        checks = [check for check in checks if check["agent"] == agent]
    foreign = [check["guardrail"] for check in checks
               if check["guardrail"] not in due or check["agent"] != agent]
    if foreign:
        yield Violation("GUARDRAIL_ELSEWHERE", run.where, f"{words(foreign)} checked the {stage} "
                        f"of another agent than {agent}")
        return
    found = Counter(check["guardrail"] for check in checks)
    often = found - Counter({name: count * (1 + more) for name, count in due.items()})
    never = due - found
    if often:
        yield Violation("GUARDRAIL_REPEATED", run.where,
                        f"{words(sorted(often))} checked the {stage} more than once")
    if never and ended:
        yield Violation("GUARDRAIL_SKIPPED", run.where,
                        f"{words(sorted(never))} never checked the {stage}")


def _declared(plan: Plan, stage: str, agent: str) -> Counter[str]:
    """The guardrails due for the input or output of an agent."""
    holders: list[Agent | Run] = [plan.run, plan.agents[agent]]
    names = [name for holder in holders for name in (
        holder.input_guardrails if stage == "input" else holder.output_guardrails)]
    return Counter(name for name in names if plan.guardrails[name].python is None)


def _checks(runs: Iterable[PhaseRun], stage: str) -> list[Event]:
    return [check for run in runs for check in run.of("guardrail_checked")
            if check["stage"] == stage and not check["parent"]]


CONTRACT = Contract(
    name="guardrail_scope",
    promise="Guardrails check the input of the first agent and the output of the last, once each.",
    source="https://openai.github.io/openai-agents-python/guardrails/",
    codes={
        "GUARDRAIL_ELSEWHERE": "a guardrail checked what goes into or comes out of another agent",
        "GUARDRAIL_REPEATED": "a guardrail checked one input or output more than once",
        "GUARDRAIL_SKIPPED": "a declared guardrail never checked the input or output of a run",
    },
    applies=lambda plan, seen: bool(seen.runs) and any(
        guardrail.python is None for guardrail in plan.guardrails.values()),
    violations=_violations,
)
