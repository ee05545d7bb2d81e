"""Writing a run: events and content as lines of a run file (read back by `record.run`).

For recorders and importers alike::

    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    writer.start("inbox")
    writer.model_called("m1", "openai.chat", {"model": "x", "messages": [...]})
    writer.model_responded("m1", reply)
    writer.finish("completed")
    store.write(path, b"".join(lines))

Not safe for threads by itself: who writes from several holds a lock (as `recorders` does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentrunproof.record import dialects
from agentrunproof.record.interning import Interner
from agentrunproof.record.jsonable import dump, plain

SCHEMA = "agentrunproof/run/1"

#: Fields that hold an event together with others; they are written as they are.
_LINKS = ("schema", "call", "parent", "asked_by", "dialect")
#: Fields of which None is a value: a tool or a model may give just that.
_VALUES = ("output", "reply")
#: Fields of which an empty text says that there is none.
_NAMES = ("agent", "parent", "asked_by", "tool_call_id", "endpoint")

Clock = Mapping[str, float]


def _unchanged(value: Any) -> Any:
    return value


class RunWriter:
    """Writes one run.

    Args:
        emit: takes the bytes of one event, with the content it is the first to use: whole lines.
        change: what is done to each value before it is written, such as taking secrets out.
        parsed: what events say was read from JSON, so that nothing of it has to be made so.
    """

    def __init__(self, emit: Callable[[bytes], None], change: Callable[[Any], Any] = _unchanged,
                 *, parsed: bool = False) -> None:
        #: What could not be written, by type; texts stand in its place.
        self.lost: list[str] = []
        self._emit = emit
        self._change = change
        self._parsed = parsed
        self._content: list[bytes] = []
        self._interner = Interner(self._new_content, change, self.lost.append)
        self._dialects: dict[str, str] = {}
        self._seq = 0

    def start(self, name: str, *, clock: Clock | None = None, **fields: Any) -> None:
        """The first event of a run: what it is called, and anything else worth knowing."""
        self.event("run_started", schema=SCHEMA, name=name, clock=clock, **fields)

    def finish(self, outcome: str, *, clock: Clock | None = None, **fields: Any) -> None:
        """The last event of a run; `outcome` is one of `record.events.RunOutcome`."""
        self.event("run_finished", outcome=outcome, clock=clock, **fields)

    def model_called(self, call: str, dialect: str, body: Mapping[str, Any] | bytes, *,
                     clock: Clock | None = None, **fields: Any) -> None:
        """A request to a model.

        Args:
            call: an id of its own within the run.
            dialect: one of `record.dialects.NAMES`.
            body: the literal request, as a table or as the JSON text that was sent.
            clock: times in seconds (``at`` since 1970, ``took``).
            fields: ``agent``, ``parent``, ``endpoint`` and the like.

        Raises:
            RecordError: there is no such dialect.
            ValueError: the text is no JSON table.
        """
        dialects.check(dialect)
        try:
            stored = self._interner.body(body)
        except BaseException:
            self._flush()  # what got a number must stand in the file
            raise
        self._dialects[call] = dialect
        self._line("model_called", clock, {"call": call, "dialect": dialect,
                                           **self._plain(fields), **stored})

    def model_responded(self, call: str, reply: Any, *, clock: Clock | None = None,
                        **fields: Any) -> dialects.Decision:
        """The literal reply to a request.

        Args:
            call: the id of the request.
            reply: what the API, or a model of one's own, answered.
            clock: times in seconds.
            fields: ``agent``, ``parent``; ``partial`` for a stream that broke off.

        Returns:
            What the model decided.
        """
        reply = reply if self._parsed else plain(reply, self.lost.append)
        decision = dialects.decision(self._dialects.pop(call), reply)
        self._line("model_responded", clock, {"call": call, "decision": decision, "reply": reply,
                                              **self._plain(fields)})
        return decision

    def event(self, kind: str, *, clock: Clock | None = None, **fields: Any) -> None:
        """Any event of the vocabulary (`record.events`).

        Fields that are None are left out, save ``output``; and names of who and what that are
        empty.
        """
        self._line(kind, clock, self._plain(fields))

    def _plain(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        told = said(fields)
        return told if self._parsed else {
            name: plain(value, self.lost.append) for name, value in told.items()}

    def _line(self, kind: str, clock: Clock | None, fields: Mapping[str, Any]) -> None:
        """Write an event of plain fields."""
        line: dict[str, Any] = {"seq": self._seq, "kind": kind}
        if self._change is _unchanged:
            line |= fields
        else:
            line |= {name: self._altered(name, value) for name, value in fields.items()}
        if clock:
            line["clock"] = dict(clock)
        self._seq += 1
        self._content.append(dump(line) + b"\n")
        self._flush()

    def _altered(self, name: str, value: Any) -> Any:
        if name in _LINKS:
            return value
        return self._changed(value) if name == "decision" else self._change(value)

    def _changed(self, decision: dialects.Decision) -> dialects.Decision:
        """A decision with its texts changed, and still of the form that readers go by."""
        return {"tool_calls": [{key: self._change(one) for key, one in call.items()}
                               for call in decision["tool_calls"]],
                "text": self._change(decision["text"])}

    def _new_content(self, line: bytes) -> None:
        self._content.append(line + b"\n")

    def _flush(self) -> None:
        content, self._content = self._content, []
        if content:
            self._emit(b"".join(content))


def said(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event without those that say nothing."""
    return {name: value for name, value in fields.items()
            if not (value is None and name not in _VALUES)
            and not (name in _NAMES and value == "")}
