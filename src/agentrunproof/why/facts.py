"""What one can see of a run from outside, and by which of it a failure shows.

A standalone script observes the same facts with the SDK's public API alone, so what differs
between the bad run and what ought to be is what the script asserts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentrunproof.contracts.reading import pending
from agentrunproof.plan.items import label
from agentrunproof.plan.model import Phase, Plan
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.events import Event
from agentrunproof.record.observation import PhaseRun
from agentrunproof.record.result import CheckResult

Facts = dict[str, Any]

#: All facts, the plainest first.
TELLING = ("unpaired", "tools", "outcome", "pending", "output", "session", "items", "responses",
           "guardrails", "usage", "hooks", "streamed", "spans", "inputs")
#: Those that are asserted together; of the others the first one that differs is enough.
_PLAIN = frozenset(TELLING[:6])

#: By which fact the failure of a check shows best.
_SHOWS = {"hook_order": "hooks", "usage_sum": "usage", "stream_complete": "streamed",
          "span_tree": "spans", "guardrail_results": "guardrails", "handoff_history": "inputs",
          "response_linkage": "responses"}


@dataclass(frozen=True)
class Claim:
    """One assertion: in this phase, this fact must be `expected`; the bad run had `found`."""

    phase: str
    fact: str
    expected: Any
    found: Any


def claims(bad: Certificate, result: CheckResult, control: Certificate | None
           ) -> tuple[str, list[Claim]]:
    """The mode that shows the failure, and what to assert in it; nothing if it can't be seen.

    Args:
        bad: the failing plan's certificate.
        result: the check that failed.
        control: a certificate of the same plan on a release on which it passes.
    """
    mode, _, where = result.where.partition("/")
    phases = sorted(bad.plan.phases, key=lambda phase: phase.id != where)
    for phase in phases:
        run = bad.observation.run(mode, phase.id)
        good = control.observation.run(mode, phase.id) if control is not None else None
        if run is None:
            continue
        found = of(run, bad.plan)
        expected = of(good, bad.plan) if good is not None else _expected(phase, result, where)
        differing = [Claim(phase.id, fact, expected[fact], found[fact]) for fact in TELLING
                     if fact in found and expected.get(fact, found[fact]) != found[fact]]
        if differing:
            best = [claim for claim in differing if claim.fact == _SHOWS.get(result.check)]
            plain = [claim for claim in differing if claim.fact in _PLAIN]
            return mode, best or plain or differing[:1]
    return mode, []


def of(run: PhaseRun, plan: Plan) -> Facts:
    """The facts of one run of a plan, as the script's own ``seen`` has them."""
    raised = run.last("raised")
    outcome = f"raised {raised['error'].get('type', '')}" if raised else run.outcome
    result = run.last("result")
    facts: Facts = {
        "outcome": outcome,
        "tools": [event["tool"] for event in run.of("tool_started")
                  if event["tool"] not in plan.tools or plan.tools[event["tool"]].agent is None],
        "pending": list(pending(run)),
        "output": result["final_output"] if result and outcome == "completed" else None,
        "inputs": [[event["agent"], [label(item) for item in event["input"]]]
                   for event in run.of("model_called")]}
    held = [event["items"] for event in run.of("session_read") if event["op"] == "observe"]
    if held:
        facts["session"] = [label(item) for item in held[-1]]
    facts |= _finer(run, result or raised)
    return facts | {"unpaired": unpaired([*(event["input"] for event in run.of("model_called")),
                                          *held[-1:]])}


#: The whole run, and what only a model that talks to somebody makes.
_NOT_SPANS = ("trace", "generation")


def _finer(run: PhaseRun, told: Event | None) -> Facts:
    """Facts that only some scripts look at."""
    facts: Facts = {
        "hooks": sorted(" ".join(filter(None, (event["on"], event["agent"], event["tool"],
                                               event["other"])))
                        for event in run.of("hook") if event["scope"] == "run"),
        "spans": sorted(_span(event) for kind in ("span_started", "span_finished")
                        for event in run.of(kind) if event["type"] not in _NOT_SPANS)}
    if run.mode == "run_streamed":
        facts["streamed"] = [event["name"] for event in run.of("stream_event")
                             if event["type"] == "item"]
    usage = run.last("usage")
    if usage is not None and run.last("result") is not None:
        facts["usage"] = [usage["requests"], usage["input"], usage["output"]]
    if told is not None and told["new_items"] is not None:
        facts |= {"items": [item["type"] for item in told["new_items"]],
                  "responses": len(told["responses"] or ()),
                  "guardrails": list(told["guardrails"] or ())}
    return facts


def _span(event: Event) -> str:
    name = event["name"] if event["type"] != "handoff" else ""
    told = ["never ended"] if event["kind"] == "span_started" else []
    return " ".join(filter(None, (event["type"], name, *told,
                                  "with an error" if event.get("error") else "")))


def unpaired(conversations: Iterable[Iterable[Mapping[str, Any]]]) -> list[str]:
    """Labels of calls without an output and outputs without a call before them."""
    found = []
    for items in conversations:
        calls: list[str] = []
        for item in items:
            if item.get("type") == "function_call":
                calls.append(str(item["call_id"]))
            elif item.get("type") == "function_call_output":
                if item["call_id"] in calls:
                    calls.remove(str(item["call_id"]))
                else:
                    found.append(f"output:{item['call_id']}")
        found += [f"call:{call}" for call in calls]
    return found


def _expected(phase: Phase, result: CheckResult, where: str) -> Facts:
    """What ought to be seen by the plan's word and the check's own."""
    expect = phase.expect
    facts: Facts = {}
    if result.check == "tool_linkage" and phase.id == where:
        facts["unpaired"] = []
    if result.check == "execution_outcome":
        facts["outcome"] = f"raised {expect.error}" if expect.error else expect.outcome
        given = {"pending": expect.pending, "output": expect.final_output,
                 "session": expect.session}
        facts |= {key: list(value) if isinstance(value, tuple) else value
                  for key, value in given.items() if value is not None}
        if expect.tool_calls is not None:
            facts["tools"] = [name for name, count in expect.tool_calls.items()
                              for _ in range(count)]
    undecided = phase.resume is not None and not phase.resume.decisions
    if result.check == "state_fork_isolation" and undecided:
        facts |= {"outcome": "interrupted", "tools": []}
    return facts
