"""What two runs of one story have to share, aspect by aspect.

Used by every check that holds runs against each other: modes of a plan (`stream_parity`) and
variants of it (the relations). What the scheduler may choose is not compared: the order between
concurrent calls, between the hooks of run and agent, how far a run had come when a guardrail
beside the model stopped it, or such a guardrail when the run failed, and which hooks and guardrails
had been called when the input could not be stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from agentrunproof.contracts.reading import blocks, essences, is_covered, races
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import PhaseRun


def _outcome(run: PhaseRun) -> Any:
    return run.outcome


def _error(run: PhaseRun) -> Any:
    return [event["error"] for event in run.of("raised")]


def _error_data(run: PhaseRun) -> Any:
    return _fields(run, "raised", "new_items", "responses", "last_agent")


def _model_calls(run: PhaseRun) -> Any:
    """Calls and answers; whether a message given says its text as such or as a part is the same."""
    return [{name: [_told(item) for item in value] if name == "input" else value
             for name, value in event.items() if name != "streamed"}
            for event in run.of("model_called", "model_responded", "model_failed")]


def _told(item: Any) -> Any:
    if not isinstance(item, dict) or "role" not in item:
        return item
    told = {name: value for name, value in item.items() if (name, value) != ("status", "completed")}
    parts = told.get("content")
    if isinstance(parts, list) and all(isinstance(part, dict) and "text" in part
                                       for part in parts):
        told["content"] = "".join(str(part["text"]) for part in parts)
    if told.keys() == {"role", "content"} and told["role"] != "user":
        told["content"] = _history(str(told["content"]))
    return told


_LINE = re.compile(r"^(\d+\. )(\{.*\})$", re.MULTILINE)


def _history(text: str) -> str:
    """A message without ids, as it folds the history before a handoff, with ordered objects.

    A covered one may be that, with its objects in any order.
    """
    return "" if is_covered(text) else _LINE.sub(_ordered, text)


def _ordered(line: re.Match[str]) -> str:
    try:
        return line[1] + json.dumps(json.loads(line[2]), sort_keys=True)
    except ValueError:
        return line[0]


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
    return [{name: [_told(item) for item in value] if name == "history" else value
             for name, value in told.items()}
            for told in _fields(run, "result", "last_agent", "final_output", "new_items", "history",
                                "responses", "guardrails")]


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


def _contested(*runs: PhaseRun) -> bool:
    """Whether several guardrails, or one and the session, would end the run: which is chance."""
    refused = [sum(not event["parent"] and not event["stage"].startswith("tool_")
                   and bool(event["tripped"] or event["error"])
                   for event in run.of("guardrail_checked")) for run in runs]
    return max(refused) > 1 or (any(refused) and any(run.of("session_failed") for run in runs))


def _guards(plan: Plan, run: PhaseRun) -> Any:
    """What was checked but by guardrails beside the model, which a failing run may stop or not."""
    return sorted(repr(event) for event in run.of("guardrail_checked")
                  if event["stage"] != "input" or blocks(plan, event["guardrail"]))


def _input_unstored(run: PhaseRun) -> bool:
    """Whether the run ended because the session did not take what it had before its first turn."""
    seen = [event["kind"] for event in run.of("session_failed", "model_called")]
    return seen == ["session_failed"] and run.outcome == "raised"


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

#: code -> what is compared, in words
COMPARED: dict[str, str] = {code: what for code, (what, _) in (ALWAYS | ORDERED).items()}


def differences(plan: Plan, run: PhaseRun, other: PhaseRun,
                leaving_out: Collection[str] = ()) -> Iterator[str]:
    """Codes of the aspects in which two runs differ.

    Args:
        plan: of which they are runs.
        run: the one, and `other` the other; neither is the original.
        leaving_out: codes of aspects that need not be shared.
    """
    aspects = dict(ALWAYS)
    if not (races(plan, run) or races(plan, other) or "timeout" in (run.outcome, other.outcome)):
        aspects |= ORDERED
    if _contested(run, other):
        del aspects["ERRORS_DIFFER"]
    if "GUARDRAILS_DIFFER" in aspects and run.outcome == other.outcome == "raised":
        aspects["GUARDRAILS_DIFFER"] = COMPARED["GUARDRAILS_DIFFER"], partial(_guards, plan)
    if _input_unstored(run) and _input_unstored(other):
        for code in ("HOOKS_DIFFER", "GUARDRAILS_DIFFER"):
            aspects.pop(code, None)
    for code, (_, read) in aspects.items():
        if code not in leaving_out and read(run) != read(other):
            yield code
