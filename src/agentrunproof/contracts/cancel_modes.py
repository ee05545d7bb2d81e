"""A stream cancelled at once delivers nothing more; one cancelled after its turn finishes it.

"cancel(mode): immediate: Stop immediately, cancel all tasks, clear queues (default); after_turn:
Complete current turn gracefully before stopping: Allows LLM response to finish; Executes pending
tool calls; Saves session state properly; Tracks usage accurately; Stops before next turn begins"
(https://openai.github.io/openai-agents-python/ref/result/, RunResultStreaming.cancel)

That no further turn begins is the promise of `cancellation`. Pending tool calls are those of plain
function tools that no guardrail, decision or deadline keeps from ending.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import finished_calls, lineage, stream_name, turns_seen, words
from agentrunproof.plan.items import is_object
from agentrunproof.plan.model import Cancel, Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run, cancel in _cancelled(plan, seen):
        if cancel.mode == "immediate":
            left = _after(run, cancel)
            if left:
                yield Violation("EVENT_AFTER_CANCEL", run.where, f"{left} event(s) were delivered "
                                "after the stream had been cancelled at once")
        else:
            at_once = plan.phase(run.phase).resume is None and bool(run.of("model_called"))
            yield from _finished(plan, seen, run, turns_seen(run, cancel, at_once) or 0)


def _cancelled(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Cancel]]:
    for run in seen.in_mode("run_streamed"):
        cancel = plan.phase(run.phase).cancel
        if cancel is not None and cancel.mode != "task" and run.outcome == "cancelled":
            yield run, cancel


def _after(run: PhaseRun, cancel: Cancel) -> int:
    """How many events the consumer was given after the one at which it cancelled."""
    total = reached = seen = 0
    for event in run.of("stream_event"):
        if stream_name(event) == cancel.when and not reached:
            if seen + event["count"] >= cancel.count:
                reached = total + cancel.count - seen
            seen += event["count"]
        total += event["count"]
    return total - reached if reached else 0


def _finished(plan: Plan, seen: Observation, run: PhaseRun, begun: int) -> Found:
    """What was to be done in the turns that had begun when the consumer cancelled."""
    answers = [event for event in run.of("model_responded") if not event["parent"]]
    ended = {event["call"] for event in run.of("tool_finished", "tool_failed", "tool_cancelled")
             if not event["parent"]}
    open_ = [call for answer in answers for call in _due(plan, answer) if call not in ended]
    if len(answers) < begun or open_:
        what = words(open_) if open_ else "the model's answer"
        yield Violation("TURN_CUT_SHORT", run.where, f"{what} was still to come when the stream "
                        "stopped, which was to finish its turn")
        return
    observed = [event for event in run.of("session_read") if event["op"] == "observe"]
    if observed:
        held = {str(item.get("call_id")) for item in observed[-1]["items"] if "output" in item}
        lost = sorted(finished_calls((run,)) - held)
        if lost:
            yield Violation("TURN_NOT_SAVED", run.where, f"the output of {words(lost)} is not in "
                            "the session of a stream that was to finish its turn")
    usage = run.last("usage")
    requests = sum(len(part.of("model_responded")) for part in lineage(plan, seen, run))
    if usage is not None and usage["requests"] != requests:
        yield Violation("TURN_NOT_COUNTED", run.where, f"{usage['requests']} requests are counted, "
                        f"{requests} were answered before the stream stopped")


def _due(plan: Plan, answer: Event) -> list[str]:
    """Calls of an answer whose tool must have ended with the turn."""
    due = []
    offered = plan.tools_of(answer["agent"])
    for item in answer["output"]:
        tool = plan.tools[item["name"]] if item.get("name") in offered else None
        if tool is not None and tool.enabled and is_object(str(item.get("arguments"))) and not (
                tool.needs_approval or tool.input_guardrails or tool.timeout or tool.agent
                or tool.python or tool.parameters or tool.enabled_until):
            due.append(str(item.get("call_id")))
    return due


CONTRACT = Contract(
    name="cancel_modes",
    promise="A stream cancelled at once delivers nothing more, or finishes its turn if told to.",
    source="https://openai.github.io/openai-agents-python/ref/result/",
    codes={
        "EVENT_AFTER_CANCEL": "events were delivered after the stream was cancelled at once",
        "TURN_CUT_SHORT": "a stream that was to finish its turn left an answer or a call undone",
        "TURN_NOT_SAVED": "the session lacks an output of the turn that was to be finished",
        "TURN_NOT_COUNTED": "the usage lacks an answer of the turn that was to be finished",
    },
    applies=lambda plan, seen: any(True for _ in _cancelled(plan, seen)),
    violations=_violations,
)
