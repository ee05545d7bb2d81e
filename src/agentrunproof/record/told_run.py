"""A run that is told and never written: for readers of a trace who need no file of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentrunproof.record import dialects
from agentrunproof.record.beginnings import Beginning
from agentrunproof.record.run import Call, Event
from agentrunproof.record.run_writer import SCHEMA, Clock, said


@dataclass
class _Told:
    call: Call
    body: Mapping[str, Any]


class ToldRun:
    """Takes what `record.run_writer.RunWriter` takes, of plain JSON, and gives back what
    `record.run.Run` would of the file; of an event that calls a model all but its body.

    Nothing is copied: events hold the very values that they were told.
    """

    def __init__(self) -> None:
        self.name = ""
        self._events: list[Event] = []
        self._calls: dict[str, _Told] = {}

    def events(self) -> Iterator[Event]:
        """All events in their order."""
        return iter(self._events)

    def calls(self) -> tuple[Call, ...]:
        """The requests to models in their order; all are told to be open."""
        return tuple(told.call for told in self._calls.values())

    def body(self, call: Call) -> Mapping[str, Any]:
        """The literal request body."""
        return {key: list(value) if isinstance(value, Beginning) else value
                for key, value in self._calls[call.id].body.items()}

    def start(self, name: str, *, clock: Clock | None = None, **fields: Any) -> None:
        """The first event of a run."""
        self.name = name
        self.event("run_started", schema=SCHEMA, name=name, **fields)

    def finish(self, outcome: str, *, clock: Clock | None = None, **fields: Any) -> None:
        """The last event of a run."""
        self.event("run_finished", outcome=outcome, **fields)

    def model_called(self, call: str, dialect: str, body: Mapping[str, Any], *,
                     clock: Clock | None = None, **fields: Any) -> None:
        """A request to a model.

        Raises:
            RecordError: there is no such dialect.
        """
        dialects.check(dialect)
        model = body.get("model")
        self._calls[call] = _Told(Call(
            call, len(self._calls) + 1, str(fields.get("agent") or ""),
            str(fields.get("parent") or ""), dialect, model if isinstance(model, str) else "",
            "open"), body)
        self.event("model_called", call=call, dialect=dialect, **fields)

    def model_responded(self, call: str, reply: Any, *, clock: Clock | None = None,
                        **fields: Any) -> None:
        """The literal reply to a request."""
        decision = dialects.decision(self._calls[call].call.dialect, reply)
        self.event("model_responded", call=call, decision=decision, reply=reply, **fields)

    def event(self, kind: str, *, clock: Clock | None = None, **fields: Any) -> None:
        """Any event of the vocabulary."""
        self._events.append({"seq": len(self._events), "kind": kind, **said(fields)})
