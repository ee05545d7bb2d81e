"""A failed model call is tried again as often as allowed, with the very same request.

"ModelRetrySettings: Opt-in runner-managed retry settings for model calls"; "max_retries: Retries
allowed after the initial model request." (https://openai.github.io/openai-agents-python/ref/retry/)
A retry is another try of the same call: issues where it saw another history are
openai-agents-python#3857, #3931.

A plan's policy allows every retry, so each is due. The Runner does not try again what was
cancelled, nor a stream of which the consumer may have seen something; nothing is due there.
"Stateful follow-up requests using previous_response_id or conversation_id fail closed when replay
safety is unknown" (https://openai.github.io/openai-agents-python/models/#safety-boundaries),
which it is here: no model of a plan says that it may be asked again.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import CUT_SHORT, essences, told_too_much
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_SAME = ("instructions", "tools", "handoffs", "output_type", "settings",
         "previous_response_id", "conversation_id")


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        for tries, error in _attempts(run):
            yield from _judge(plan, run, tries, error)


def _attempts(run: PhaseRun) -> Iterator[tuple[list[Event], Event | None]]:
    """Model calls that failed, with the tries that followed, and the failure of the last one."""
    tries: dict[tuple[str, str], list[Event]] = {}
    failed: dict[tuple[str, str], Event] = {}
    for event in run.of("model_called", "model_failed", "model_responded"):
        lane = (event["agent"], event["parent"])
        if event["kind"] == "model_called":
            tries.setdefault(lane, []).append(event)
            failed.pop(lane, None)
        elif event["kind"] == "model_failed":
            failed[lane] = event
        else:
            held = tries.pop(lane, [])
            if len(held) > 1:
                yield held, None
    for lane, held in tries.items():
        if lane in failed:
            yield held, failed[lane]


def _judge(plan: Plan, run: PhaseRun, tries: list[Event], error: Event | None) -> Found:
    allowed, made = plan.run.retries or 0, len(tries) - 1
    agent = tries[0]["agent"]
    if _stateful(tries[0]):
        if made:
            yield Violation("RETRY_UNSAFE", run.where, f"a model call of {agent} that goes on from "
                            f"what the server keeps was tried again {made} times")
        return
    if made > allowed:
        yield Violation("RETRY_TOO_OFTEN", run.where, f"a model call of {agent} was tried again "
                        f"{made} times, {allowed} are allowed")
    elif made < allowed and error is not None and _due(plan, run, error):
        yield Violation("RETRY_MISSING", run.where, f"a model call of {agent} failed and was "
                        f"tried again {made} times, {allowed} are allowed")
    for again in tries[1:]:
        if _asked(again) != _asked(tries[0]):
            yield Violation("RETRY_DIFFERS", run.where, f"a model call of {agent} was tried again "
                            "with another request")


def _stateful(event: Event) -> bool:
    """Whether the server may have taken in what a failed call sent."""
    return bool(event["previous_response_id"] or event["conversation_id"])


def _asked(event: Event) -> object:
    return essences(event["input"]), [event[name] for name in _SAME]


def _due(plan: Plan, run: PhaseRun, error: Event) -> bool:
    """Whether another try must follow a failure: nothing was cancelled or told before."""
    told = told_too_much(plan, run, error["agent"])
    checks = run.of("guardrail_checked")
    return not (run.outcome in CUT_SHORT or error["error"].get("type") == "CancelledError"
                or told or error["parent"] or any(check["tripped"] or check["error"]
                                                  for check in checks))


CONTRACT = Contract(
    name="model_retry",
    promise="A failed model call is tried again as often as allowed, with the same request.",
    source="https://openai.github.io/openai-agents-python/ref/retry/",
    codes={
        "RETRY_TOO_OFTEN": "a failed model call was tried again more often than allowed",
        "RETRY_MISSING": "a run gave up on a failed model call before the last allowed retry",
        "RETRY_UNSAFE": "a failed call of which the server may have kept something was repeated",
        "RETRY_DIFFERS": "a retry asked the model something else than the failed call",
    },
    applies=lambda plan, seen: plan.run.retries is not None and any(
        True for run in seen.runs for _ in _attempts(run)),
    violations=_violations,
)
