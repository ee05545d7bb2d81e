"""A state whose run could not write to its session goes on where it was, or is run no more.

"Keep the same RunState ... and retry Runner.run(...) or Runner.run_streamed(...) with the original
Session backend and session_id."; "The SDK does not execute completed tools, tool guardrails, hooks,
or handoffs again."; "This recovery does not apply after the run has accepted a final output,
completed its output guardrails and terminal hooks, and then failed to persist that final turn. ...
Every later Runner.run(...) or Runner.run_streamed(...) attempt with that state raises UserError
before Session reconciliation, sandbox preparation, model calls, tools, guardrails, or hooks."
(https://openai.github.io/openai-agents-python/results/#recover-a-failed-resumed-session-write)

Judged are phases that run a state in memory again whose earlier run failed with its session. That
the session then holds all of it once is session_persistence's matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import recovers, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

_EFFECTS = ("tool_started", "guardrail_checked", "hook", "handoff", "model_called",
            "session_written")
_FAILURE = "SessionFailure"


def _again(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, list[PhaseRun]]]:
    """Runs of a state that was run before, with those runs of it that failed to write."""
    for run in seen.runs:
        failed = [other for other in seen.in_mode(run.mode)
                  if recovers(plan, plan.phase(run.phase), plan.phase(other.phase))
                  and _could_not_write(other)]
        if failed:
            yield run, failed


def _could_not_write(run: PhaseRun) -> bool:
    raised = run.last("raised")
    return raised is not None and raised["error"].get("type") == _FAILURE


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, failed in _again(plan, seen):
        if any(_ended(other) for other in failed):
            yield from _refused(run)
            continue
        done = {_key(event) for other in failed for event in other.of("tool_finished")}
        again = [event for event in run.of("tool_started", "guardrail_checked", "hook")
                 if event["call"] and _key(event) in done]
        if again:
            yield Violation("DONE_AGAIN", run.where, f"{words(dict.fromkeys(map(_what, again)))} "
                            f"for call {again[0]['call']}, whose tool had ended when the session "
                            "failed to write")


def _ended(run: PhaseRun) -> bool:
    """Whether a run had come to its end when it could not write: its last hooks were called."""
    return any(event["on"] == "on_agent_end" and not event["parent"] for event in run.of("hook"))


def _refused(run: PhaseRun) -> Iterator[Violation | Unobserved]:
    effects = run.of(*_EFFECTS)
    raised = run.last("raised")
    if effects:
        names = words(dict.fromkeys(map(_what, effects)))
        yield Violation("ENDED_RUN_GOES_ON", run.where, f"{names} "
                        "although the run had ended when the session failed to write")
    elif raised is None or raised["error"].get("type") != "UserError":
        yield Violation("ENDED_RUN_NOT_REFUSED", run.where, "the run had ended when the session "
                        f"failed to write, and to run its state again ended {run.outcome}")


def _key(event: Event) -> tuple[str, str]:
    return event["parent"], event["call"]


def _what(event: Event) -> str:
    return str(event.get("on") or event["kind"])


CONTRACT = Contract(
    name="write_recovery",
    promise="A state whose run could not write goes on where it was, or is run no more.",
    source="https://openai.github.io/openai-agents-python/results/"
           "#recover-a-failed-resumed-session-write",
    codes={
        "DONE_AGAIN": "a tool, its guardrail or its hook came again for a call that was done",
        "ENDED_RUN_GOES_ON": "a run that had ended did something when its state was run again",
        "ENDED_RUN_NOT_REFUSED": "the state of a run that had ended was not refused",
    },
    applies=lambda plan, seen: any(_again(plan, seen)),
    violations=_violations,
)
