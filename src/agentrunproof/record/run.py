"""The recorded run: a file of JSON lines, one event a line, and how it is read.

Three kinds of lines::

    {"item": 4, "value": {"role": "user", "content": "Hi"}}      content: each value once
    {"list": 2, "items": [5, 6], "after": 1, "keep": 4}          a list: 4 of list 1, then 2 more
    {"seq": 7, "kind": "model_called", "call": "m3", ...}        an event

Kinds are those of `record.events`; events of a run have these fields besides ``agent`` (who),
``parent`` (the ``call`` of the tool inside of which it happened) and ``clock`` (times in seconds,
which are no part of what happened):

===================  ==========================================================================
``run_started``      ``schema``, ``name``; of an imported run ``imported_from``, ``fields``,
                     ``input`` (the task), ``ends`` if the format says how runs end
``model_called``     ``call``, ``dialect``, ``body`` with null in place of what ``lists`` and
                     ``items`` hold by its keys; ``endpoint`` (the URL without user, password and
                     query) where that is known
``model_responded``  ``call``, ``decision``, ``reply`` (literal), ``partial`` if it broke off
``model_failed``     ``call``, ``error`` (``type``, ``message``)
``tool_started``     ``call``, ``tool``, ``arguments``; where the model asked for it, ``asked_by``
                     (the model's ``call``) and ``tool_call_id`` (the id that the model gave);
                     ``changes`` (name -> value since) and ``facts`` where a trace tells them
``tool_finished``    ``call``, ``output``
``tool_failed``      ``call``, ``error``
``run_finished``     ``outcome`` (of imported runs also ``failed``); ``error`` if it raised,
                     ``incomplete`` if something could not be recorded
===================  ==========================================================================

The reader checks every line and keeps the bytes; content is parsed again when it is asked for, so
a large file costs little memory. Written by `record.run_writer`, read by `record.run_reader`.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from agentrunproof.errors import RecordError
from agentrunproof.record.dialects import Decision
from agentrunproof.shape import nearest

Event = dict[str, Any]

#: Lines of more bytes than these are not parsed at once, since that takes copies of them all.
_AT_ONCE = 2**20


@dataclass(frozen=True)
class Call:
    """A request to a model.

    Args:
        id: its name within the run, such as ``m3``.
        number: its place among the requests, from 1.
        agent: who made it.
        parent: the tool call inside of which it was made, or empty.
        dialect: the API it speaks, one of `record.dialects.NAMES`.
        model: the model asked for.
        state: ``answered``, ``failed``, or ``open`` where the run broke off.
        endpoint: the URL that was asked, if it is known.
    """

    id: str
    number: int
    agent: str
    parent: str
    dialect: str
    model: str
    state: str
    endpoint: str = ""


@dataclass(frozen=True)
class Request:
    """A request whose content is told by numbers; `Run.content` has the values.

    Args:
        body: the literal body with null in place of that content.
        items: key of the body -> number of its value.
        lists: key of the body -> numbers of the values that it lists.
    """

    body: dict[str, Any]
    items: dict[str, int]
    lists: dict[str, list[int]]


@dataclass
class Index:
    """Where in a run file what stands: lines by number (from 0), content and calls by their ids."""

    starts: array[int] = field(default_factory=lambda: array("Q"))
    events: array[int] = field(default_factory=lambda: array("L"))
    items: dict[int, int] = field(default_factory=dict)
    #: number -> (the list it begins with, how many elements of that, the items that follow)
    lists: dict[int, tuple[int | None, int | None, list[int]]] = field(default_factory=dict)
    #: call -> its agent, parent, dialect, model and endpoint
    calls: dict[str, tuple[str, str, str, str, str]] = field(default_factory=dict)
    called: dict[str, int] = field(default_factory=dict)
    ended: dict[str, int] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)


class Run:
    """A recorded run.

    Args:
        file: its file's name, for messages.
        data: the file's content, every line of which `index` knows.
        index: where what stands.
        notes: what a user must be told, such as lines that were left out.
    """

    def __init__(self, file: str, data: bytes, index: Index, notes: tuple[str, ...] = ()) -> None:
        self.file = file
        self.notes = notes
        self._data = data
        self._index = index
        self._first = self._line(index.events[0]) if index.events else {}
        last = self._line(index.events[-1]) if index.events else {}
        self._last = last if last.get("kind") == "run_finished" else {}

    @property
    def name(self) -> str:
        """What the run was called when it was recorded."""
        return str(self._first.get("name", ""))

    @property
    def started(self) -> float | None:
        """When it started, in seconds since 1970, if that was recorded."""
        at = self._first.get("clock", {}).get("at")
        return at if isinstance(at, int | float) else None

    @property
    def state(self) -> str:
        """``completed`` (or how else it ended), ``incomplete`` if something could not be recorded,
        ``open`` if no end was."""
        if not self._last:
            return "open"
        return "incomplete" if self._last.get("incomplete") else str(self._last["outcome"])

    def events(self) -> Iterator[Event]:
        """All events in their order, as they stand in the file."""
        return self._parsed(self._index.events)

    def calls(self) -> tuple[Call, ...]:
        """The requests to models in their order."""
        return tuple(self._calls.values())

    @cached_property
    def _calls(self) -> dict[str, Call]:
        ended, failed = self._index.ended, self._index.failed
        return {id: Call(id, number, agent, parent, dialect, model, "failed" if id in failed else
                         "answered" if id in ended else "open", endpoint)
                for number, (id, (agent, parent, dialect, model, endpoint))
                in enumerate(self._index.calls.items(), 1)}

    def call(self, name: str | int) -> Call:
        """A request by its id, its number, or ``last``.

        Raises:
            RecordError: ``RUN_CALL``: there is none, or no such one.
        """
        if not self._index.calls:
            raise RecordError("RUN_CALL", f"{self.file}: no model was called in this run")
        calls = self.calls()
        word = str(name)
        if word in self._calls:
            return self._calls[word]
        if word == "last":
            return calls[-1]
        if word.isdecimal() and 1 <= int(word) <= len(calls):
            return calls[int(word) - 1]
        raise RecordError("RUN_CALL", f"{self.file}: there is no model call {word[:60]!r}",
                          nearest(word, self._index.calls) or
                          f"calls: {calls[0].id} to {calls[-1].id}, or 1 to {len(calls)}")

    def body(self, call: Call) -> dict[str, Any]:
        """The literal request body.

        Raises:
            RecordError: ``RUN_LOST``: it stood in lines that were left out.
        """
        kept = self.request(call)
        body = dict(kept.body)
        for key, item in kept.items.items():
            body[key] = self.content(item, call)
        for key, listed in kept.lists.items():
            body[key] = self._contents(listed, call)
        return body

    def request(self, call: Call) -> Request:
        """The request as it is kept: what repeats in many of them is told by numbers.

        Raises:
            RecordError: ``RUN_LOST``: part of it stood in lines that were left out.
        """
        number = self._index.called[call.id]
        event = self._line(number)
        return Request(event["body"], event.get("items", {}), {
            key: self._list(listed, number) for key, listed in event.get("lists", {}).items()})

    def content(self, item: int, call: Call) -> Any:
        """The value with that number, which a request holds.

        Raises:
            RecordError: ``RUN_LOST``: it stood in a line that was left out.
        """
        return self._contents([item], call)[0]

    def _contents(self, items: list[int], call: Call) -> list[Any]:
        """The values with these numbers."""
        known = self._index.items
        for item in items:
            if item not in known:
                self._lost(self._index.called[call.id], f"item {item}")
        return [line["value"] for line in self._parsed([known[item] for item in items])]

    def _parsed(self, numbers: Iterable[int]) -> Iterator[Any]:
        """Lines parsed again, many at once: that takes a third of the time."""
        lines: list[bytes] = []
        size = 0
        for number in numbers:
            lines.append(self._text(number))
            size += len(lines[-1])
            if size > _AT_ONCE:
                yield from json.loads(b"[%b]" % b",".join(lines))
                lines, size = [], 0
        yield from json.loads(b"[%b]" % b",".join(lines))

    def reply(self, call: Call) -> Any:
        """The literal reply, or None if there was none."""
        return self._end(call).get("reply")

    def decision(self, call: Call) -> Decision | None:
        """What the model decided, or None if it didn't answer."""
        return self._end(call).get("decision")

    def error(self, call: Call) -> dict[str, str] | None:
        """Why a request failed: ``type`` and ``message``."""
        error = self._end(call).get("error")
        return None if error is None else {key: str(error.get(key, ""))
                                           for key in ("type", "message")}

    def _end(self, call: Call) -> Event:
        return self._line(self._index.ended[call.id]) if call.id in self._index.ended else {}

    def _line(self, number: int) -> Any:
        """A line parsed again; `number` counts from 0."""
        return json.loads(self._text(number).decode("utf-8"))

    def _text(self, number: int) -> bytes:
        starts = self._index.starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self._data)
        return self._data[starts[number]:end]

    def _list(self, listed: int | None, line: int) -> list[int]:
        growths: list[tuple[int | None, int | None, list[int]]] = []
        while listed is not None:
            if listed not in self._index.lists or len(growths) > len(self._index.lists):
                self._lost(line, f"list {listed}")  # or one that begins with itself
            growths.append(self._index.lists[listed])
            listed = growths[-1][0]
        items: list[int] = []
        for _, keep, new in reversed(growths):
            if keep is not None:
                del items[keep:]
            items += new
        return items

    def _lost(self, line: int, what: str) -> NoReturn:
        raise RecordError("RUN_LOST", f"{self.file}:{line + 1}: {what} of this request is missing",
                          "it stood in a line that was left out")
