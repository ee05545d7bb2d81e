"""Runopsy's trace events (its schema 0.2), alone or as the cases of its benchmark.

They hold digests in place of texts: what was asked and answered is not in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import several
from agentrunproof.importers.draft import Draft, EventStep, ModelStep, Step, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, twice
from agentrunproof.importers.spans import nanoseconds
from agentrunproof.record import parents

Json = dict[str, Any]

#: fields of an event that are understood, besides that of its kind
_TAKEN = ("schema_version", "run_id", "agent_id", "timestamp", "kind", "state_delta")
_OUTCOMES = {"success": "completed", "failure": "failed", "unknown": ""}
_OK = ("ok", "success", None)


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, tuple[list[Json], Json]] = {}
    for document in source.documents:
        values = document.value if isinstance(document.value, list) else [document.value]
        for value in values:
            _enter(runs, value, document.place)
    if not runs:
        raise NotThisFormat("no events in it")
    run, (events, fields) = several.choose(source, runs)
    draft = Draft(run, run=run, outcome="", fields=fields)
    again = twice(str(event.get("event_id") or "") for event in events)
    if again is not None:
        raise RecordError("IMPORT_DUPLICATE", f"{source.name}: event {again:.60} stands twice",
                          "export the trace again, once")
    ordered = sorted(events, key=lambda event: event["sequence"])
    if ordered != events:
        draft.notes.append("events do not stand in the order of sequence: sorted")
    again = twice(event["sequence"] for event in events)
    if again is not None:
        draft.notes.append(f"sequence {again} stands twice: such events are taken as they stand")
    _Reading(draft, source.name).take(ordered)
    return draft


def _enter(runs: dict[str, tuple[list[Json], Json]], value: Any, place: str) -> None:
    """Enter an event, or all those of a case, under the id of their run."""
    if isinstance(value, dict) and isinstance(value.get("events"), list):
        fields = {key: one for key, one in value.items() if key not in ("events", "name")}
        events = value["events"]
        if not events:
            raise NotThisFormat("events is empty")
        run = str(value.get("name") or _event(events[0], place)["run_id"])
        if run in runs:
            raise RecordError("IMPORT_DUPLICATE", f"{place}: run {run:.60} stands twice",
                              "export the trace again, once")
        runs[run] = [_event(event, place) for event in events], fields
        return
    event = _event(value, place)
    runs.setdefault(str(event["run_id"]), ([], {}))[0].append(event)


def _event(value: Any, place: str) -> Json:
    if not isinstance(value, dict) or not {"run_id", "sequence", "kind"} <= value.keys():
        raise NotThisFormat(f"no event with run_id, sequence and kind, but {found(value)}")
    if type(value["sequence"]) is not int:
        raise RecordError("IMPORT_SHAPE", f"{place}: sequence: expected a whole number, found "
                          f"{found(value['sequence'])}", "export the trace again")
    return value


class _Reading:
    """Takes the events of one run, in their order."""

    def __init__(self, draft: Draft, place: str) -> None:
        self._draft = draft
        self._place = place
        self._read: dict[str, Callable[[Json, Json], Step | None]] = {
            "run_start": self._start, "run_end": self._end, "tool_call": self._tool,
            "llm_call": self._model, "memory_op": self._memory, "handoff": self._handoff,
            "claim": self._claim}

    def take(self, events: list[Json]) -> None:
        tools: dict[str, ToolStep] = {}
        above = {str(event.get("event_id")): str(event["parent_id"]) for event in events
                 if event.get("parent_id")}
        self._draft.notes += parents.note(above)
        for event in events:
            kind = str(event["kind"])
            part = _PARTS.get(kind, kind)
            about = event.get(part)
            if kind not in self._read or not isinstance(about, dict):
                self._draft.left[f"event {kind:.40}"] += 1
                continue
            rest = dict(about)
            step = self._read[kind](event, rest)
            if step is None:
                continue
            step.agent = step.agent or str(event.get("agent_id") or "")
            step.start = nanoseconds(event.get("timestamp"), self._place)
            took = rest.pop("duration_ms", rest.pop("latency_ms", None))
            step.end = step.start if step.start is None or not isinstance(took, int | float) \
                else step.start + int(took * 1e6)
            if tools:
                step.inside = tools.get(str(event.get("parent_id")))
            for key, one in event.items():
                if key not in _TAKEN and key != part:
                    rest.setdefault(key, one)
            step.kept = _said(rest)
            if isinstance(step, ToolStep):
                tools[str(event.get("event_id"))] = step
            self._draft.steps.append(step)

    def _start(self, event: Json, rest: Json) -> None:
        self._draft.task = str(rest.pop("task", None) or "")
        self._draft.fields |= _said({**rest, "agent": event.get("agent_id")})

    def _end(self, event: Json, rest: Json) -> None:
        outcome = str(rest.pop("outcome", "unknown"))
        self._draft.outcome = _OUTCOMES.get(outcome, outcome)
        self._draft.error = outcome if self._draft.outcome == "failed" else ""
        self._draft.fields |= {f"end.{key}": one for key, one in _said(rest).items()}

    def _tool(self, event: Json, rest: Json) -> ToolStep:
        status, code = rest.pop("status", None), rest.pop("exit_code", None)
        step = ToolStep(tool=str(rest.pop("name", None) or "tool"), done=True)
        why, reason = rest.pop("error_type", None), rest.pop("blocked_reason", None)
        if status not in _OK or code:
            step.error = {"type": str(status if status not in ("error", *_OK) else why or "error"),
                          "message": str(reason or (f"exited with {code}" if code else why or ""))}
        delta = event.get("state_delta")
        if delta and isinstance(delta, dict):
            step.more["changes"] = {
                str(key): one.get("after") if isinstance(one, dict) else one
                for key, one in delta.items()}
        facts = _said({"input_digest": rest.pop("arguments_hash", None),
                       "output_digest": rest.pop("output_hash", None),
                       "retry_of": rest.pop("retry_of", None)})
        if facts:
            step.more["facts"] = facts
        return step

    def _model(self, event: Json, rest: Json) -> ModelStep:
        status = rest.pop("status", None)
        model = str(rest.pop("model", None) or "")
        step = ModelStep(body={"model": model} if model else {})
        if status not in _OK:
            step.error = {"type": str(status), "message": ""}
        else:
            step.reply = {"choices": [{"index": 0, "finish_reason": rest.pop("finish_reason", None),
                                       "message": {"role": "assistant", "content": None}}]}
        return step

    def _memory(self, event: Json, rest: Json) -> EventStep:
        written = rest.pop("operation", "read") != "read"
        return EventStep(kind="memory_written" if written else "memory_read", more=_said({
            "key": str(rest.pop("key", None) or ""), "age": rest.pop("age_seconds", None),
            "digest": rest.pop("value_hash", None)}) or {"key": ""})

    def _handoff(self, event: Json, rest: Json) -> EventStep:
        by = str(rest.pop("from_agent_id", None) or event.get("agent_id") or "")
        return EventStep(kind="handoff", agent=by, more=_said({
            "from": by, "to": str(rest.pop("to_agent_id", None) or ""),
            "missing": rest.pop("missing_fields", None)}))

    def _claim(self, event: Json, rest: Json) -> EventStep:
        return EventStep(kind="claim", more={
            "text": "", **_said({"support": rest.pop("support_status", None)})})


#: kind of an event -> its field that says more, where that is not called the same
_PARTS = {"run_start": "run", "run_end": "run", "tool_call": "tool", "llm_call": "llm",
          "memory_op": "memory"}


def _said(table: Json) -> Json:
    """A table without what says nothing."""
    return {key: one for key, one in table.items() if one not in (None, "", {}, [])}


RUNOPSY = Format("runopsy", "events with run_id, sequence and kind, alone or in `events`", _read)
