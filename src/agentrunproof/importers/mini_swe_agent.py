"""mini-swe-agent's trajectories: its messages, with calls of tools or with commands in the text.

https://mini-swe-agent.com/latest/. Files older than its tables are lists of messages.
"""

from __future__ import annotations

import re
from typing import Any

from agentrunproof.importers import several
from agentrunproof.importers.draft import Draft, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables
from agentrunproof.importers.turns import Turns, said

Json = dict[str, Any]

_MESSAGE = ("role", "content", "tool_calls", "tool_call_id", "function_call", "extra")
_EXTRA = ("actions", "response", "timestamp", "returncode", "raw_output", "exception_info")
#: a result that stands in what the user says
_RESULT = re.compile(r"\s*<returncode>(-?\d+)</returncode>")
#: the command in an answer: the last block of code
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)?\s*\n(.*?)\n?```", re.S)
_LIMITS = ("Limits", "Timeout", "TimeExceeded")


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, Json] = {}
    for number, document in enumerate(source.documents, 1):
        value = document.value
        if isinstance(value, list) and _are_messages(value):
            value = {"messages": value}
        if not _is(value):
            raise NotThisFormat("no trajectory_format mini-swe-agent..., nor messages with results "
                                f"in <returncode>, but {found(value)}")
        runs[str(value.get("instance_id") or number)] = value
    id, value = several.choose(source, runs)
    draft = Draft(source.name, run=id, fields=said(value, "messages"))
    info = value.get("info")
    reading = _Reading(draft, info if isinstance(info, dict) else {})
    for message in tables(value["messages"]):
        reading.take(message)
    return draft


def _is(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    return str(value.get("trajectory_format", "")).startswith("mini-swe-agent") or (
        "trajectory_format" not in value and _are_messages(value["messages"]))


def _are_messages(messages: list[Any]) -> bool:
    """Whether messages hold the results of commands as this agent writes them."""
    return any(message.get("role") in ("user", "tool") and isinstance(message.get("content"), str)
               and _RESULT.match(message["content"]) for message in tables(messages)
               ) and all(isinstance(message, dict) and "role" in message for message in messages)


class _Reading:
    """Takes the messages of one run."""

    def __init__(self, draft: Draft, info: Json) -> None:
        self._draft = draft
        config = info.get("config")
        model = config.get("model") if isinstance(config, dict) else None
        name = model.get("model_name") if isinstance(model, dict) else None
        self._turns = Turns(draft, **({"model": name} if name else {}))
        self._open: list[ToolStep] = []
        self._end(info.get("exit_status"))

    def take(self, message: Json) -> None:
        role, content = str(message.get("role") or "user"), message.get("content")
        raw = message.get("extra")
        extra: Json = raw if isinstance(raw, dict) else {}
        at = _nanoseconds(extra.get("timestamp"))
        if role == "assistant":
            self._answer(message, extra, at)
        elif role == "exit":
            self._end(extra.get("exit_status"))
            for step in self._open:  # what ends a run gives no result of its own
                step.output, step.done, step.end = extra.get("submission", content), True, at
            self._open = []
            self._left(role, message, extra, "exit_status", "submission")
        elif self._open and (role == "tool" or "returncode" in extra or (
                isinstance(content, str) and _RESULT.match(content))):
            self._result(message, extra, role, at)
        else:
            self._turns.said(role, content)
            self._left(role, message, extra)

    def _left(self, role: str, message: Json, extra: Json, *taken: str) -> None:
        self._draft.left.update(f"{role} message {key}" for key in (
            *said(message, *_MESSAGE), *said(extra, *_EXTRA, *taken)))

    def _answer(self, message: Json, extra: Json, at: int | None) -> None:
        calls, response = tables(message.get("tool_calls")), extra.get("response")
        by = self._turns.answered(
            {"role": "assistant", "content": message.get("content"),
             **({"tool_calls": calls} if calls else {})}, at=at,
            reply=response if isinstance(response, dict) and tables(response.get("choices")) else
            None, kept={**said(message, *_MESSAGE), **said(extra, *_EXTRA)})
        if calls:
            self._open = [self._turns.called(call["name"], call["arguments"], id=call["id"], at=at,
                                             by=by) for call in by.asks()]
        else:
            self._open = [self._turns.called("bash", {"command": command}, at=at, by=by)
                          for command in _commands(message, extra)]

    def _result(self, message: Json, extra: Json, role: str, at: int | None) -> None:
        id, content = str(message.get("tool_call_id") or ""), message.get("content")
        step = next((one for one in self._open if id and one.id == id), self._open[0])
        self._open.remove(step)
        told = _RESULT.match(content) if isinstance(content, str) else None
        code = extra.get("returncode", int(told[1]) if told else 0)
        self._turns.gave(step, {"content": content, "exit_code": code} if code else content, at=at,
                         content=content, role=role)
        if extra.get("exception_info"):
            step.error = {"type": "error", "message": str(extra["exception_info"])}
        step.kept |= {**said(message, *_MESSAGE), **said(extra, *_EXTRA, "exception_info")}

    def _end(self, status: Any) -> None:
        """How the run ended, in the agent's word for it."""
        if not isinstance(status, str) or not status:
            return
        if status.lower() == "submitted":
            self._draft.outcome = "completed"
        else:
            limit = any(word in status for word in _LIMITS)
            self._draft.outcome, self._draft.error = "timeout" if limit else "raised", status


def _commands(message: Json, extra: Json) -> list[str]:
    """The commands that an answer without calls of tools gives."""
    if isinstance(extra.get("actions"), list):
        return [str(action["command"]) for action in tables(extra["actions"])
                if action.get("command")]
    content = message.get("content")
    return _COMMAND.findall(content)[-1:] if isinstance(content, str) else []


def _nanoseconds(seconds: Any) -> int | None:
    return int(seconds * 1e9) if isinstance(seconds, int | float) \
        and not isinstance(seconds, bool) else None


MINI_SWE_AGENT = Format("mini-swe-agent", "a trajectory_format that begins with mini-swe-agent, or "
                        "messages with results in <returncode>", _read)
