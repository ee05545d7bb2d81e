"""What happens is traced once, and within the agent that does it.

"The entire Runner.{run, run_sync, run_streamed}() is wrapped in a trace()"; "Each time an agent
runs, it is wrapped in agent_span()"; "LLM generations are wrapped in generation_span()"; "Function
tool calls are each wrapped in function_span()"; "Handoffs are wrapped in handoff_span()"; spans
"are nested under the nearest current span".
(https://openai.github.io/openai-agents-python/tracing/)

So there is no more than one trace of a run, no more spans of calls, handoffs and generations than
there were such, and a call or a generation is found below its own agent's span, in a resumed run
too. A resumed run goes on under the trace of the run that paused: on_trace_start is "called when a
new trace begins execution" (https://openai.github.io/openai-agents-python/ref/tracing/;
openai-agents-python#2547). That none is missing is the promise of `span_tree`. An agent tool that
is resumed is called again; a guardrail that was stopped before it decided has a span and no check,
so those are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import handoff_tools, lineage, words
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Kind = tuple[str, str]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        spans = _spans(run)
        held = Counter(_kind(span) for span in spans)
        most = _most(plan, lineage(plan, seen, run))
        for kind, count in held.items():
            if (kind in most or _counted(plan, kind)) and count > most[kind]:
                yield Violation("SPAN_REPEATED", run.where, f"{count} {kind[0]} spans of "
                                f"{kind[1] or 'the model'}, of which there were {most[kind]}")
        traces = sum(1 for span in spans if span["type"] == "trace")
        if traces > 1:
            yield Violation("TRACE_REPEATED", run.where, f"{traces} traces of one run")
        elif traces and plan.phase(run.phase).resume is not None:
            yield Violation("TRACE_REPEATED", run.where, "a run that goes on began a trace again")
        yield from _homes(plan, run, spans)


def _spans(run: PhaseRun) -> list[Event]:
    return run.of("span_started", "span_finished")


def _kind(span: Event) -> Kind:
    return span["type"], "" if span["type"] == "generation" else span["name"]


def _counted(plan: Plan, kind: Kind) -> bool:
    """Whether spans of a kind are counted though there was no such thing.

    A handoff that comes to nothing has a span, and that does not name its agent.
    """
    return kind[0] == "generation" or (kind[0] == "function" and kind[1] in plan.tools)


def _most(plan: Plan, runs: tuple[PhaseRun, ...]) -> Counter[Kind]:
    """The most spans there may be of each kind that is counted."""
    last = runs[-1]
    most: Counter[Kind] = Counter({("generation", ""): len(last.of("model_called"))})
    again = {event["call"] for run in runs[:-1] for event in run.of("interruption")}
    for run in runs:
        for answer in run.of("model_responded"):
            handoffs = handoff_tools(plan, answer["agent"])
            for item in answer["output"]:
                name = str(item.get("name"))
                if name in handoffs:
                    most["handoff", f"{answer['agent']} -> {handoffs[name]}"] += 1
                elif name in plan.tools and (run is last or item.get("call_id") in again
                                             or plan.tools[name].agent is not None):
                    most["function", name] += 1
    return most


def _homes(plan: Plan, run: PhaseRun, spans: list[Event]) -> Found:
    """Calls below an agent that has the tool, no more generations below each than it was asked."""
    by_number = {span["span"]: span for span in spans}
    held: Counter[str] = Counter()
    for span in spans:
        if span["type"] not in ("function", "generation") or _orphaned(span, by_number):
            continue
        agent = _agent_above(span, by_number)
        if span["type"] == "generation":
            held[agent or "no agent"] += 1
        elif span["name"] in plan.tools and span["name"] not in plan.tools_of(agent or ""):
            yield Violation("SPAN_ELSEWHERE", run.where, f"the function span of {span['name']} is "
                            f"below {agent or 'no agent'}")
    moved = held - Counter(event["agent"] for event in run.of("model_called"))
    if moved:
        yield Violation("SPAN_ELSEWHERE", run.where, "more generation spans than model calls are "
                        f"below {words(sorted(moved))}")


def _above(span: Event, by_number: dict[int, Event]) -> Iterator[Event]:
    """The spans above one, nearest first; each was started before those below it."""
    parent = by_number.get(span["parent"])
    while parent is not None and parent["span"] < span["span"]:
        yield parent
        span, parent = parent, by_number.get(parent["parent"])


def _orphaned(span: Event, by_number: dict[int, Event]) -> bool:
    """Whether the way up from a span breaks off, which `span_tree` tells."""
    *_, top = span, *_above(span, by_number)
    return top["parent"] is not None


def _agent_above(span: Event, by_number: dict[int, Event]) -> str | None:
    return next((above["name"] for above in _above(span, by_number) if above["type"] == "agent"),
                None)


CONTRACT = Contract(
    name="span_home",
    promise="What happens has one span, below the span of the agent that does it.",
    source="https://openai.github.io/openai-agents-python/tracing/",
    codes={
        "SPAN_REPEATED": "more spans of a kind than there were such things",
        "TRACE_REPEATED": "a run made more than one trace, or began one again when it was resumed",
        "SPAN_ELSEWHERE": "a call or a generation is traced below another agent",
    },
    applies=lambda plan, seen: plan.run.tracing and any(_spans(run) for run in seen.runs),
    violations=_violations,
)
