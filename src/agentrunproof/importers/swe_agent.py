"""SWE-agent's trajectories (``.traj``): its history of messages, or else the trajectory itself.

https://swe-agent.com/latest/usage/trajectories/
"""

from __future__ import annotations

from typing import Any

from agentrunproof.importers import parts, several
from agentrunproof.importers.draft import Draft, ModelStep, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables
from agentrunproof.importers.turns import Turns, said

Json = dict[str, Any]

_MESSAGE = ("role", "content", "tool_calls", "tool_call_ids", "agent", "message_type", "is_demo",
            "thinking_blocks")


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, Json] = {}
    for number, document in enumerate(source.documents, 1):
        value = document.value
        if not _is(value):
            raise NotThisFormat("neither a history with message_type nor a trajectory with "
                                f"action and observation, but {found(value)}")
        runs[str(value.get("instance_id") or value.get("environment") or number)] = value
    id, value = several.choose(source, runs)
    draft = Draft(source.name, run=id, fields=said(value, "history", "trajectory"))
    history, trajectory = tables(value.get("history")), tables(value.get("trajectory"))
    reading = _Reading(draft)
    if history:
        reading.history(history, trajectory)
    else:
        reading.trajectory(trajectory)
    _end(draft, value.get("info"))
    return draft


def _is(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    history, trajectory = tables(value.get("history")), tables(value.get("trajectory"))
    return any("message_type" in entry or "is_demo" in entry for entry in history) \
        or any({"action", "observation"} <= entry.keys() for entry in trajectory)


def _end(draft: Draft, info: Any) -> None:
    """How the run ended, by its exit status; a trajectory without one tells nothing of it."""
    status = info.get("exit_status") if isinstance(info, dict) else None
    if not isinstance(status, str) or not status:
        return
    if status.startswith("submitted"):
        draft.outcome = "completed"
    else:
        draft.outcome = "timeout" if "timeout" in status else "raised"
        draft.error = status


class _Reading:
    """Takes the entries of one run."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._turns = Turns(draft)
        self._open: list[ToolStep] = []

    def history(self, entries: list[Json], trajectory: list[Json]) -> None:
        """Take messages; demonstrations are said, and no steps of this run."""
        for number, entry in enumerate(entries):
            role, content = str(entry.get("role") or "user"), entry.get("content")
            if entry.get("is_demo"):
                self._turns.said(role, content)
                self._draft.left["message of a demonstration (kept in the requests)"] += 1
            elif role == "assistant":
                self._open = self._answer({**entry, "index": number})
            elif role == "tool" or (self._open and entry.get("message_type") == "observation"):
                self._result({**entry, "index": number}, role, content)
            else:
                self._turns.said(role, content)
                self._draft.left.update(f"message {key}" for key in said(entry, *_MESSAGE))
        if trajectory:
            self._draft.left["entry of the trajectory (the history says the same)"] += \
                len(trajectory)

    def trajectory(self, entries: list[Json]) -> None:
        """Take actions and observations, each with what the model was asked, if that is there."""
        for number, entry in enumerate(entries):
            query = tables(entry.get("query")) or tables(entry.get("messages"))
            text = entry.get("response") or entry.get("thought") or ""
            by = self._turns.answered(
                {"role": "assistant", "content": text},
                kept={"index": number, **said(entry, "action", "observation", "response", "query",
                                              "messages")})
            if query:
                by.body["messages"], by.inferred = query, False
            step = self._called(entry.get("action"), by)
            if step is not None:
                self._turns.gave(step, entry.get("observation") or "", role="user")

    def _answer(self, entry: Json) -> list[ToolStep]:
        calls = tables(entry.get("tool_calls"))
        message = {"role": "assistant", "content": entry.get("content"),
                   **({"tool_calls": calls} if calls else {})}
        by = self._turns.answered(message, agent=str(entry.get("agent") or ""),
                                  kept=said(entry, *_MESSAGE))
        if not calls:
            step = self._called(entry.get("action"), by)
            return [step] if step is not None else []
        return [self._turns.called(call["name"], call["arguments"], id=call["id"], by=by,
                                   agent=by.agent) for call in by.asks()]

    def _called(self, action: Any, by: ModelStep) -> ToolStep | None:
        """The command that an answer holds as text: its first word is the tool."""
        words = action.split() if isinstance(action, str) else []
        if not words:
            return None
        return self._turns.called(words[0], {"command": action}, by=by, agent=by.agent)

    def _result(self, entry: Json, role: str, content: Any) -> None:
        ids = entry.get("tool_call_ids") or [entry.get("tool_call_id")]
        wanted = str(ids[0] or "") if isinstance(ids, list) and ids else ""
        step = next((one for one in self._open if one.id == wanted),
                    self._open[0] if self._open and not wanted else None)
        if step is None:
            self._turns.said(role, content)
            self._draft.left["tool result without its call (kept in the messages only)"] += 1
            return
        self._open.remove(step)
        text = "\n".join(parts.text_of(part.get("text", "")) for part in tables(content)) \
            if isinstance(content, list) else content
        self._turns.gave(step, text, content=content, role=role)
        step.kept |= said(entry, *_MESSAGE)


SWE_AGENT = Format("swe-agent", "a history with message_type, or a trajectory with action and "
                   "observation", _read)
