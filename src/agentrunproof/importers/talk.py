"""A talk of several: each agent's message is its answer to what was said before.

The others are users with their names to it, itself the assistant. Executors give results. What
people say stands in events of its own, so that each message is one step, and only one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentrunproof.importers import parts
from agentrunproof.importers.draft import Draft, EventStep, ModelStep, ToolStep
from agentrunproof.record import speakers

Json = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One message.

    Args:
        author: who wrote it: a name, a role such as ``user`` and ``tool``, or a name that says to
            whom (see `record.speakers`).
        text: what it says.
        calls: the tools that it calls: of each the id (empty: it has none), the name and the
            arguments.
        answers: the id of the call that it is the result of, if that is told.
        kept: what the trace says besides, with the ``index`` that labels count by.
    """

    author: str
    text: str
    calls: tuple[tuple[str, str, Any], ...] = ()
    answers: str = ""
    kept: Json = field(default_factory=dict)


def take(draft: Draft, entries: Sequence[Entry], prompts: Json | None = None) -> None:
    """Make the messages of a talk the steps of a draft.

    In a talk in which no person says anything, the first message is the task.

    Args:
        draft: where the steps go.
        entries: the messages.
        prompts: the system prompts of agents, by their names.
    """
    _Reading(draft, entries, prompts or {}).take()


class _Reading:
    """Takes the messages of one talk."""

    def __init__(self, draft: Draft, entries: Sequence[Entry], prompts: Json) -> None:
        self._draft = draft
        self._entries = [(entry, speakers.read(entry.author)) for entry in entries]
        self._last: ModelStep | None = None  # None: a person spoke last
        self._open: list[tuple[ModelStep, Json]] = []
        self._views: dict[str, list[Json]] = {}  # what each agent has seen, as its own requests
        for _, speaker in self._entries:
            if speaker.kind == "agent" and speaker.name not in self._views:
                prompt = prompts.get(speaker.name)
                self._views[speaker.name] = [{"role": "system", "content": prompt}] if prompt \
                    else []

    def take(self) -> None:
        asked = any(speaker.kind == "person" for _, speaker in self._entries)
        for number, (entry, speaker) in enumerate(self._entries):
            if speaker.kind == "person" or not (number or asked):
                self._said(entry, speaker)
            elif speaker.kind == "executor":
                self._result(entry, speaker.name)
            else:
                self._answer(entry, speaker)

    def _tell(self, message: Json, besides: str = "") -> None:
        for name, view in self._views.items():
            if name != besides:
                view.append(message)

    def _said(self, entry: Entry, speaker: speakers.Speaker) -> None:
        role = "system" if speaker.name.lower() in ("system", "developer") else "user"
        by = {"name": speaker.name} if speaker.kind == "agent" else {}
        self._tell({"role": role, **by, "content": entry.text})
        self._draft.steps.append(EventStep(kind="said", agent=entry.author, kept=entry.kept,
                                           more={"text": entry.text}))
        self._last = None

    def _answer(self, entry: Entry, speaker: speakers.Speaker) -> None:
        number = entry.kept.get("index", len(self._draft.steps))
        made = [parts.tool_call(id or f"call_{number}_{place}", name, arguments)
                for place, (id, name, arguments) in enumerate(entry.calls)]
        message: Json = {"role": "assistant", "content": entry.text,
                         **({"tool_calls": made} if made else {})}
        view = self._views[speaker.name]
        aside = {"aside": speaker.aside} if speaker.aside else {}
        step = ModelStep(
            agent=speaker.name, body={"messages": list(view)}, inferred=True,
            reply={"choices": [{"index": 0, "message": message}]}, kept={**entry.kept, **aside},
            more={"to": speaker.to} if speaker.to else {})
        self._last, self._open = step, [(step, call) for call in step.asks()]
        self._draft.steps.append(step)
        view.append(message)
        self._tell({"role": "user", "name": speaker.name, "content": entry.text}, speaker.name)
        if speaker.to:
            self._draft.steps.append(EventStep(kind="handoff", agent=speaker.name, more={
                "from": speaker.name, "to": speaker.to}))

    def _result(self, entry: Entry, name: str) -> None:
        """What an executor says: the result of a call that is open, or of what was said last."""
        place = next((at for at, (_, call) in enumerate(self._open)
                      if call["id"] == entry.answers), 0)
        by, call = self._open.pop(place) if self._open else (self._last, None)
        self._draft.steps.append(ToolStep(
            tool=call["name"] if call else name, arguments=call["arguments"] if call else None,
            id=call["id"] if call else "", asked_by=by, output=entry.text, done=True,
            kept=entry.kept))
        self._tell({"role": "tool", "tool_call_id": call["id"], "content": entry.text} if call
                   else {"role": "user", "name": name, "content": entry.text})
