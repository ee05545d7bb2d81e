"""Coordinated forgeries of certificates: each kind makes a record that is consistent with itself.

Each function yields forged certificates from an authentic one; its name is the kind, its
docstring what is forged.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

from forging import Events, drop, each, edited, everywhere, forgery, judged, put, texts_of

from agentrunproof.contracts import registry
from agentrunproof.plan.model import ExpectedOutcome
from agentrunproof.plan.variants import variants
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, VariantRuns


@forgery
def final_output_invented(made: Certificate) -> Iterator[Certificate]:
    """Another final output, in the result and in the hooks."""
    for text in texts_of(made, "result", "final_output"):
        def apply(_: str, events: Events, text: str = text) -> Events:
            for event in events:
                if event["kind"] == "result" and event["final_output"] == text:
                    event["final_output"] = "Forged."
                if event["kind"] == "hook" and event["output"] == text:
                    event["output"] = "Forged."
            return events
        forged = edited(made, apply)
        if forged:
            yield forged


@forgery
def model_text_altered(made: Certificate) -> Iterator[Certificate]:
    """Another text of a model's answer, wherever it stands."""
    texts = {item.say for phase in made.plan.phases for steps in phase.script.values()
             for step in steps for item in step.output if item.say}
    for text in sorted(texts):
        forged = everywhere(made, text, text + " Really.")
        if forged:
            yield forged


@forgery
def tool_result_altered(made: Certificate) -> Iterator[Certificate]:
    """Another result of a tool, wherever it stands."""
    for text in texts_of(made, "tool_finished", "output"):
        for new in (text + "0", "forged"):
            forged = everywhere(made, text, new)
            if forged:
                yield forged


@forgery
def tool_arguments_altered(made: Certificate) -> Iterator[Certificate]:
    """Other arguments of a call, wherever they stand."""
    for text in texts_of(made, "tool_started", "arguments"):
        forged = everywhere(made, text, text.replace("}", " }") if text != "{}" else '{"x":1}')
        if forged:
            yield forged


@forgery
def execution_removed(made: Certificate) -> Iterator[Certificate]:
    """A tool was never run: its events and hooks are gone."""
    calls = {(e["parent"], e["call"]) for r in made.observation.runs for e in r.of("tool_started")}
    for parent, call in sorted(calls):
        forged = edited(made, lambda _, events, at=(parent, call): [
            event for event in events if (event.get("parent"), event.get("call")) != at
            or event["kind"] in ("interruption", "decision")])
        if forged:
            yield forged


@forgery
def execution_repeated(made: Certificate) -> Iterator[Certificate]:
    """A tool was run twice."""
    def twice(events: Events, at: int) -> None:
        events[at + 1:at + 1] = [copy.deepcopy(events[at - 1]), copy.deepcopy(events[at])]
    yield from each(made, "tool_finished", twice)


@forgery
def call_removed(made: Certificate) -> Iterator[Certificate]:
    """The model never made a call: it is gone from answers, inputs, results and session."""
    calls = sorted({item["call_id"] for run in made.observation.runs
                    for event in run.of("model_responded") for item in event["output"]
                    if item.get("call_id")})
    for call in calls:
        def without(value: Any, call: str = call) -> Any:
            if isinstance(value, list | tuple):
                return type(value)(without(item) for item in value if not (
                    isinstance(item, dict) and (item.get("call_id") == call or (
                        isinstance(item.get("item"), dict)
                        and item["item"].get("call_id") == call))))
            return value

        forged = edited(made, lambda _, events, call=call, without=without: [
            {key: without(value) for key, value in event.items()} for event in events
            if event.get("call") != call and not (
                isinstance(event.get("item"), dict) and event["item"].get("call_id") == call)])
        if forged:
            yield forged


@forgery
def mode_dropped(made: Certificate) -> Iterator[Certificate]:
    """A mode was not run, with and without the plan saying so."""
    for mode in made.plan.modes if len(made.plan.modes) > 1 else ():
        seen = dataclasses.replace(made.observation, runs=tuple(
            run for run in made.observation.runs if run.mode != mode))
        plan = dataclasses.replace(
            made.plan, modes=tuple(m for m in made.plan.modes if m != mode))
        due = {variant.name for variant in variants(plan)}
        yield judged(made, seen=seen)
        yield judged(made, plan=plan, seen=dataclasses.replace(seen, variants=tuple(
            varied for varied in seen.variants if varied.name in due)))


@forgery
def phase_dropped(made: Certificate) -> Iterator[Certificate]:
    """A phase was not run, with and without the plan saying so."""
    for phase in made.plan.phases if len(made.plan.phases) > 1 else ():
        seen = dataclasses.replace(
            made.observation,
            runs=tuple(run for run in made.observation.runs if run.phase != phase.id),
            variants=tuple(VariantRuns(varied.name, tuple(
                run for run in varied.runs if run.phase != phase.id))
                for varied in made.observation.variants))
        plan = dataclasses.replace(
            made.plan, phases=tuple(p for p in made.plan.phases if p is not phase))
        yield judged(made, seen=seen)
        if not any(phase.id in (other.resume and other.resume.from_, other.input
                                and other.input.follow) for other in made.plan.phases):
            yield judged(made, plan=plan, seen=seen)


@forgery
def expectation_relaxed(made: Certificate) -> Iterator[Certificate]:
    """The plan expects less, so a failure passes."""
    for n, phase in enumerate(made.plan.phases):
        for expect in (ExpectedOutcome(outcome=phase.expect.outcome),
                       dataclasses.replace(phase.expect, final_output=None, tool_calls=None)):
            phases = list(made.plan.phases)
            phases[n] = dataclasses.replace(phase, expect=expect)
            if expect != phase.expect:
                yield judged(made, plan=dataclasses.replace(made.plan, phases=tuple(phases)))


@forgery
def check_dropped(made: Certificate) -> Iterator[Certificate]:
    """A check is not reported; the verdict follows from the others."""
    for check in made.checks:
        rest = tuple(other for other in made.checks if other is not check)
        yield dataclasses.replace(made, checks=rest,
                                  verdict=registry.verdict(rest, made.observation.missing))


@forgery
def check_turned(made: Certificate) -> Iterator[Certificate]:
    """A check says the opposite; the verdict follows."""
    for check in made.checks:
        other = dataclasses.replace(check, verdict="PASS", code="OK", where="", detail="", also=0)
        if check.verdict == "PASS":
            other = dataclasses.replace(check, verdict="FAIL", code="FORGED", where="run/only")
        rest = tuple(other if old is check else old for old in made.checks)
        yield dataclasses.replace(made, checks=rest, verdict=registry.verdict(rest))


@forgery
def verdict_turned(made: Certificate) -> Iterator[Certificate]:
    """Another verdict over the same checks."""
    for verdict in ("PASS", "FAIL", "UNTESTABLE", "ERROR"):
        if verdict != made.verdict:
            yield dataclasses.replace(made, verdict=verdict)


@forgery
def failure_turned_to_success(made: Certificate) -> Iterator[Certificate]:
    """A run that raised, paused or timed out has completed."""
    yield from each(made, "run_finished", put(outcome="completed"),
                    lambda event: event["outcome"] != "completed")

    def completes(events: Events, at: int) -> None:
        raised = events[at]
        agent = raised["last_agent"] or events[0].get("agent", "")
        events[at] = make("result", last_agent=agent, final_output="",
                          new_items=raised["new_items"] or (), responses=raised["responses"] or ())
        for event in events:
            if event["kind"] == "run_finished":
                event["outcome"] = "completed"
    yield from each(made, "raised", completes)


@forgery
def success_turned_to_failure(made: Certificate) -> Iterator[Certificate]:
    """A run that completed has raised."""
    def raises(events: Events, at: int) -> None:
        result = events[at]
        events[at] = make("raised", error={"type": "UserError", "message": "forged"},
                          new_items=result["new_items"], responses=result["responses"],
                          last_agent=result["last_agent"])
        for event in events:
            if event["kind"] == "run_finished":
                event["outcome"] = "raised"
    yield from each(made, "result", raises)


@forgery
def usage_altered(made: Certificate) -> Iterator[Certificate]:
    """Other figures: of the run alone, and of an answer with the run's sum."""
    for field in ("input", "output"):
        yield from each(made, "usage", put(**{field: lambda n: n + 7, "total": lambda n: n + 7}))
    yield from each(made, "usage", put(requests=lambda n: n + 1))

    def cheaper(events: Events, at: int) -> None:
        events[at]["usage"] = events[at]["usage"] | {"input": 1}
        for event in events:
            if event["kind"] == "usage":
                event["input"] -= 9
                event["total"] -= 9
    yield from each(made, "model_responded", cheaper)


@forgery
def hook_removed(made: Certificate) -> Iterator[Certificate]:
    """A hook was not called."""
    yield from each(made, "hook", drop)


@forgery
def hook_altered(made: Certificate) -> Iterator[Certificate]:
    """A hook was called for another agent, tool or output."""
    yield from each(made, "hook", put(agent=lambda name: name + "x"))
    yield from each(made, "hook", put(output="forged"), lambda event: event["output"])
    yield from each(made, "hook", put(on="on_agent_end"), lambda e: e["on"] == "on_llm_end")


@forgery
def span_altered(made: Certificate) -> Iterator[Certificate]:
    """A span of another name, without its parent, or left open."""
    yield from each(made, "span_finished", put(name="forged"))
    yield from each(made, "span_finished", put(parent=0), lambda e: (e["parent"] or 0) > 0)
    yield from each(made, "span_finished", put(kind="span_started"))


@forgery
def span_removed(made: Certificate) -> Iterator[Certificate]:
    """A span is gone; the others are numbered anew."""
    def gone(events: Events, at: int) -> None:
        number, parent = events[at]["span"], events[at]["parent"]
        del events[at]
        for event in events:
            if event["kind"].startswith("span_"):
                if event["parent"] == number:
                    event["parent"] = parent
                elif event["parent"] is not None and event["parent"] > number:
                    event["parent"] -= 1
                event["span"] -= event["span"] > number
    yield from each(made, "span_finished", gone)


@forgery
def session_write_hidden(made: Certificate) -> Iterator[Certificate]:
    """Something was never written to the session: neither written nor read later."""
    def hide(events: Events, at: int) -> None:
        lost = list(events[at]["items"])
        del events[at]
        for event in events[at:]:
            if event["kind"] == "session_read":
                event["items"] = tuple(item for item in event["items"] if item not in lost)
    yield from each(made, "session_written", hide)


@forgery
def session_item_added(made: Certificate) -> Iterator[Certificate]:
    """Something was written to the session that nobody said."""
    def add(events: Events, at: int) -> None:
        item = {"role": "user", "content": "Forged."}
        events[at]["items"] = (*events[at]["items"], item)
        for event in events[at + 1:]:
            if event["kind"] == "session_read":
                event["items"] = (*event["items"], item)
    yield from each(made, "session_written", add)


@forgery
def decision_turned(made: Certificate) -> Iterator[Certificate]:
    """An approval was a rejection, or the other way round, or was for always."""
    yield from each(made, "decision", put(approve=lambda value: not value))
    yield from each(made, "decision", put(always=lambda value: not value))
    yield from each(made, "decision", drop)


@forgery
def interruption_altered(made: Certificate) -> Iterator[Certificate]:
    """A call did not wait for a decision, or another one did."""
    yield from each(made, "interruption", drop)
    yield from each(made, "interruption", put(call="forged"))
    yield from each(made, "state_saved", put(pending=()), lambda e: e["pending"])
    yield from each(made, "state_restored", put(pending=("forged",)))


@forgery
def state_altered(made: Certificate) -> Iterator[Certificate]:
    """A restored state was the same, or was another, or took another way."""
    yield from each(made, "state_restored", put(changed=()), lambda e: e["changed"])
    yield from each(made, "state_restored", put(changed=("/forged",)))
    yield from each(made, "state_restored", put(via=lambda via: (
        "json" if via == "memory" else "memory")))
    yield from each(made, "state_saved", drop)


@forgery
def release_swapped(made: Certificate) -> Iterator[Certificate]:
    """Another release ran; its files are still those of the real one."""
    for version in ("0.8.0", "0.20.0", "0.24.0", "0.99.0"):
        if version != made.producer.sdk.version:
            sdk = dataclasses.replace(made.producer.sdk, version=version)
            yield dataclasses.replace(
                made, producer=dataclasses.replace(made.producer, sdk=sdk))


@forgery
def plan_renamed(made: Certificate) -> Iterator[Certificate]:
    """A packaged plan under another id, packaged or not."""
    for scenario in ("forged-scenario", "basic-tool-session-parity", "unknown-tool"):
        if scenario != made.scenario:
            yield dataclasses.replace(made, scenario=scenario)


@forgery
def revision_bumped(made: Certificate) -> Iterator[Certificate]:
    """The plan claims another revision."""
    for step in (1, 98):
        yield judged(made, plan=dataclasses.replace(
            made.plan, revision=made.plan.revision + step))


@forgery
def plan_and_observation_altered(made: Certificate) -> Iterator[Certificate]:
    """Script and observation are altered alike, under the same id."""
    for n, phase in enumerate(made.plan.phases):
        for agent, steps in phase.script.items():
            for s, step in enumerate(steps):
                for i, item in enumerate(step.output):
                    if not item.say:
                        continue
                    new = dataclasses.replace(item, say=item.say + "!")
                    output = (*step.output[:i], new, *step.output[i + 1:])
                    script = dict(phase.script)
                    script[agent] = (*steps[:s], dataclasses.replace(step, output=output),
                                     *steps[s + 1:])
                    phases = list(made.plan.phases)
                    phases[n] = dataclasses.replace(phase, script=script)
                    forged = everywhere(made, item.say, item.say + "!")
                    if forged:
                        yield judged(made, plan=dataclasses.replace(
                            made.plan, phases=tuple(phases)), seen=forged.observation)


@forgery
def model_call_removed(made: Certificate) -> Iterator[Certificate]:
    """A model was never called: call and answer are gone."""
    def gone(events: Events, at: int) -> None:
        lane = (events[at]["agent"], events[at]["parent"])
        answer = next((n for n in range(at + 1, len(events)) if events[n]["kind"] in (
            "model_responded", "model_failed")
            and (events[n]["agent"], events[n]["parent"]) == lane), None)
        if answer is not None:
            del events[answer]
        del events[at]
    yield from each(made, "model_called", gone)


@forgery
def model_input_altered(made: Certificate) -> Iterator[Certificate]:
    """A model was given less, more, or in another order."""
    yield from each(made, "model_called", put(input=lambda items: items[1:]),
                    lambda event: len(event["input"]) > 0)
    yield from each(made, "model_called", put(input=lambda items: items[::-1]),
                    lambda event: len(event["input"]) > 1)
    yield from each(made, "model_called", put(input=lambda items: (
        *items, {"role": "user", "content": "Forged."})))


@forgery
def model_settings_altered(made: Certificate) -> Iterator[Certificate]:
    """A model was called with other instructions, tools, handoffs or settings."""
    for fields in ({"instructions": "Forged."}, {"tools": ("forged",)}, {"handoffs": ("forged",)},
                   {"settings": {"temperature": "0.7"}}, {"output_type": "forged"}):
        yield from each(made, "model_called", put(**fields))


@forgery
def answer_altered(made: Certificate) -> Iterator[Certificate]:
    """A model's answer has another response id, agent, or fewer items."""
    yield from each(made, "model_responded", put(response_id="resp-forged"))
    yield from each(made, "model_responded", put(output=lambda items: items[1:]),
                    lambda event: event["output"])


@forgery
def result_item_dropped(made: Certificate) -> Iterator[Certificate]:
    """The result lacks an item: in new items, history and responses."""
    for place in (0, -1):
        def shorter(events: Events, at: int, place: int = place) -> None:
            result = events[at]
            item = result["new_items"][place].get("item")
            result["new_items"] = tuple(e for e in result["new_items"] if e.get("item") != item)
            result["history"] = tuple(i for i in result["history"] if i != item)
        yield from each(made, "result", shorter, lambda event: event["new_items"])


@forgery
def last_agent_altered(made: Certificate) -> Iterator[Certificate]:
    """Another agent ended the run."""
    for agent in [*made.plan.agents, "forged"]:
        yield from each(made, "result", put(last_agent=agent),
                        lambda event, agent=agent: event["last_agent"] != agent)


@forgery
def stream_altered(made: Certificate) -> Iterator[Certificate]:
    """The stream brought less, more, or another text."""
    yield from each(made, "stream_event", drop)
    yield from each(made, "stream_event", put(text=lambda text: text + "!"),
                    lambda event: event["text"])

    def twice(events: Events, at: int) -> None:
        events.insert(at, copy.deepcopy(events[at]))
    yield from each(made, "stream_event", twice)


@forgery
def guardrail_altered(made: Certificate) -> Iterator[Certificate]:
    """A guardrail decided otherwise, or was not asked."""
    yield from each(made, "guardrail_checked", put(tripped=lambda value: not value))
    yield from each(made, "guardrail_checked", put(behavior="raise_exception"),
                    lambda event: event["behavior"])
    yield from each(made, "guardrail_checked", drop)


@forgery
def handoff_altered(made: Certificate) -> Iterator[Certificate]:
    """A handoff did not happen, or went to another agent."""
    yield from each(made, "handoff", drop)
    yield from each(made, "handoff", put(to="forged"))


@forgery
def leak_altered(made: Certificate) -> Iterator[Certificate]:
    """A leaked task is hidden, or one is invented."""
    yield from each(made, "task_leaked", drop)

    def leaks(events: Events, at: int) -> None:
        events.insert(at, {"kind": "task_leaked", "name": "forged"})
    yield from each(made, "usage", leaks)


@forgery
def error_altered(made: Certificate) -> Iterator[Certificate]:
    """Another exception ended the run or a tool."""
    for kind in ("raised", "tool_failed", "model_failed"):
        yield from each(made, kind, put(error=lambda error: error | {"message": "forged"}))
        yield from each(made, kind, put(error=lambda error: error | {"type": "ValueError"}))


@forgery
def untestable_claimed(made: Certificate) -> Iterator[Certificate]:
    """The release is said to lack what the plan needs, so nothing was run."""
    for name in ("run-state", "session", "tool-timeout", "structured-output"):
        if not made.observation.missing:
            yield judged(made, seen=Observation((), (name,)))


@forgery
def order_altered(made: Certificate) -> Iterator[Certificate]:
    """Two events in a row happened the other way round."""
    for kind in ("model_called", "tool_finished", "session_written", "hook"):
        def swap(events: Events, at: int) -> None:
            events[at - 1], events[at] = events[at], events[at - 1]
        yield from each(made, kind, swap)


@forgery
def variant_left_out(made: Certificate) -> Iterator[Certificate]:
    """A variant was not run, with and without the plan saying why."""
    seen = made.observation
    for left_out in seen.variants:
        kept = dataclasses.replace(seen, variants=tuple(
            varied for varied in seen.variants if varied is not left_out))
        yield judged(made, seen=kept)
        relation = left_out.name.split("-")[0]
        yield judged(made, seen=kept, plan=dataclasses.replace(
            made.plan, relations={**made.plan.relations, relation: "It may differ."}))


@forgery
def variant_altered(made: Certificate) -> Iterator[Certificate]:
    """One variant came to something else than the plan."""
    for altered in made.observation.variants:
        for kind, change in (("usage", put(input=lambda count: count + 1)),
                             ("result", put(final_output="forged")), ("result", drop),
                             ("model_called", put(input=())), ("tool_started", drop)):
            alone = dataclasses.replace(made, observation=Observation(altered.runs))
            for forged in each(alone, kind, change):
                changed = VariantRuns(altered.name, forged.observation.runs)
                yield judged(made, seen=dataclasses.replace(made.observation, variants=tuple(
                    changed if varied is altered else varied
                    for varied in made.observation.variants)))
