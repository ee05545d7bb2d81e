"""OpenHands V1: the events of its software-agent-sdk, a conversation's folder or its download.

https://docs.openhands.dev/sdk/arch/events. What a model answered is put together of the actions
that share its ``llm_response_id``; requests are what the events before say.
"""

from __future__ import annotations

from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts, several
from agentrunproof.importers.draft import Draft, ModelStep, SpanStep, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, twice
from agentrunproof.importers.spans import nanoseconds
from agentrunproof.importers.turns import Turns, said

Json = dict[str, Any]

_LISTS = ("events", "items", "results")  # of a download, of the API's pages
_EVENT = ("id", "timestamp", "source", "kind", "tool_name", "tool_call_id")
_ACTION = (*_EVENT, "thought", "reasoning_content", "action", "tool_call", "llm_response_id")
_STATES = {"finished": "completed", "error": "raised", "stuck": "raised", "paused": "cancelled",
           "deleting": "cancelled"}


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, tuple[list[Json], Json]] = {}
    for document in source.documents:
        _enter(runs, document.value)
    if not any(events for events, _ in runs.values()):
        raise NotThisFormat("no events in it")
    id, (events, state) = several.choose(source, runs)
    again = twice(str(event.get("id") or "") for event in events)
    if again is not None:
        raise RecordError("IMPORT_DUPLICATE", f"{source.name}: event {again!s:.60} stands twice",
                          "export the conversation again, once")
    draft = Draft(source.name, run=id, fields=state)
    _Reading(draft, source.name, state).take(events)
    return draft


def _enter(runs: dict[str, tuple[list[Json], Json]], value: Any) -> None:
    """Enter an event, a list of them, or what a conversation's ``base_state.json`` says."""
    if isinstance(value, dict) and "kind" not in value:
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        if key is not None:
            id = str(value.get("conversation_id") or value.get("id") or "")
            runs.setdefault(id, ([], {}))[1].update(said(value, key))
            runs[id][0].extend(_event(one) for one in value[key])
            return
        if {"agent", "execution_status"} <= value.keys():
            runs.setdefault("", ([], {}))[1].update(said(value))
            return
    for one in value if isinstance(value, list) else [value]:
        runs.setdefault("", ([], {}))[0].append(_event(one))


def _event(value: Any) -> Json:
    if not isinstance(value, dict) or not {"kind", "source", "timestamp"} <= value.keys():
        raise NotThisFormat(f"no event with kind, source and timestamp, but {found(value)}")
    return value


class _Reading:
    """Takes the events of one conversation."""

    def __init__(self, draft: Draft, place: str, state: Json) -> None:
        self._draft = draft
        self._place = place
        agent = state.get("agent")
        llm = agent.get("llm") if isinstance(agent, dict) else None
        model = llm.get("model") if isinstance(llm, dict) else None
        self._turns = Turns(draft, **({"model": model} if model else {}))
        self._answers: dict[str, ModelStep] = {}
        self._open: dict[str, ToolStep] = {}
        self._ends(state.get("execution_status"))

    def take(self, events: list[Json]) -> None:
        """Take the events; actions of one answer are looked up in all of them."""
        of_answer: dict[str, list[Json]] = {}
        for event in events:
            if event["kind"] == "ActionEvent":
                of_answer.setdefault(_answer_id(event), []).append(event)
        for event in events:
            at = nanoseconds(event.get("timestamp"),
                             f"{self._place}: event {event.get('id')!s:.40}")
            match event["kind"]:
                case "SystemPromptEvent":
                    self._turns.said("system", _text(event.get("system_prompt")))
                    self._draft.fields |= said(event, *_EVENT, "system_prompt")
                case "MessageEvent":
                    self._message(event, at)
                case "ActionEvent":
                    self._action(event, of_answer[_answer_id(event)], at)
                case "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent":
                    self._result(event, at)
                case _:
                    self._other(event, at)

    def _message(self, event: Json, at: int | None) -> None:
        message = event.get("llm_message")
        about: Json = message if isinstance(message, dict) else {}
        role, content = str(about.get("role") or "user"), _text(about.get("content"))
        added = _text(event.get("extended_content"))
        if role == "assistant":
            self._turns.answered({"role": role, "content": content}, at=at, agent="agent",
                                 kept=said(event, *_EVENT, "llm_message"))
            return
        self._turns.said(role, f"{content}\n{added}" if added else content)
        self._draft.left.update(f"message {key}" for key in said(
            event, *_EVENT, "llm_message", "extended_content"))

    def _action(self, event: Json, together: list[Json], at: int | None) -> None:
        id = _answer_id(event)
        if id not in self._answers:
            thought = "\n".join(filter(None, (_text(one.get("thought")) for one in together)))
            message: Json = {"role": "assistant", "content": thought, "tool_calls": [
                _tool_call(one) for one in together]}
            if event.get("reasoning_content"):
                message["reasoning_content"] = event["reasoning_content"]
            self._answers[id] = self._turns.answered(message, at=at, agent="agent")
        by, call = self._answers[id], _tool_call(event)
        action = event.get("action")
        about: Json = action if isinstance(action, dict) else {}
        arguments = next((one["arguments"] for one in by.asks() if one["id"] == call["id"]),
                         said(about, "kind"))
        step = self._turns.called(
            call["function"]["name"], arguments, id=call["id"], at=at, agent="agent", by=by,
            kept={**said(event, *_ACTION), **({"action": about["kind"]} if "kind" in about
                                              else {})})
        self._open[call["id"]] = step
        if about.get("kind") == "FinishAction":
            self._draft.outcome = "completed"

    def _result(self, event: Json, at: int | None) -> None:
        step = self._open.pop(str(event.get("tool_call_id") or ""), None)
        if step is None:
            self._draft.left[f"{event['kind']} without its call"] += 1
            self._other(event, at)
            return
        raw = event.get("observation")
        about: Json = raw if isinstance(raw, dict) else {}
        reason = event.get("rejection_reason", event.get("error"))
        text = _text(about.get("content") if reason is None else reason)
        code = about.get("exit_code")
        failed = type(code) is int and code not in (0, -1)
        self._turns.gave(step, {"content": text, "exit_code": code} if failed else text, at=at,
                         content=text)
        if event["kind"] == "UserRejectObservation":
            step.error = {"type": "blocked", "message": text}
        elif event["kind"] == "AgentErrorEvent" or about.get("is_error") is True \
                or about.get("timeout") is True:
            step.error = {"type": "timeout" if about.get("timeout") is True else "error",
                          "message": text}
        step.kept |= {**said(event, *_EVENT, "observation", "action_id", "rejection_reason",
                             "error"), **({"observation": said(about, "content")} if about else {})}

    def _other(self, event: Json, at: int | None) -> None:
        """What is neither said, called nor given: of some it is known what they tell."""
        kind, error = str(event["kind"]), ""
        if kind == "ConversationStateUpdateEvent":
            value = event.get("value")
            self._ends(value.get("execution_status") if isinstance(value, dict) else
                       value if event.get("key") == "execution_status" else None)
        elif kind == "ConversationErrorEvent":
            error = ": ".join(str(event[key]) for key in ("code", "detail") if event.get(key))
            self._draft.outcome, self._draft.error = "raised", error
        self._turns.add(SpanStep(type=kind, name=str(event.get("source") or ""), error=error,
                                 kept=said(event, "id", "timestamp", "kind", "source")), at)

    def _ends(self, status: Any) -> None:
        if isinstance(status, str) and status in _STATES:
            self._draft.outcome = _STATES[status]
            if self._draft.outcome == "raised":
                self._draft.error = self._draft.error or status


def _answer_id(event: Json) -> str:
    return str(event.get("llm_response_id") or event.get("id"))


def _tool_call(event: Json) -> Json:
    raw = event.get("tool_call")
    about: Json = parts.function_of(raw) if isinstance(raw, dict) else {}
    return parts.tool_call(event.get("tool_call_id") or about.get("id"),
                           event.get("tool_name") or about.get("name"), about.get("arguments"))


def _text(value: Any) -> str:
    """The text of a content part, or of several; what is no text stands there as its JSON."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    return str(value["text"]) if isinstance(value, dict) and "text" in value else \
        parts.text_of(value)


OPENHANDS_V1 = Format("openhands-v1", "events with kind, source and timestamp", _read)
