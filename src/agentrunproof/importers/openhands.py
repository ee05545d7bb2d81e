"""OpenHands: its events (actions and observations), alone, or as ``history`` of its evaluations.

Of the model's replies they hold the literal ones, but not the requests: these are what the events
before say.
"""

from __future__ import annotations

from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts, several
from agentrunproof.importers.draft import Draft, EventStep, ModelStep, SpanStep, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables, twice
from agentrunproof.importers.spans import nanoseconds
from agentrunproof.importers.turns import Turns, said

Json = dict[str, Any]

_EVENT = ("timestamp", "source", "action", "observation", "args", "content", "extras",
          "tool_call_metadata", "cause")
#: actions that are no tool's: what is said, and what the agent is told
_NO_CALLS = ("message", "system", "finish", "reject", "change_agent_state", "null", "recall",
             "condensation", "condensation_request", "delegate")
_STATES = {"finished": "completed", "error": "raised", "rejected": "cancelled",
           "stopped": "cancelled", "rate_limited": "raised"}


def _read(source: Source, named: bool) -> Draft:
    runs = _runs(source)
    id, (events, fields, place) = several.choose(source, runs)
    draft = Draft(source.name, run=id, fields=fields)
    ids = [event["id"] for event in events if type(event.get("id")) is int]
    again = twice(ids)
    if again is not None:
        raise RecordError("IMPORT_DUPLICATE", f"{place}: event {again} stands twice",
                          "export the trace again, once")
    if len(ids) == len(events) and ids != sorted(ids):
        draft.notes.append("events do not stand in the order of id: sorted")
        events = sorted(events, key=lambda event: int(event["id"]))
    reading = _Reading(draft, place)
    for event in events:
        reading.take(event)
    return draft


def _runs(source: Source) -> dict[str, tuple[list[Json], Json, str]]:
    """The events of each run with what the file says besides and where they stand."""
    runs: dict[str, tuple[list[Json], Json, str]] = {}
    loose: list[Json] = []
    for number, document in enumerate(source.documents, 1):
        value = document.value
        if isinstance(value, dict) and isinstance(value.get("history"), list):
            runs[str(value.get("instance_id") or number)] = (
                _events(value["history"]), said(value, "history"), document.place)
        else:
            loose += _events(value if isinstance(value, list) else [value])
    if loose:
        runs[""] = loose, {}, source.name
    if not runs:
        raise NotThisFormat("no events in it")
    return runs


def _events(values: list[Any]) -> list[Json]:
    events: list[Json] = []
    for value in values:
        if isinstance(value, list):  # older evaluations hold pairs of action and observation
            events += _events(value)
        elif isinstance(value, dict) and ("action" in value or "observation" in value) \
                and ("args" in value or "content" in value or "extras" in value):
            events.append(value)
        else:
            raise NotThisFormat("no event with action and args, or observation and content, but "
                                f"{found(value)}")
    if not events:
        raise NotThisFormat("no events in it")
    return events


class _Reading:
    """Takes events one by one."""

    def __init__(self, draft: Draft, place: str) -> None:
        self._draft = draft
        self._place = place
        self._turns = Turns(draft)
        self._answers: dict[str, ModelStep] = {}
        self._open: dict[Any, ToolStep] = {}

    def take(self, event: Json) -> None:
        at = nanoseconds(event.get("timestamp"), f"{self._place}: event {event.get('id')!s:.20}")
        if "observation" in event:
            self._observation(event, at)
            return
        action, args = str(event.get("action")), event.get("args")
        about: Json = args if isinstance(args, dict) else {}
        agent = str(event.get("source") or "")
        if action == "system" or (action == "message" and agent != "agent"):
            self._turns.said("system" if action == "system" else "user", about.get("content"))
            self._draft.left.update(f"{action} {key}" for key in said(about, "content", "tools"))
            if isinstance(about.get("tools"), list):
                self._turns.fields["tools"] = about["tools"]
            return
        by = self._answer(event, about, at) if agent == "agent" else None
        if action in ("finish", "reject"):
            self._draft.outcome = "completed" if action == "finish" else "cancelled"
        elif action == "delegate":
            self._turns.add(EventStep(kind="handoff", agent=agent, kept=said(event, *_EVENT), more={
                "from": agent, "to": str(about.get("agent") or "")}), at)
        elif action not in _NO_CALLS:
            self._call(event, action, about, by, at)
        elif action not in ("message",):
            self._other(action, event, at)

    def _answer(self, event: Json, args: Json, at: int | None) -> ModelStep | None:
        """The model's answer that an action is of; several actions may be of one."""
        metadata = event.get("tool_call_metadata")
        reply = metadata.get("model_response") if isinstance(metadata, dict) else None
        if not isinstance(reply, dict):
            text = args.get("content") or args.get("thought") or args.get("final_thought")
            if event.get("action") not in ("message", "finish", "reject") or not text:
                return None
            return self._turns.answered({"role": "assistant", "content": parts.text_of(text)},
                                        at=at, agent="agent", kept=said(event, *_EVENT))
        id = str(reply.get("id") or event.get("id"))
        if id not in self._answers:
            choices = tables(reply.get("choices"))
            message = choices[0].get("message") if choices else None
            self._answers[id] = self._turns.answered(
                message if isinstance(message, dict) else {"role": "assistant", "content": None},
                at=at, agent="agent", reply=reply, kept=said({"id": event.get("id")}),
                **({"model": reply["model"]} if isinstance(reply.get("model"), str) else {}))
        return self._answers[id]

    def _call(self, event: Json, action: str, args: Json, by: ModelStep | None, at: int | None,
              ) -> None:
        metadata = event.get("tool_call_metadata")
        about: Json = metadata if isinstance(metadata, dict) else {}
        id = str(about.get("tool_call_id") or "")
        asked = next((call for call in (by.asks() if by else ()) if id and call["id"] == id), None)
        step = self._turns.called(
            str(about.get("function_name") or action),
            asked["arguments"] if asked else said(args, "thought"), id=id, at=at,
            agent=str(event.get("source") or ""), by=by if asked else None,
            kept={**said(event, *_EVENT), "action": action, **said(
                about, "model_response", "function_name", "tool_call_id"),
                **({"args": args} if asked and args else {})})
        self._open[event.get("id")] = step

    def _observation(self, event: Json, at: int | None) -> None:
        kind, content = str(event["observation"]), event.get("content")
        extras = event.get("extras")
        about: Json = extras if isinstance(extras, dict) else {}
        step = self._open.pop(event.get("cause"), None)
        if kind == "agent_state_changed":
            state = str(about.get("agent_state") or "")
            self._draft.outcome = _STATES.get(state, self._draft.outcome)
            self._draft.error = str(about.get("reason") or state) if state == "error" else ""
        if step is None:
            self._other(kind, event, at)
            return
        inner = about.get("metadata")
        code = about.get("exit_code", inner.get("exit_code") if isinstance(inner, dict) else None)
        failed = type(code) is int and code not in (0, -1)
        output = {"content": content, "exit_code": code} if failed else content
        self._turns.gave(step, output, at=at, content=content, role="tool" if step.id else "user")
        if kind in ("error", "user_rejected") or about.get("error") is True:
            step.error = {"type": "blocked" if kind == "user_rejected" else "error",
                          "message": parts.text_of(content)}
        step.kept["observation"] = {"kind": kind, **said(event, *_EVENT, "success"), **said(about)}

    def _other(self, kind: str, event: Json, at: int | None) -> None:
        """An event that is neither a call nor its result."""
        text = event.get("content")
        self._turns.add(SpanStep(
            type=kind, name=str(event.get("source") or ""), kept=said(event, "id", "timestamp"),
            error=parts.text_of(text) if kind == "error" else ""), at)


OPENHANDS = Format("openhands", "events with action and args, or observation and content", _read)
