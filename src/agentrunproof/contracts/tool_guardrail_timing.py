"""Each call of a guarded tool is checked before it is executed and after it has been.

"Input tool guardrails run before the tool executes"; "Output tool guardrails run after the tool
executes"; they "are configured on the tool itself and run every time that tool is invoked".
(https://openai.github.io/openai-agents-python/guardrails/)

"if a function tool needs approval, the run pauses first and the tool input guardrails run only
after approval, immediately before execution. Set it to True when you want function-tool input
guardrails to run before the pending approval interruption is emitted."
(https://openai.github.io/openai-agents-python/running_agents/#tool_execution)

A guardrail behind one that did not allow the call is not due, nor is one behind a tool that
failed. A call that waited for a decision is checked once, in the run that executes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import calls_made
from agentrunproof.contracts.reading import lineage, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Key = tuple[str, str]

_STAGES = ("tool_input", "tool_output")


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        made = calls_made(lineage(plan, seen, run))
        for key, events in _calls(run).items():
            yield from _order(run, key, events)
            yield from _repeated(run, key, events, max(made[key], 1))
            yield from _unchecked(plan, run, key, events)
        yield from _waiting(plan, run)


def _waiting(plan: Plan, run: PhaseRun) -> Found:
    """Calls that wait for a decision were checked before if the run says so, and else were not."""
    made = {str(item.get("call_id")) for event in run.of("model_responded") if not event["parent"]
            for item in event["output"]}
    checks = {(event["call"], event["guardrail"]) for event in run.of("guardrail_checked")
              if event["stage"] == "tool_input"}
    for event in run.of("interruption"):
        tool = plan.tools.get(event["tool"])
        if tool is None or event["call"] not in made:
            continue
        asked = [name for name in tool.input_guardrails if (event["call"], name) in checks]
        if plan.run.pre_approval_guardrails and len(asked) < len(tool.input_guardrails):
            yield Violation("WAITING_UNCHECKED", run.where, f"call {event['call']} waits for a "
                            "decision, and not all guardrails have checked it")
        elif asked and not plan.run.pre_approval_guardrails:
            yield Violation("WAITING_CHECKED", run.where, f"call {event['call']} waits for a "
                            f"decision, and {words(asked)} has checked it already")


def _calls(run: PhaseRun) -> dict[Key, list[Event]]:
    """What happened to each call, by (parent, call id)."""
    found: dict[Key, list[Event]] = {}
    for event in run.of("guardrail_checked", "tool_started", "tool_finished"):
        if event["kind"] != "guardrail_checked" or event["stage"] in _STAGES:
            found.setdefault((event["parent"], event["call"]), []).append(event)
    return found


def _checks(events: list[Event], stage: str) -> list[Event]:
    return [event for event in events if event.get("stage") == stage]


def _order(run: PhaseRun, key: Key, events: list[Event]) -> Found:
    """Checks of the output come when the tool has ended; those of the input are in `_unchecked`.

    One that never ended well has failed, and what the model is to be told of it is checked.
    """
    coming = sum(event["kind"] == "tool_finished" for event in events)
    ended = not coming
    for event in events:
        ended = ended or event["kind"] == "tool_finished"
        if event.get("stage") == "tool_output" and not ended:
            yield Violation("OUTPUT_CHECKED_EARLY", run.where, f"{event['guardrail']} checked the "
                            f"output of call {key[1]} before its tool had ended")


def _repeated(run: PhaseRun, key: Key, events: list[Event], times: int) -> Found:
    for stage in _STAGES:
        found = Counter(check["guardrail"] for check in _checks(events, stage))
        often = [name for name, count in found.items() if count > times]
        if often:
            yield Violation("CALL_CHECKED_AGAIN", run.where, f"{words(often)} checked call "
                            f"{key[1]} more than once")


def _unchecked(plan: Plan, run: PhaseRun, key: Key, events: list[Event]) -> Found:
    before: set[str] = set()
    for n, event in enumerate(events):
        if event.get("stage") == "tool_input":
            before.add(event["guardrail"])
        tool = plan.tools.get(event.get("tool", ""))
        if tool is None:
            continue
        if event["kind"] == "tool_started":
            missing = [name for name in tool.input_guardrails if name not in before]
            if missing:
                yield Violation("INPUT_UNCHECKED", run.where, f"call {key[1]} was executed before "
                                f"{words(missing)} had checked it")
        elif run.outcome in ("completed", "interrupted"):
            missing = _not_asked(tool.output_guardrails, _checks(events[n:], "tool_output"))
            if missing:
                yield Violation("OUTPUT_UNCHECKED", run.where,
                                f"{words(missing)} never checked the output of call {key[1]}")


def _not_asked(declared: tuple[str, ...], checks: list[Event]) -> list[str]:
    """Declared guardrails without a check, up to one that did not allow the output."""
    behavior = {check["guardrail"]: check["behavior"] for check in checks}
    missing = []
    for name in declared:
        if name not in behavior:
            missing.append(name)
        elif behavior[name] not in ("", "allow"):
            break
    return missing


def _guarded(plan: Plan, event: Event) -> bool:
    tool = plan.tools.get(event["tool"])
    return tool is not None and bool(tool.input_guardrails or tool.output_guardrails)


CONTRACT = Contract(
    name="tool_guardrail_timing",
    promise="Each call of a guarded tool is checked once before it runs and once after it.",
    source="https://openai.github.io/openai-agents-python/guardrails/",
    codes={
        "INPUT_UNCHECKED": "a tool was started before its input guardrails had checked the call",
        "OUTPUT_UNCHECKED": "a tool has ended, and an output guardrail never checked what it gave",
        "OUTPUT_CHECKED_EARLY": "an output guardrail checked a call whose tool had not ended",
        "WAITING_CHECKED": "a call that waits was checked, which comes after the decision",
        "WAITING_UNCHECKED": "a call that waits was not checked, which comes before the decision",
        "CALL_CHECKED_AGAIN": "a tool guardrail checked one call more than once",
    },
    applies=lambda plan, seen: any(
        _guarded(plan, event) for run in seen.runs
        for event in run.of("tool_started", "interruption")) or any(
        event["stage"] in _STAGES for run in seen.runs for event in run.of("guardrail_checked")),
    violations=_violations,
)
