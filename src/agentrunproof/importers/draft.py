"""What an importer understood of a trace, before it is written as a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentrunproof.record import dialects
from agentrunproof.record.beginnings import Beginning, common
from agentrunproof.record.jsonable import dump
from agentrunproof.record.run_writer import RunWriter
from agentrunproof.record.told_run import ToldRun

Json = dict[str, Any]


@dataclass
class Step:
    """Something that happened.

    Args:
        agent: who did it, or empty.
        start: when it began, in nanoseconds since 1970, or None.
        end: when it ended.
        inside: the tool call that it is a part of.
        kept: what the trace says besides, kept in the run's event as ``source``.
        more: further fields of the run's event, such as ``changes`` of a tool call.
        guessed: the times only put it in its place; the trace doesn't say them.
    """

    agent: str = ""
    start: int | None = None
    end: int | None = None
    inside: ToolStep | None = None
    kept: Json = field(default_factory=dict)
    more: Json = field(default_factory=dict)
    guessed: bool = False


@dataclass
class ModelStep(Step):
    """A request to a model.

    Args:
        dialect: one of `record.dialects.NAMES`.
        body: the request.
        reply: the literal reply, None if there is none.
        error: why it failed: ``type`` and ``message``.
        inferred: the trace doesn't hold this request by itself, only as the history of a later
            one or as a conversation.
    """

    dialect: str = "openai.chat"
    body: Json = field(default_factory=dict)
    reply: Any = None
    error: dict[str, str] | None = None
    inferred: bool = False

    def asks(self) -> list[Json]:
        """The tool calls that the model asked for."""
        return list(dialects.decision(self.dialect, self.reply)["tool_calls"])


@dataclass
class ToolStep(Step):
    """A tool call; `done` says whether its end is known.

    Args:
        tool: its name.
        arguments: what it was called with, None if the trace doesn't say.
        output: what it returned.
        error: why it failed.
        id: the id that the model gave the call.
        asked_by: the request whose reply asked for it.
    """

    tool: str = ""
    arguments: Any = None
    output: Any = None
    error: dict[str, str] | None = None
    id: str = ""
    done: bool = False
    asked_by: ModelStep | None = None


@dataclass
class SpanStep(Step):
    """Something that is neither: an agent's turn, a chain, a retriever."""

    type: str = ""
    name: str = ""
    error: str = ""


@dataclass
class EventStep(Step):
    """One event of the vocabulary (`record.events`) that is none of these, such as a handoff; its
    fields are `more`."""

    kind: str = ""


@dataclass
class Draft:
    """What was understood, in the order of happening.

    Args:
        name: what the run is called.
        run: its id, where the file tells runs apart by ids.
        outcome: how the run ended, empty if it didn't; None: the trace doesn't say.
        error: why it ended so.
        task: what was asked for, where no request says it.
        fields: what the file says about the run as a whole; kept in the run's first event.
        left: what was not taken over, counted by name.
        notes: what a user must be told.
    """

    name: str
    steps: list[Step] = field(default_factory=list)
    fields: Json = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    run: str = ""
    outcome: str | None = None
    error: str = ""
    task: str = ""

    def models(self) -> list[ModelStep]:
        """The requests to models."""
        return [step for step in self.steps if isinstance(step, ModelStep)]

    def tools(self) -> list[ToolStep]:
        """The tool calls."""
        return [step for step in self.steps if isinstance(step, ToolStep)]


def messages(draft: Draft) -> int:
    """How many different messages the requests and replies of a draft hold."""
    seen: set[bytes] = set()
    replies = 0
    before: Sequence[Any] = []
    models = draft.models()
    for number, step in enumerate(models):
        after = models[number + 1] if number + 1 < len(models) else None
        items = _items(step)
        seen.update(map(dump, items[common(before, items):]))
        if step.reply is not None and (after is None or len(_items(after)) <= len(items)):
            replies += 1  # else it stands in the next request
        before = items
    return len(seen) + replies


def _items(step: ModelStep) -> Sequence[Any]:
    items = step.body.get("messages", step.body.get("input"))
    return items if isinstance(items, list | Beginning) else [items]


def to_bytes(draft: Draft, **about: Any) -> bytes:
    """The run file of a draft; `about` says where it is from, in its first event."""
    lines: list[bytes] = []
    writer = RunWriter(lines.append, parsed=True)
    _Writing(writer, draft).write(about)
    return b"".join(lines)


def told(draft: Draft, **about: Any) -> ToldRun:
    """The run of a draft without its file, for those who only read it."""
    run = ToldRun()
    _Writing(run, draft).write(about)
    return run


class _Writing:
    """Writes starts and ends in the order of their times, if all are known; else step by step."""

    def __init__(self, writer: RunWriter | ToldRun, draft: Draft) -> None:
        self._writer = writer
        self._draft = draft
        self._ids: dict[int, str] = {}
        numbers: Counter[str] = Counter()
        for step in draft.steps:
            kind = {ModelStep: "m", ToolStep: "t"}.get(type(step), "s")
            numbers[kind] += 1
            self._ids[id(step)] = f"{kind}{numbers[kind]}"

    def write(self, about: Json) -> None:
        draft = self._draft
        starts = [step.start for step in draft.steps if step.start is not None]
        self._writer.start(draft.name, clock=_clock(min(starts, default=None)), **about,
                           ends=draft.outcome is not None or None,
                           said=any(isinstance(step, EventStep) and step.kind == "said"
                                    for step in draft.steps) or None,
                           input=[{"role": "user", "content": draft.task}] if draft.task else None,
                           fields=draft.fields or None)
        for _, step, begins in self._order():
            common = self._common(step, begins)
            if isinstance(step, ToolStep):
                self._tool(step, begins, common)
            elif isinstance(step, ModelStep):
                self._model(step, begins, common)
            elif isinstance(step, SpanStep):
                self._span(step, begins, common)
            elif isinstance(step, EventStep) and begins:
                self._writer.event(step.kind, **common)
        ends = [step.end for step in draft.steps if step.end is not None]
        outcome = self._outcome()
        if outcome:
            error = {"type": outcome, "message": draft.error} if draft.error else None
            self._writer.finish(outcome, clock=_clock(max(ends, default=None)), error=error)

    def _common(self, step: Step, begins: bool) -> Json:
        """What every event of a step says; its first one also what else the trace does."""
        common: Json = {}
        if step.agent:
            common["agent"] = step.agent
        if step.inside is not None:
            common["parent"] = self._ids[id(step.inside)]
        if not step.guessed:
            common["clock"] = _clock(step.start if begins else step.end)
        if begins:
            common |= step.more
            if step.kept:
                common["source"] = step.kept
        return common

    def _outcome(self) -> str:
        """How the run ended: as the trace says, else by its last request; empty if that is still
        open."""
        if self._draft.outcome is not None:
            return self._draft.outcome
        models = self._draft.models()
        failed = any(isinstance(step, SpanStep) and step.type == "agent" and step.error
                     for step in self._draft.steps)
        if failed or (models and models[-1].error is not None):
            return "raised"
        return "" if models and models[-1].reply is None else "completed"

    def _order(self) -> Iterator[tuple[int, Step, bool]]:
        steps = self._draft.steps
        timed = all(step.start is not None and step.end is not None for step in steps)
        moments: list[tuple[int, Step, bool]] = []
        for number, step in enumerate(steps):
            start = step.start if timed and step.start is not None else number
            end = step.end if timed and step.end is not None else number
            moments.append((start, step, True))
            moments.append((max(start, end), step, False))  # clocks may run backwards
        return iter(sorted(moments, key=lambda moment: moment[0]))

    def _model(self, step: ModelStep, begins: bool, common: Json) -> None:
        call = self._ids[id(step)]
        if begins:
            self._writer.model_called(call, step.dialect, step.body, **common,
                                      inferred=step.inferred or None)
        elif step.error is not None:
            self._writer.event("model_failed", call=call, error=step.error, **common)
        elif step.reply is not None:
            self._writer.model_responded(call, step.reply, **common)

    def _tool(self, step: ToolStep, begins: bool, common: Json) -> None:
        call = self._ids[id(step)]
        if begins:
            by = step.asked_by
            self._writer.event("tool_started", call=call, tool=step.tool, tool_call_id=step.id,
                               asked_by=self._ids[id(by)] if by else "",
                               arguments=step.arguments, **common)
        elif step.error is not None:
            self._writer.event("tool_failed", call=call, error=step.error, **common)
        elif step.done:
            self._writer.event("tool_finished", call=call, output=step.output, **common)

    def _span(self, step: SpanStep, begins: bool, common: Json) -> None:
        self._writer.event("span_started" if begins else "span_finished",
                           span=int(self._ids[id(step)][1:]) - 1, type=step.type, name=step.name,
                           error=None if begins else step.error or None, **common)


def _clock(nanoseconds: int | None) -> dict[str, float] | None:
    return None if nanoseconds is None else {"at": nanoseconds / 1e9}
