"""Who&When and AgentRx: conversations of several agents, with labels of where they went wrong.

Each agent's message is taken for its answer to what was said before: of the others as users with
their names, of itself as its own. The labels are kept, and nothing is concluded from them but that
the run failed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts, several
from agentrunproof.importers.draft import Draft, EventStep, ModelStep, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found
from agentrunproof.importers.turns import said
from agentrunproof.record import speakers

Json = dict[str, Any]


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, tuple[Json, str, str]] = {}
    for document in source.documents:
        values = document.value if isinstance(document.value, list) else [document.value]
        for value in values:
            key = _key(value)
            id = str(value.get("id") or value.get("question_ID") or len(runs) + 1)
            if id in runs:
                raise RecordError("IMPORT_DUPLICATE", f"{document.place}: run {id:.60} stands "
                                  "twice", "export the trace again, once")
            runs[id] = value, key, document.place
    if not runs:
        raise NotThisFormat("an empty list")
    id, (value, key, place) = several.choose(source, runs)
    draft = Draft(source.name, run=id, fields=said(value, key, "system_prompt"),
                  outcome=_outcome(value), error="labelled as failed")
    if draft.outcome != "failed":
        draft.error = ""
    prompts = value.get("system_prompt")
    reading = _Reading(draft, prompts if isinstance(prompts, dict) else {})
    reading.take(value[key], f"{place}: {key}")
    return draft


def _key(value: Any) -> str:
    """Where a run has its messages."""
    if isinstance(value, dict):
        labels = {"mistake_step", "mistake_agent", "question_ID", "onset", "agent"} & value.keys()
        for key, author in (("history", ("name", "role")), ("steps", ("agent",))):
            listed = value.get(key)
            if labels and isinstance(listed, list) and listed and isinstance(listed[0], dict) \
                    and any(name in listed[0] for name in author) and "source" not in listed[0]:
                return key
    raise NotThisFormat("no history (content, role or name) or steps (agent, text) with a label, "
                        f"but {found(value)}")


def _outcome(value: Json) -> str | None:
    """What the labels say of how the run ended."""
    right = value.get("is_correct", value.get("is_corrected"))
    if right is True or ("onset" in value and value["onset"] is None):
        return "completed"
    labelled = value.get("mistake_step", value.get("onset"))
    return "failed" if labelled is not None or right is False else None


class _Reading:
    """Takes the messages of one conversation.

    Args:
        draft: where the steps go.
        prompts: the system prompts of agents, by their names.
    """

    def __init__(self, draft: Draft, prompts: Json) -> None:
        self._draft = draft
        self._prompts = prompts
        self._views: dict[str, list[Json]] = {}  # what each agent has seen, as its own requests
        self._last: ModelStep | None = None
        self._open: list[Json] = []

    def take(self, entries: list[Any], place: str) -> None:
        for number, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise RecordError("IMPORT_SHAPE", f"{place}[{number}]: expected a message, found "
                                  f"{found(entry)}", "each message is a table")
        who = [speakers.read(_author(entry)) for entry in entries]
        for name in [speaker.name for speaker in who if speaker.kind == "agent"]:
            prompt = self._prompts.get(name)
            self._views.setdefault(name, [{"role": "system", "content": prompt}] if prompt else [])
        peopled = any(speaker.kind == "person" for speaker in who)
        for number, (entry, speaker) in enumerate(zip(entries, who, strict=True)):
            text = parts.text_of(entry.get("content", entry.get("text")) or "")
            kept = {"index": number, **said(entry, "content", "text", "role", "name", "agent",
                                            "kind", "calls")}
            if speaker.kind == "person" or not (number or peopled):
                role = "system" if speaker.name.lower() in ("system", "developer") else "user"
                by = {"name": speaker.name} if speaker.kind == "agent" else {}
                self._tell({"role": role, **by, "content": text})
                if number + 1 < len(who) and who[number + 1].kind == "executor" and not number:
                    self._draft.task = text  # no request comes between that could say it
            elif speaker.kind == "executor":
                self._result(speaker.name, text, kept)
            else:
                self._answer(speaker, text, entry.get("calls"), kept)

    def _tell(self, message: Json, besides: str = "") -> None:
        for name, view in self._views.items():
            if name != besides:
                view.append(message)

    def _answer(self, speaker: speakers.Speaker, text: str, calls: Any, kept: Json) -> None:
        made = [parts.tool_call(f"call_{kept['index']}_{number}", call[0], call[1])
                for number, call in enumerate(_pairs(calls))]
        message: Json = {"role": "assistant", "content": text,
                         **({"tool_calls": made} if made else {})}
        view = self._views[speaker.name]
        aside = {"aside": speaker.aside} if speaker.aside else {}
        self._last = ModelStep(
            agent=speaker.name, body={"messages": list(view)}, inferred=True,
            reply={"choices": [{"index": 0, "message": message}]}, kept={**kept, **aside})
        self._open = self._last.asks()
        self._draft.steps.append(self._last)
        view.append(message)
        self._tell({"role": "user", "name": speaker.name, "content": text}, speaker.name)
        if speaker.to:
            self._draft.steps.append(EventStep(kind="handoff", agent=speaker.name, more={
                "from": speaker.name, "to": speaker.to}))

    def _result(self, name: str, text: str, kept: Json) -> None:
        """What an executor says: the result of a call that is open, or of the last answer."""
        call = self._open.pop(0) if self._open else None
        self._draft.steps.append(ToolStep(
            tool=call["name"] if call else name, arguments=call["arguments"] if call else None,
            id=call["id"] if call else "", asked_by=self._last, output=text, done=True, kept=kept))
        message = {"role": "tool", "tool_call_id": call["id"], "content": text} if call else {
            "role": "user", "name": name, "content": text}
        self._tell(message)


def _author(entry: Json) -> str:
    """Who wrote a message: what kind it is may say to whom as well."""
    agent, kind = str(entry.get("agent") or ""), str(entry.get("kind") or "")
    if agent:
        return kind if kind.startswith(f"{agent} (") else agent
    return str(entry.get("name") or entry.get("role") or "agent")


def _pairs(calls: Any) -> Iterable[list[Any]]:
    return [call for call in calls if isinstance(call, list) and len(call) == 2] \
        if isinstance(calls, list) else []


WHO_AND_WHEN = Format("who-and-when", "a history (content, role or name) or steps (agent, text) "
                      "with a label such as mistake_step", _read)
