"""Streaming changes how a run is watched, not what it does.

"Runner.run_sync() is a sync method and just runs .run() under the hood"; "Runner.run_streamed()
... calls the LLM in streaming mode, and streams those events to you as they are received"; "Once
the stream is done, the RunResultStreaming will contain the complete information about the run."
(https://openai.github.io/openai-agents-python/running_agents/) RunResult and RunResultStreaming
share RunResultBase (https://openai.github.io/openai-agents-python/results/). Issues where the
ways differed: openai-agents-python#595, #1843, #4071, #4097, #4223.

Every mode is held against the plan's first one, exceptions and their run data included. What the
scheduler may choose is not compared: the order between concurrent calls, between the hooks of run
and agent, and how far a run had come when a guardrail beside the model stopped it. Phases from a
cancelled one on are not compared, for only streams are cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import conversation, essences, races
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun


def _outcome(run: PhaseRun) -> Any:
    return run.outcome


def _error(run: PhaseRun) -> Any:
    return [event["error"] for event in run.of("raised")]


def _error_data(run: PhaseRun) -> Any:
    return _fields(run, "raised", "new_items", "responses", "last_agent")


def _model_calls(run: PhaseRun) -> Any:
    return [{name: value for name, value in event.items() if name != "streamed"}
            for event in run.of("model_called", "model_responded", "model_failed")]


def _tools(run: PhaseRun) -> Any:
    """Events of each call, by call: the order between calls is the scheduler's."""
    return _by(run.of("tool_started", "tool_finished", "tool_failed", "tool_cancelled"),
               "parent", "call")


def _hooks(run: PhaseRun) -> Any:
    return _by(run.of("hook"), "scope", "parent", "call")


def _session_writes(run: PhaseRun) -> Any:
    """Writes in order; adding in one piece or in several is the same."""
    merged: list[tuple[str, Any]] = []
    for event in run.of("session_written"):
        said = essences(event["items"])
        if merged and event["op"] == "add" == merged[-1][0]:
            merged[-1][1].extend(said)
        else:
            merged.append((event["op"], said))
    return merged


def _session_content(run: PhaseRun) -> Any:
    return [list(event["items"]) for event in run.of("session_read") if event["op"] == "observe"]


def _result(run: PhaseRun) -> Any:
    return _fields(run, "result", "last_agent", "final_output", "new_items", "history",
                   "responses", "guardrails")


def _usage(run: PhaseRun) -> Any:
    return run.of("usage")


def _guardrails(run: PhaseRun) -> Any:
    return sorted(map(repr, run.of("guardrail_checked")))


def _handoffs(run: PhaseRun) -> Any:
    return run.of("handoff")


def _interruptions(run: PhaseRun) -> Any:
    return run.of("interruption")


def _fields(run: PhaseRun, kind: str, *names: str) -> Any:
    return [{name: event[name] for name in names} for event in run.of(kind)]


def _by(events: list[dict[str, Any]], *names: str) -> Any:
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for event in events:
        groups.setdefault(tuple(event[name] for name in names), []).append(event)
    return groups


Aspect = Callable[[PhaseRun], Any]

#: code -> (what is compared, in words; how it is read from a run). The first ones are compared
#: for every run, the rest unless the scheduler had a choice.
ALWAYS: dict[str, tuple[str, Aspect]] = {
    "OUTCOMES_DIFFER": ("the way the run ended", _outcome),
    "ERRORS_DIFFER": ("the exception's type or message", _error),
    "SESSION_CONTENTS_DIFFER": ("the session's content after the run", _session_content),
    "HANDOFFS_DIFFER": ("the handoffs", _handoffs),
    "INTERRUPTIONS_DIFFER": ("the calls that wait for a decision", _interruptions),
}
ORDERED: dict[str, tuple[str, Aspect]] = {
    "MODEL_CALLS_DIFFER": ("the model calls, their inputs or answers", _model_calls),
    "TOOL_EXECUTIONS_DIFFER": ("the executions of tools", _tools),
    "HOOKS_DIFFER": ("the lifecycle hooks", _hooks),
    "SESSION_WRITES_DIFFER": ("what was written to the session", _session_writes),
    "GUARDRAILS_DIFFER": ("the guardrails checked", _guardrails),
    "RESULTS_DIFFER": ("the result", _result),
    "ERROR_DATA_DIFFERS": ("the exception's run data", _error_data),
    "USAGES_DIFFER": ("the usage", _usage),
}


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    base = seen.modes[0]
    for run in conversation(plan, seen):
        other = seen.run(base, run.phase)
        if run.mode == base or other is None:
            continue
        aspects = dict(ALWAYS)
        if not (races(plan, run) or races(plan, other) or "timeout" in (run.outcome,
                                                                        other.outcome)):
            aspects |= ORDERED
        for code, (what, read) in aspects.items():
            if read(run) != read(other):
                yield Violation(code, run.where, f"not as in {other.where}: {what}")


CONTRACT = Contract(
    name="stream_parity",
    promise="A run does the same whether it is streamed, awaited or synchronous.",
    source="https://openai.github.io/openai-agents-python/running_agents/",
    codes={code: f"modes differ in {what}" for code, (what, _) in (ALWAYS | ORDERED).items()},
    applies=lambda plan, seen: len(seen.modes) > 1,
    violations=_violations,
)
