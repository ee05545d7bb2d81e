"""Spans of any convention as steps: each span is read by the convention that it follows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentrunproof.importers import (
    agents_sdk,
    genai,
    langfuse,
    langsmith,
    linking,
    openinference,
    openllmetry,
    several,
    spans,
)
from agentrunproof.importers.draft import Draft, ModelStep, SpanStep, Step, ToolStep
from agentrunproof.importers.form import Format
from agentrunproof.importers.source import Source
from agentrunproof.importers.spans import Span
from agentrunproof.record import parents

Json = dict[str, Any]

_CONVENTIONS = (agents_sdk, langsmith, langfuse, openinference, openllmetry, genai)


def draft(source: Source, found: list[Span], fields: Json) -> Draft:
    """The steps of spans.

    Args:
        source: the file.
        found: its spans, in their order.
        fields: what it says besides.
    """
    made = Draft(name=str(fields.get("service.name") or fields.get("name") or source.name),
                 fields=fields)
    runs = _traces(found)
    if source.run and runs:
        made.run, found = several.choose(source, runs)
    used: Counter[str] = Counter()
    read: list[tuple[Span, Step]] = []
    for span in found:
        convention = next((one for one in _CONVENTIONS if one.claims(span)), None)
        step = convention.read(span, made.left) if convention else SpanStep(
            type="span", name=span.name, error=span.error)
        used[convention.NAME if convention else "no known convention"] += 1
        step.start, step.end = span.start, span.end if span.end is not None else span.start
        read.append((span, step))
    _place(read)
    _take_conversations(made, read)
    for span, step in read:
        if span.events:
            span.rest["events"] = [vars(event) for event in span.events]
        step.kept = span.kept()
    linking.named_tools(made)
    _sort(made)
    made.notes.append("spans: " + ", ".join(f"{name} {count}" for name, count in used.items()))
    if len(runs) > 1 and not source.run:
        made.notes.append(f"holds {len(runs)} traces, taken as one run (--run ID takes one): "
                          + several.listed(runs))
    made.notes += parents.note({(span.trace, span.id): (span.trace, span.parent)
                                for span in found if span.id and span.parent})
    if any(isinstance(step, SpanStep) and step.error for span, step in read if not span.parent):
        made.outcome = "raised"
    return made


def _traces(found: list[Span]) -> dict[str, list[Span]]:
    """The spans by their traces, save those of none."""
    traces: dict[str, list[Span]] = {}
    for span in filter(lambda span: span.trace, found):
        traces.setdefault(span.trace, []).append(span)
    return traces


def _place(read: list[tuple[Span, Step]]) -> None:
    """Say of each step whose doing it is and inside of which tool call."""
    by_id = {(span.trace, span.id): (span, step) for span, step in read if span.id}
    for span, step in read:
        seen: set[str] = {span.id}
        above = by_id.get((span.trace, span.parent))
        while above is not None and above[0].id not in seen:
            outer, holder = above
            seen.add(outer.id)
            if isinstance(holder, ToolStep) and step.inside is None:
                step.inside = holder
            if isinstance(holder, SpanStep) and holder.type == "agent" and not step.agent:
                step.agent = holder.name
            above = by_id.get((outer.trace, outer.parent))
        if not step.agent and isinstance(step, SpanStep) and step.type == "agent":
            step.agent = step.name


def _take_conversations(made: Draft, read: list[tuple[Span, Step]]) -> None:
    """Add the steps of agents of which only the agent's own messages tell."""
    is_told = any(isinstance(step, ModelStep) for _, step in read)
    tools = {step.id: step for _, step in read if isinstance(step, ToolStep) and step.id}
    merged: set[int] = set()
    for span, step in read:
        if isinstance(step, SpanStep) and step.type == "agent" and not is_told \
                and genai.claims(span):
            made.steps.append(step)
            now = step.start
            for inner in genai.conversation(span, made.left):
                known = tools.get(inner.id) if isinstance(inner, ToolStep) else None
                if known is not None and isinstance(inner, ToolStep):
                    _fill(known, inner)
                    merged.add(id(known))
                    inner, now = known, known.end
                else:
                    inner.start = inner.end = now
                    inner.guessed = True
                inner.agent = inner.agent or step.agent
                made.steps.append(inner)
    there = {id(step) for step in made.steps}
    made.steps += [step for _, step in read if id(step) not in there]


def _fill(step: ToolStep, told: ToolStep) -> None:
    """What a conversation tells of a tool call that its span doesn't."""
    if step.arguments is None:
        step.arguments = told.arguments
    if not step.done and step.error is None:
        step.output, step.error, step.done = told.output, told.error, True


def _sort(made: Draft) -> None:
    if all(step.start is not None for step in made.steps):
        made.steps.sort(key=lambda step: step.start or 0)


OTLP = Format("otlp", "resourceSpans, or spans with name, times and attributes",
              lambda source, _: draft(source, *spans.of_source(source)))
AGENTS_SDK = Format("openai-agents", "traces and spans (object 'trace' or 'trace.span')",
                    lambda source, _: draft(source, *agents_sdk.of_source(source)))
LANGSMITH = Format("langsmith", "runs with run_type and start_time",
                   lambda source, _: draft(source, *langsmith.of_source(source)))
LANGFUSE = Format("langfuse", "observations with type and startTime",
                  lambda source, _: draft(source, *langfuse.of_source(source)))
