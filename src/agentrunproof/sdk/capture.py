"""The recorder: events as they happen, put into the order a record may hold.

Concurrent tool calls happen in whatever order the scheduler chooses; a record lists the events
of each call together, in the order in which the model made the calls. Every event therefore
carries a *lane*, the path of tool call ids inside which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agentrunproof.record.events import Event, make
from agentrunproof.sdk import normal

Lane = tuple[str, ...]

#: Call ids of the agent tools that enclose what runs now.
_PATH: ContextVar[Lane] = ContextVar("agentrunproof_path", default=())


@contextmanager
def inside(call: str) -> Iterator[None]:
    """What runs within belongs to the agent tool call `call`."""
    token = _PATH.set((*_PATH.get(), call))
    try:
        yield
    finally:
        _PATH.reset(token)


class Recorder:
    """Collects the events of one phase run."""

    def __init__(self) -> None:
        self._events: list[tuple[Lane, Event]] = []
        self._streamed: list[Event] = []
        self._spans: list[Event] = []
        self._rank: dict[str, int] = {}
        self._context: tuple[Any, Any] = None, None
        self._at_work: dict[Lane, int] = {}
        self.phase = ""

    def start(self, phase: str) -> None:
        """Forget what stands and begin the phase of that id."""
        self.__init__()  # type: ignore[misc]
        self.phase = phase

    def add(self, kind: str, **fields: Any) -> None:
        """Record an event with the fields of its kind."""
        path = _PATH.get()
        lane = path
        if kind in _OF_A_CALL and fields.get("call"):
            lane = (*path, fields["call"])
        if kind in _NESTED:
            fields["parent"] = "/".join(path)
        self._events.append((lane, make(kind, **fields)))

    def watch_context(self, declared: Any, given: Any) -> None:
        """Look from now on at the context that the plan's parts are given.

        Args:
            declared: what it must hold; None where the plan declares no context.
            given: the object itself, None where the first one that is seen stands for it.
        """
        self._context = declared, given

    def context_given(self, to: str, name: str, context: Any, call: str = "") -> None:
        """Record that a part of the plan was given this object as the run's context."""
        declared, given = self._context
        if declared is None:
            return
        if given is None:
            self._context = declared, context
            given = context
        self.add("context_given", to=to, name=name, call=call,
                 replaced=context is not given, changed=context != declared)

    @contextmanager
    def at_work(self) -> Iterator[int]:
        """A tool of the run that is under way here is at work; gives how many others are."""
        path = _PATH.get()
        beside = self._at_work.get(path, 0)
        self._at_work[path] = beside + 1
        try:
            yield beside
        finally:
            self._at_work[path] -= 1

    def add_response(self, agent: str, output: list[Any], usage: dict[str, int],
                     response_id: str) -> None:
        """Record a model's answer and note the order of the calls it makes."""
        for item in output:
            if item.get("call_id"):
                self._rank.setdefault(item["call_id"], len(self._rank))
        self.add("model_responded", agent=agent, output=tuple(output), usage=usage,
                 response_id=response_id)

    def add_streamed(self, event: Any) -> None:
        """Record what the consumer of a stream was given; like deltas in a row become one."""
        type_ = event.type
        if type_ == "agent_updated_stream_event":
            self._streamed.append(make("stream_event", type="agent", name=event.new_agent.name))
        elif type_ == "run_item_stream_event":
            raw = normal.plain(getattr(event.item, "raw_item", None))
            self._streamed.append(make("stream_event", type="item", name=event.name, item=raw))
        else:
            self._add_raw(event.data)

    def _add_raw(self, data: Any) -> None:
        delta = getattr(data, "delta", None)
        last = self._streamed[-1] if self._streamed else None
        if isinstance(delta, str):
            if last is not None and last["type"] == "raw" and last["name"] == data.type:
                last["count"] += 1
                last["text"] += delta
                return
            self._streamed.append(make("stream_event", type="raw", name=data.type, text=delta))
            return
        item = normal.plain(getattr(data, "item", None))
        if data.type != "response.output_item.done":
            item = None
        self._streamed.append(make("stream_event", type="raw", name=data.type, item=item))

    def add_spans(self, events: list[Event]) -> None:
        self._spans = events

    def events(self) -> list[Event]:
        """Everything so far, in recorded order."""
        return [*self._ordered(self._events, 0), *self._streamed, *self._spans]

    def _ordered(self, events: list[tuple[Lane, Event]], depth: int) -> Iterator[Event]:
        """Events of lanes at `depth` in their order; what runs deeper in between, call by call."""
        stretch: list[tuple[Lane, Event]] = []
        for lane, event in events:
            if len(lane) > depth:
                stretch.append((lane, event))
                continue
            yield from self._by_call(stretch, depth)
            stretch = []
            yield event
        yield from self._by_call(stretch, depth)

    def _by_call(self, stretch: list[tuple[Lane, Event]], depth: int) -> Iterator[Event]:
        groups: dict[str, list[tuple[Lane, Event]]] = {}
        for lane, event in stretch:
            groups.setdefault(lane[depth], []).append((lane, event))
        for call in sorted(groups, key=lambda call: self._rank.get(call, -1)):
            yield from self._ordered(groups[call], depth + 1)


_OF_A_CALL = frozenset({"tool_started", "tool_finished", "tool_failed", "tool_cancelled",
                        "guardrail_checked", "hook", "context_given"})
_NESTED = _OF_A_CALL | {"input_filtered", "model_called", "model_responded", "model_failed",
                        "handoff", "server_asked"}
