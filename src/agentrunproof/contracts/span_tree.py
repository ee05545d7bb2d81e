"""The spans of a run form one closed tree.

"Traces represent a single end-to-end operation of a workflow. They're composed of Spans"; "Spans
have started_at and ended_at timestamps" and a "parent_id, which points to the parent Span of this
Span (if any)"; "The entire Runner.{run, run_sync, run_streamed}() is wrapped in a trace()", "each
time an agent runs, it is wrapped in agent_span()", "function tool calls are each wrapped in
function_span()", "handoffs are wrapped in handoff_span()", "guardrails are wrapped in
guardrail_span()". (https://openai.github.io/openai-agents-python/tracing/)

So each span has a parent that was started before it and ends after it, everything that was
started has ended when the run has, and what ran has its span. A resumed run goes on under the
trace of the run that paused, so its uppermost spans have no parent within it.

"RunConfig.trace_include_sensitive_data: Whether we include potentially sensitive data (for
example: inputs/outputs of tool calls or LLM generations) in traces. If False, we'll still create
spans for these events, but the sensitive data will not be included"; otherwise the function span
of a tool that has given its output tells both. (openai-agents-python#3111, #3475) The text of an
error quotes such data as often as not, so no span tells it then, of whatever has failed.

A span "error" says what went wrong: where a hook or a guardrail ends a run with an exception, the
span of the agent it belongs to has one. (openai-agents-python#4191)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import calls
from agentrunproof.contracts.reading import (
    CUT_SHORT,
    decided,
    hands_over,
    lineage,
    refused_outputs,
    words,
)
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

#: What ends a run with an exception of the plan's that belongs to its agent.
_ENDS = {"HookFailure": "hook", "GuardrailFailure": "guardrail"}


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        spans = run.of("span_started", "span_finished")
        if run.outcome == "timeout":
            continue
        if not spans:
            if run.of("model_called"):
                yield Unobserved("SPANS_UNOBSERVED", f"{run.where}: no span was recorded")
            continue
        yield from _shape(run, spans, resumed=plan.phase(run.phase).resume is not None)
        if run.outcome not in CUT_SHORT:
            yield from _missing(plan, run, spans)
            yield from _failed(run, spans)
        yield from _payload(plan, run, spans, _rejected(plan, lineage(plan, seen, run)))


def _shape(run: PhaseRun, spans: list[Event], *, resumed: bool) -> Found:
    known: set[int | None] = set()
    if resumed and all(span["type"] != "trace" for span in spans):
        known.add(None)
    for span in spans:
        name = f"{span['type']} span {span['name']}".rstrip()
        if span["type"] != "trace" and span["parent"] not in known:
            yield Violation("SPAN_ORPHANED", run.where,
                            f"the {name} has no parent that was started before it")
        if span["kind"] == "span_started":
            yield Violation("SPAN_NOT_CLOSED", run.where, f"the {name} never ended")
        elif span["late"]:
            yield Violation("SPAN_LATE", run.where, f"the {name} ended after its parent")
        known.add(span["span"])


def _missing(plan: Plan, run: PhaseRun, spans: list[Event]) -> Found:
    held = Counter((span["type"], span["name"]) for span in spans)
    due: Counter[tuple[str, str]] = Counter()
    due.update(("function", event["tool"]) for event in run.of("tool_started"))
    due.update(("handoff", f"{event['from']} -> {event['to']}") for event in run.of("handoff")
               if hands_over(plan, event))
    due.update(("guardrail", event["guardrail"]) for event in run.of("guardrail_checked")
               if event["stage"] in ("input", "output"))
    agents = {("agent", event["agent"]): 1 for event in run.of("model_called")}
    for (type, name), count in (due | Counter(agents)).items():
        if held[type, name] < count:
            yield Violation("SPAN_MISSING", run.where, f"{count} {type} span(s) of {name} are "
                            f"due, {held[type, name]} found")


def _rejected(plan: Plan, runs: tuple[PhaseRun, ...]) -> set[str]:
    """The tools of which a call was rejected, which the SDK words itself as an error of the span.

    "Tool execution for ... was manually rejected by user." tells nothing of the call.
    """
    return {call.name for call in calls(runs) if decided(plan, runs, call.id, call.name) is False}


def _payload(plan: Plan, run: PhaseRun, spans: list[Event], rejected: set[str]) -> Found:
    """Function spans tell input and output; where nothing sensitive may be told no span does."""
    ended = [span for span in spans if span["kind"] == "span_finished"]
    functions = [span for span in ended if span["type"] == "function"]
    if not plan.run.sensitive_traces:
        for span in ended:
            if span["holds"] and not (span["holds"] == ("error",) and span["name"] in rejected):
                name = f"{span['type']} span {span['name']}".rstrip()
                yield Violation("SPAN_TELLS_TOO_MUCH", run.where, f"the {name} tells its "
                                f"{words(span['holds'])}, which may be sensitive")
        return
    refused = {"input": set[str](), "output": refused_outputs(run)}
    hook = plan.run.hook_error
    for part in ("input", "output"):
        if part == "output" and hook is not None and hook.on == "on_tool_end":
            continue  # the call failed when its tool had ended
        due = Counter(event["tool"] for event in run.of("tool_finished")
                      if event["call"] not in refused[part])
        held = Counter(span["name"] for span in functions if part in span["holds"])
        for tool, count in (due - held).items():
            yield Violation("SPAN_TELLS_TOO_LITTLE", run.where, f"{count} span(s) of {tool} do "
                            f"not tell the {part}")


def _failed(run: PhaseRun, spans: list[Event]) -> Found:
    raised = run.last("raised")
    by = _ENDS.get(raised["error"].get("type", "")) if raised is not None else None
    if by is None:
        return
    agents = [span for span in spans if span["type"] == "agent"]
    if agents and not any(span.get("error") for span in agents):
        yield Violation("SPAN_WITHOUT_ERROR", run.where, f"a {by} ended the run with an exception, "
                        f"the span of {agents[-1]['name']} has no error")


CONTRACT = Contract(
    name="span_tree",
    promise="The spans of a run form one tree, each closed before its parent.",
    source="https://openai.github.io/openai-agents-python/tracing/",
    codes={
        "SPAN_ORPHANED": "a span has no parent that was started before it",
        "SPAN_NOT_CLOSED": "a span or trace had not ended when the run had",
        "SPAN_LATE": "a span ended after its parent",
        "SPAN_MISSING": "something ran without the span the SDK promises for it",
        "SPAN_TELLS_TOO_MUCH": "a span tells what a tool got or gave, or the text of an error, "
                               "which may be sensitive",
        "SPAN_TELLS_TOO_LITTLE": "the span of a tool does not tell what it got or gave",
        "SPAN_WITHOUT_ERROR": "a hook or guardrail ended the run, and its agent's span "
                              "has no error",
        "SPANS_UNOBSERVED": "no span was recorded",
    },
    applies=lambda plan, seen: plan.run.tracing and bool(seen.runs),
    violations=_violations,
)
