"""A run makes no more model calls than `max_turns` allows, and stops only when it must.

"If we exceed the max_turns passed, we raise a MaxTurnsExceeded exception."
(https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop) Runner.run:
"max_turns: The maximum number of turns to run the agent for. A turn is defined as one AI
invocation (including any tool calls that might occur)"; "a MaxTurnsExceeded exception is raised
unless handled".

Nested agent runs have a limit of their own (`Agent.as_tool(max_turns=...)`), counted per call of
the agent tool. To try a failed model call again is not another turn. A state keeps the limit of the
run that paused; whether one that is given on resuming takes its place is not said, so either may
hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import lineage, out_of_turns, retries
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        runs = lineage(plan, seen, run)
        limits = _limits(plan, run, runs[0])
        calls = Counter(event["parent"] for other in runs for event in other.of("model_called"))
        calls -= Counter(event["parent"] for other in runs for event in retries(plan, other))
        if limits:
            yield from _outermost(plan, run, calls[""], limits)
        for parent, count in calls.items():
            nested = _nested_limit(plan, runs, parent)
            if nested is not None and count > nested:
                yield Violation("MAX_TURNS_OVERRUN", run.where, f"{count} model calls inside "
                                f"{parent}, max_turns of its tool is {nested}")


def _limits(plan: Plan, run: PhaseRun, first: PhaseRun) -> list[int]:
    """The limit of a run and that of the one with which its lineage began; none without a limit."""
    found = [plan.phase(part.phase).max_turns or plan.run.max_turns for part in (run, first)]
    return [limit for limit in found if limit is not None] if None not in found else []


def _outermost(plan: Plan, run: PhaseRun, calls: int, limits: list[int]) -> Found:
    if calls > max(limits):
        yield Violation("MAX_TURNS_OVERRUN", run.where,
                        f"{calls} model calls, max_turns is {max(limits)}")
    if not out_of_turns(plan, run):
        return
    if calls < min(limits):
        yield Violation("MAX_TURNS_EARLY", run.where, f"MaxTurnsExceeded was raised after {calls} "
                        f"model calls, max_turns is {min(limits)}")
    elif plan.run.on_max_turns is not None:
        yield Violation("MAX_TURNS_HANDLER_IGNORED", run.where, "MaxTurnsExceeded was raised "
                        "although a handler supplies the final output")


def _nested_limit(plan: Plan, runs: tuple[PhaseRun, ...], parent: str) -> int | None:
    """`max_turns` of the agent tool whose call is the last one of the path `parent`."""
    outer, _, call = parent.rpartition("/")
    for run in runs:
        for event in run.of("tool_started"):
            if (event["parent"], event["call"]) == (outer, call) and event["tool"] in plan.tools:
                return plan.tools[event["tool"]].max_turns
    return None


def _applies(plan: Plan, seen: Observation) -> bool:
    return bool(plan.run.max_turns or any(phase.max_turns for phase in plan.phases)
                or any(tool.max_turns for tool in plan.tools.values()))


CONTRACT = Contract(
    name="max_turns",
    promise="A run makes at most `max_turns` model calls and gives up only after that many.",
    source="https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop",
    codes={
        "MAX_TURNS_OVERRUN": "more model calls than max_turns",
        "MAX_TURNS_EARLY": "MaxTurnsExceeded before max_turns model calls",
        "MAX_TURNS_HANDLER_IGNORED": "MaxTurnsExceeded was raised although a handler is declared",
    },
    applies=_applies,
    violations=_violations,
)
