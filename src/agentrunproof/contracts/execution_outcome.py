"""Each phase ends as the plan expects.

The Runner's loop: "If the runner classifies the LLM's output as final output, the loop ends and we
return the result. If the LLM requests a handoff, we update the current agent and input, and re-run
the loop. If the LLM produces tool calls, we run those tool calls, append the results, and re-run
the loop. If we exceed the max_turns passed, we raise a MaxTurnsExceeded exception."
(https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop)

What that means for one plan is written in each phase's `expect`; what is left out there is not
judged here. A phase that calls a function is judged by what that gives. It says `Lacking` of a
release without the feature it is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import Item, output_text, pending, words
from agentrunproof.plan.items import label
from agentrunproof.plan.model import ExpectedOutcome, Phase, Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for mode in seen.modes:
        for phase in plan.phases:
            run = seen.run(mode, phase.id)
            if run is None or not run.outcome:
                yield Violation("PHASE_NOT_RUN", f"{mode}/{phase.id}", "the phase did not end")
                continue
            yield from _ending(phase, run)
            yield from _counts(phase.expect, run)
            yield from _contents(phase.expect, run)


def _ending(phase: Phase, run: PhaseRun) -> Found:
    expect = phase.expect
    raised = run.last("raised")
    if phase.call is not None and raised and raised["error"].get("type") == "Lacking":
        yield Unobserved("FEATURE_UNOBSERVED", f"{run.where}: {raised['error'].get('message', '')}")
        return
    if run.outcome != expect.outcome:
        code = "TIMEOUT" if run.outcome == "timeout" else "OUTCOME_DIFFERS"
        why = "".join(f" ({event['error'].get('type')}: {event['error'].get('message', '')})"
                      for event in run.of("raised"))
        yield Violation(code, run.where, f"ended {run.outcome}{why}, expected {expect.outcome}")
        return
    error = raised["error"].get("type", "") if raised else ""
    if expect.error is not None and error != expect.error:
        yield Violation("ERROR_DIFFERS", run.where,
                        f"raised {error or 'nothing'}, expected {expect.error}")
    result = run.last("result")
    for field, code in (("final_output", "FINAL_OUTPUT_DIFFERS"),
                        ("last_agent", "LAST_AGENT_DIFFERS")):
        expected = getattr(expect, field)
        event = result if result is not None or field == "final_output" else raised
        found = event[field] if event else None
        if expected is not None and found != expected:
            yield Violation(code, run.where, f"{field} is {found!r}, expected {expected!r}")
    returned = run.last("call_returned")
    if expect.value is not None and returned and returned["value"] != expect.value:
        yield Violation("VALUE_DIFFERS", run.where,
                        f"the call gives {returned['value']}, expected {expect.value}")
    if expect.pending is not None and pending(run) != expect.pending:
        yield Violation("PENDING_DIFFERS", run.where, f"{words(pending(run))} waits for a "
                        f"decision, expected {words(expect.pending)}")


def _counts(expect: ExpectedOutcome, run: PhaseRun) -> Found:
    for code, expected, found in (
            ("TOOL_CALLS_DIFFER", expect.tool_calls,
             Counter(event["tool"] for event in run.of("tool_started"))),
            ("MODEL_CALLS_DIFFER", expect.model_calls,
             Counter(event["agent"] for event in run.of("model_called")))):
        for name, count in (expected or {}).items():
            if found[name] != count:
                yield Violation(code, run.where,
                                f"{name} was called {found[name]} times, expected {count}")


def _contents(expect: ExpectedOutcome, run: PhaseRun) -> Found:
    given = [output for items in _everything_given(run) for output in items
             if output.get("type") == "function_call_output"]
    for call, text in (expect.outputs or {}).items():
        found = {output_text(output) for output in given if output.get("call_id") == call}
        if found != {text}:
            yield Violation("OUTPUTS_DIFFER", run.where, f"the output of {call} is "
                            f"{words(map(repr, sorted(found)))}, expected {text!r}")
    if expect.session is not None:
        read = [event for event in run.of("session_read") if event["op"] == "observe"]
        if not read:
            yield Unobserved("SESSION_UNOBSERVED", f"{run.where}: no content of the session")
        elif (labels := tuple(label(item) for item in read[-1]["items"])) != expect.session:
            yield Violation("SESSION_DIFFERS", run.where, f"the session holds {words(labels)}, "
                            f"expected {words(expect.session)}")
    for sees in expect.sees:
        inputs = [event["input"] for event in run.of("model_called")
                  if event["agent"] == sees.agent]
        labels = tuple(label(item) for item in inputs[sees.call]) if (
            sees.call < len(inputs)) else ()
        if labels != sees.items:
            yield Violation("MODEL_INPUT_DIFFERS", run.where, f"model call {sees.call} of "
                            f"{sees.agent} sees {words(labels)}, expected {words(sees.items)}")


def _everything_given(run: PhaseRun) -> Iterator[Iterable[Item]]:
    for event in run.of("model_called"):
        yield event["input"]
    for event in run.of("result", "raised"):
        yield [entry["item"] for entry in event["new_items"] or () if "item" in entry]


CONTRACT = Contract(
    name="execution_outcome",
    promise="Each phase ends as the plan expects.",
    source="https://openai.github.io/openai-agents-python/running_agents/#the-agent-loop",
    codes={
        "PHASE_NOT_RUN": "a declared phase was not run, or its run never ended",
        "TIMEOUT": "the phase ran into its deadline, which was not expected",
        "OUTCOME_DIFFERS": "the phase ended in another way than expected",
        "ERROR_DIFFERS": "another exception was raised than expected",
        "FINAL_OUTPUT_DIFFERS": "the final output is not the expected one",
        "LAST_AGENT_DIFFERS": "another agent ended the run",
        "PENDING_DIFFERS": "other calls wait for a decision, or in another order",
        "TOOL_CALLS_DIFFER": "a tool was not started as often as expected",
        "MODEL_CALLS_DIFFER": "a model was not called as often as expected",
        "OUTPUTS_DIFFER": "a tool call has another output than expected",
        "SESSION_DIFFERS": "the session holds other items than expected",
        "MODEL_INPUT_DIFFERS": "a model call was given other items than expected",
        "SESSION_UNOBSERVED": "the session's content was not observed",
        "VALUE_DIFFERS": "a call gives another value than expected",
        "FEATURE_UNOBSERVED": "the release does not have what a call is about",
    },
    applies=lambda plan, seen: True,
    violations=_violations,
    of_calls=True,
    of_sent=True,
)
