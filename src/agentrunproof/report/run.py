"""A recorded run, or one of its model calls, in plain text of 80 columns.

What a run holds came from elsewhere, so nothing in it reaches the terminal that moves its cursor
or colours it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from agentrunproof.record.run import Call, Event, Run
from agentrunproof.report import messages
from agentrunproof.report.messages import Message, compact
from agentrunproof.report.text import fit, indented

if TYPE_CHECKING:
    from agentrunproof.record.dialects import Decision

#: Keys of a request that hold its texts; all others are parameters.
_TEXTS = ("messages", "input", "system", "instructions", "tools")


def run_lines(run: Run) -> list[str]:
    """A run: its model calls with what they decided, its tool calls with what they gave."""
    calls = run.calls()
    lines = [fit("  ".join((run.name, when(run), run.state, _count(len(calls), "model call")))),
             *(f"note: {note}" for note in run.notes), ""]
    known = {call.id: call for call in calls}
    for event in run.events():
        lines += map(fit, _event_lines(run, event, known))
    return lines


def call_lines(run: Run, call: Call) -> list[str]:
    """A model call: the whole request and what the model decided."""
    body = run.body(call)
    rest = ", ".join(f"{key}={compact(value)}" for key, value in body.items()
                     if key not in (*_TEXTS, "model"))
    lines = [fit("  ".join(filter(None, (call.id, call.agent, call.dialect, call.model)))),
             *([fit(f"  {rest}")] if rest else [])]
    for number, (title, text) in enumerate(_messages(body)):
        lines += ["", fit(f"[{number}] {title}"), *indented(text)]
    for _, tool in messages.tables(body.get("tools")):
        name, blocks = messages.tool(tool)
        lines += ["", fit(f"tool {name}")]
        lines += (line for block in blocks[:1] if block.kind == "text"
                  for line in indented(block.text))
    lines += ["", "=> the model"]
    decision, error = run.decision(call), run.error(call)
    if decision is not None:
        lines += map(fit, _call_lines(decision, "  "))
        lines += indented(decision["text"])
    else:
        lines += indented(f"failed: {error['type']}: {error['message']}" if error
                           else "no reply was recorded")
    return lines


def when(run: Run) -> str:
    """When a run started, in UTC."""
    if run.started is None:
        return ""
    try:
        started = datetime.fromtimestamp(run.started, timezone.utc)
    except (OverflowError, ValueError, OSError):  # no time of any calendar
        return ""
    return started.strftime("%Y-%m-%d %H:%M:%SZ")


def _event_lines(run: Run, event: Event, calls: dict[str, Call]) -> list[str]:
    kind, name = event["kind"], event.get("call", "")
    if kind == "model_called":
        return []
    if kind in ("model_responded", "model_failed"):
        call = calls[name]
        head = "  ".join(filter(None, (f"{name:<5}", call.agent, call.model, _took(event))))
        if kind == "model_failed":
            return [head, _failure(event)]
        return [head, *_decision_lines(event["decision"], " " * 7)]
    if kind == "tool_started":
        by = f"  (asked by {event['asked_by']})" if "asked_by" in event else ""
        return [f"{name:<5}  {event['tool']} {compact(event.get('arguments', {}))}{by}"]
    if kind == "tool_finished":
        return [f"       = {compact(event.get('output'))}"]
    if kind == "tool_failed":
        return [_failure(event)]
    if kind in ("run_started", "run_finished"):
        lost = event.get("incomplete", [])
        return [f"incomplete: {one}" for one in lost] if isinstance(lost, list) else []
    rest = {key: value for key, value in event.items() if key not in ("seq", "kind", "clock")}
    return [f"{kind} {compact(rest)}"]


def _failure(event: Event) -> str:
    error = event["error"]
    return f"       failed: {error.get('type')}: {error.get('message')}"


def _decision_lines(decision: Decision, indent: str) -> list[str]:
    said = [f"{indent}says {decision['text']}"] if decision["text"] else []
    return [*_call_lines(decision, indent), *said]


def _call_lines(decision: Decision, indent: str) -> list[str]:
    return [f"{indent}-> {call['name']} {compact(call['arguments'])}"
            for call in decision["tool_calls"]]


def _messages(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The messages of a request in any dialect: what each is, and its text."""
    for key in ("instructions", "system"):
        if body.get(key):
            yield "system", _said(messages.head(key, body[key]), "")
    turns = body.get("messages", body.get("input", []))
    if isinstance(turns, str):
        yield "user", turns
        return
    for turn in turns if isinstance(turns, list) else [turns]:
        id = str(turn.get("tool_call_id") or turn.get("call_id") or "") \
            if isinstance(turn, dict) else ""
        message = messages.message(turn)
        yield f"{message.role} {id}".rstrip(), _said(message, id)


def _said(message: Message, id: str) -> str:
    """The texts of a message; the call that it is all about is told by its id in the title."""
    lines = []
    for block in message.blocks:
        told = block.id if block.id != id else ""
        if block.kind == "call":
            lines.append(f"-> {block.name} {block.text}" + (f"  ({told})" if told else ""))
        else:
            lines.append(f"result of {told}: {block.text}" if told else block.text)
    return "\n".join(filter(None, lines))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _took(event: Event) -> str:
    took = event.get("clock", {}).get("took")
    return f"{took:.1f} s" if isinstance(took, int | float) else ""

