"""What steps of a trace say about one another: which request asked for which tool call, and what
a later request's messages say of a tool call that the trace tells little or nothing about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentrunproof.importers import dialogs
from agentrunproof.importers.draft import Draft, ModelStep, SpanStep, Step, ToolStep
from agentrunproof.importers.source import tables

Json = dict[str, Any]


def link(draft: Draft) -> None:
    """Link tool calls to the requests that asked for them, fill in what is missing in them, and
    add those of which only the messages tell."""
    open_: list[tuple[ModelStep, Json]] = []
    done: dict[str, ToolStep] = {}
    steps: list[Step] = []
    later = {step.id: step for step in draft.tools() if step.id}
    for step in draft.steps:
        if isinstance(step, ModelStep):
            steps += _told(step, open_, done, later)
            open_ += [(step, call) for call in step.asks()]
        elif isinstance(step, ToolStep):
            _ask(step, open_)
            if step.id:
                done[step.id] = step
        steps.append(step)
    draft.steps = steps


def named_tools(draft: Draft) -> None:
    """Take a span for a tool call that has the name and arguments of one a model asked for."""
    asked: list[Json] = []
    for number, step in enumerate(draft.steps):
        if isinstance(step, ModelStep):
            asked += step.asks()
        elif isinstance(step, SpanStep) and "input" in step.kept and any(
                call["name"] == step.name and call["arguments"] == step.kept["input"]
                for call in asked):
            kept = {key: one for key, one in step.kept.items() if key not in ("input", "output")}
            draft.steps[number] = ToolStep(
                step.agent, step.start, step.end, step.inside, kept, tool=step.name,
                arguments=step.kept["input"], output=step.kept.get("output"), done=True)


def _ask(step: ToolStep, open_: list[tuple[ModelStep, Json]]) -> None:
    fits = _fits(step)
    at = next((n for n in reversed(range(len(open_))) if fits(open_[n][1])), None)
    if at is not None:
        step.asked_by, call = open_.pop(at)
        step.id = step.id or call["id"]
        if step.arguments is None:
            step.arguments = call["arguments"]


def _fits(step: ToolStep) -> Callable[[Json], bool]:
    if step.id:
        return lambda call: bool(call["id"] == step.id)
    return lambda call: bool(call["name"] == step.tool and call["arguments"] == step.arguments)


def _told(model: ModelStep, open_: list[tuple[ModelStep, Json]], done: dict[str, ToolStep],
          later: dict[str, ToolStep]) -> list[Step]:
    """What the results at the end of a request tell of tool calls."""
    dialog = dialogs.ALL[model.dialect]
    found: list[Step] = []
    for result in dialogs.last_results(dialog, tables(model.body.get(dialog.key))):
        known = done.get(result.id) or later.get(result.id)
        if known is not None:
            if not known.done and known.error is None:
                known.output, known.done = result.output, True
            continue
        call = next((call for _, call in open_ if call["id"] == result.id), None)
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
