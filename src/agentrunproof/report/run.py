"""A recorded run, or one of its model calls, in plain text of 80 columns.

What a run holds came from elsewhere, so nothing in it reaches the terminal that moves its cursor
or colours it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from agentrunproof.record.run import Call, Event, Run
from agentrunproof.report.text import WIDTH

if TYPE_CHECKING:
    from agentrunproof.record.dialects import Decision

#: Keys of a request that hold its texts; all others are parameters.
_TEXTS = ("messages", "input", "system", "instructions", "tools")


def run_lines(run: Run) -> list[str]:
    """A run: its model calls with what they decided, its tool calls with what they gave."""
    calls = run.calls()
    lines = [_fit("  ".join((run.name, when(run), run.state, _count(len(calls), "model call")))),
             *(f"note: {note}" for note in run.notes), ""]
    known = {call.id: call for call in calls}
    for event in run.events():
        lines += map(_fit, _event_lines(run, event, known))
    return lines


def call_lines(run: Run, call: Call) -> list[str]:
    """A model call: the whole request and what the model decided."""
    body = run.body(call)
    rest = ", ".join(f"{key}={_compact(value)}" for key, value in body.items()
                     if key not in (*_TEXTS, "model"))
    lines = [_fit("  ".join(filter(None, (call.id, call.agent, call.dialect, call.model)))),
             *([_fit(f"  {rest}")] if rest else [])]
    for number, (title, text) in enumerate(_messages(body)):
        lines += ["", _fit(f"[{number}] {title}"), *_indented(text)]
    for tool in body.get("tools") or ():
        made = tool.get("function") if isinstance(tool.get("function"), dict) else tool
        lines += ["", _fit(f"tool {made.get('name') or made.get('type')}"),
                  *_indented(str(made.get("description") or ""))]
    lines += ["", "=> the model"]
    decision, error = run.decision(call), run.error(call)
    if decision is not None:
        lines += map(_fit, _call_lines(decision, "  "))
        lines += _indented(decision["text"])
    else:
        lines += _indented(f"failed: {error['type']}: {error['message']}" if error
                           else "no reply was recorded")
    return lines


def when(run: Run) -> str:
    """When a run started, in UTC."""
    if run.started is None:
        return ""
    return datetime.fromtimestamp(run.started, timezone.utc).strftime("%Y-%m-%d %H:%M:%SZ")


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
        return [f"{name:<5}  {event['tool']} {_compact(event.get('arguments', {}))}{by}"]
    if kind == "tool_finished":
        return [f"       = {_compact(event.get('output'))}"]
    if kind == "tool_failed":
        return [_failure(event)]
    if kind in ("run_started", "run_finished"):
        lost = event.get("incomplete", [])
        return [f"incomplete: {one}" for one in lost] if isinstance(lost, list) else []
    rest = {key: value for key, value in event.items() if key not in ("seq", "kind", "clock")}
    return [f"{kind} {_compact(rest)}"]


def _failure(event: Event) -> str:
    error = event["error"]
    return f"       failed: {error.get('type')}: {error.get('message')}"


def _decision_lines(decision: Decision, indent: str) -> list[str]:
    said = [f"{indent}says {decision['text']}"] if decision["text"] else []
    return [*_call_lines(decision, indent), *said]


def _call_lines(decision: Decision, indent: str) -> list[str]:
    return [f"{indent}-> {call['name']} {_compact(call['arguments'])}"
            for call in decision["tool_calls"]]


def _messages(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The messages of a request in any dialect: what each is, and its text."""
    for key in ("instructions", "system"):
        if body.get(key):
            yield "system", _text(body[key])
    messages = body.get("messages", body.get("input", []))
    if isinstance(messages, str):
        yield "user", messages
        return
    for message in messages:
        if not isinstance(message, dict):
            yield "?", _compact(message)
            continue
        id = message.get("tool_call_id") or message.get("call_id") or ""
        title = str(message.get("role") or message.get("type") or "?")
        yield f"{title} {id}".rstrip(), "\n".join(filter(None, _parts(message)))


def _parts(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content", message.get("output", message.get("summary")))
    if content is not None:
        yield _text(content)
    for call in message.get("tool_calls") or ():
        made = call.get("function") or call
        yield f"-> {made.get('name')} {made.get('arguments')}  ({call.get('id')})"
    if "arguments" in message:
        yield f"-> {message.get('name')} {message['arguments']}"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return _compact(content)
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return _compact(part)
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if part.get("type") == "tool_use":
        return f"-> {part.get('name')} {_compact(part.get('input'))}  ({part.get('id')})"
    if part.get("type") == "tool_result":
        return f"result of {part.get('tool_use_id')}: {_text(part.get('content'))}"
    return _compact(part)


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _took(event: Event) -> str:
    took = event.get("clock", {}).get("took")
    return f"{took:.1f} s" if isinstance(took, int | float) else ""


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\n" else
                   " " if letter == "\t" else f"\\x{ord(letter):02x}" for letter in text)


def _fit(line: str) -> str:
    """One line, cut to the width."""
    line = _printable(" ".join(line.splitlines()))
    return line if len(line) <= WIDTH else line[:WIDTH - 3] + "..."


def _indented(text: str) -> list[str]:
    """All of a text, its own line breaks kept."""
    lines: list[str] = []
    for line in _printable(text).split("\n"):
        lines += textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="  ",
                               break_on_hyphens=False) or [""]
    return lines if text else []
