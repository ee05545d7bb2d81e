"""What steps of a trace say about one another: which request asked for which tool call, and what
a later request's messages say of a tool call that the trace tells little or nothing about."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agentrunproof.importers import dialogs
from agentrunproof.importers.draft import Draft, ModelStep, SpanStep, Step, ToolStep

Json = dict[str, Any]


@dataclass(eq=False)
class _Asked:
    """A tool call that a model asked for."""

    model: ModelStep
    call: Json
    taken: bool = False


class _Open:
    """The tool calls that models asked for and that no step is known to be yet."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], list[_Asked]] = {}

    def add(self, model: ModelStep) -> None:
        """Enter what a request's reply asks for."""
        for call in model.asks():
            asked = _Asked(model, call)
            for key in ((call["id"],), _alike(call["name"], call["arguments"])):
                self._known.setdefault(key, []).append(asked)

    def with_id(self, id: str) -> Json | None:
        """The first call of that id."""
        return next((one.call for one in self._known.get((id,), ()) if not one.taken), None)

    def take(self, step: ToolStep) -> _Asked | None:
        """The latest call that a step can be: of its id, or else of its name and arguments."""
        if not self._known:
            return None
        fits = self._known.get((step.id,) if step.id else _alike(step.tool, step.arguments), [])
        while fits:
            asked = fits.pop()
            if not asked.taken:
                asked.taken = True
                return asked
        return None


def link(draft: Draft) -> None:
    """Link tool calls to the requests that asked for them, fill in what is missing in them, and
    add those of which only the messages tell."""
    open_ = _Open()
    done: dict[str, ToolStep] = {}
    steps: list[Step] = []
    later = {step.id: step for step in draft.tools() if step.id}
    for step in draft.steps:
        if isinstance(step, ModelStep):
            steps += _told(step, open_, done, later)
            open_.add(step)
        elif isinstance(step, ToolStep):
            _ask(step, open_)
            if step.id:
                done[step.id] = step
        steps.append(step)
    draft.steps = steps


def named_tools(draft: Draft) -> None:
    """Take a span for a tool call that has the name and arguments of one a model asked for."""
    asked: set[tuple[str, str]] = set()
    for number, step in enumerate(draft.steps):
        if isinstance(step, ModelStep):
            asked |= {_alike(call["name"], call["arguments"]) for call in step.asks()}
        elif isinstance(step, SpanStep) and "input" in step.kept \
                and _alike(step.name, step.kept["input"]) in asked:
            kept = {key: one for key, one in step.kept.items() if key not in ("input", "output")}
            draft.steps[number] = ToolStep(
                step.agent, step.start, step.end, step.inside, kept, tool=step.name,
                arguments=step.kept["input"], output=step.kept.get("output"), done=True)


def _alike(tool: str, arguments: Any) -> tuple[str, str]:
    """A tool's name and arguments as what is the same text for the same ones."""
    return tool, json.dumps(arguments, sort_keys=True)


def _ask(step: ToolStep, open_: _Open) -> None:
    asked = open_.take(step)
    if asked is not None:
        step.asked_by = asked.model
        step.id = step.id or asked.call["id"]
        if step.arguments is None:
            step.arguments = asked.call["arguments"]


def _told(model: ModelStep, open_: _Open, done: dict[str, ToolStep],
          later: dict[str, ToolStep]) -> list[Step]:
    """What the results at the end of a request tell of tool calls."""
    dialog = dialogs.ALL[model.dialect]
    found: list[Step] = []
    for result in dialogs.last_results(dialog, model.body.get(dialog.key)):
        known = done.get(result.id) or later.get(result.id)
        if known is not None:
            if not known.done and known.error is None:
                known.output, known.done = result.output, True
            continue
        call = open_.with_id(result.id)
        if call is None:
            continue
        step = dialogs.tool_step(call, result)
        step.agent, step.inside = model.agent, model.inside
        step.start = step.end = model.start
        step.guessed = True
        _ask(step, open_)
        done[result.id] = step
        found.append(step)
    return found
