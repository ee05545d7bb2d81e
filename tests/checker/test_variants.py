"""Runs of variants are judged from the bytes like the plan's own, against the plan derived anew."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from agentrunproof import canonical, checker
from agentrunproof.contracts import registry
from agentrunproof.plan.loader import load_text
from agentrunproof.record import certificate
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.document import id_of
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns
from tests.contracts.test_real_relations import APART, PLAN

pytestmark = pytest.mark.sdk

ALL = ["sync", "tracing", "state-string", "approval", "history"]


@cache
def authentic(text: str = APART) -> Certificate:
    from agentrunproof.api import run_scenario

    made: Certificate = run_scenario(("a-paid-call", load_text(text, "p"))).certificate
    return made


def rejudged(seen: Observation, text: str = APART) -> Certificate:
    made = authentic(text)
    plan, seen = certificate.as_recorded(made.plan, seen)
    checks = registry.judge(plan, seen)
    return dataclasses.replace(made, plan=plan, observation=seen, checks=checks,
                               verdict=registry.verdict(checks))  # type: ignore[arg-type]


def code(made: Certificate) -> str:
    return checker.check(certificate.to_bytes(made)).code


Events = list[dict[str, Any]]


def forged(name: str, edit: Callable[[Events], Any], phase: str = "pause", text: str = APART,
           **changes: str) -> Observation:
    """The observation with one run of a variant edited."""
    def varied(variant: VariantRuns) -> VariantRuns:
        runs = []
        for run in variant.runs:
            events = copy.deepcopy(list(run.events))
            if run.phase == phase:
                edit(events)
            run = PhaseRun(run.mode, run.phase, tuple(events))
            runs.append(dataclasses.replace(run, **changes))  # type: ignore[arg-type]
        return VariantRuns(variant.name, tuple(runs))

    seen = authentic(text).observation
    return dataclasses.replace(seen, variants=tuple(
        varied(one) if one.name == name else one for one in seen.variants))


def first(events: Events, kind: str) -> dict[str, Any]:
    return next(event for event in events if event["kind"] == kind)


def test_a_record_holds_every_variant_and_is_valid_in_both_profiles() -> None:
    from agentrunproof.record import private

    made = authentic()
    assert [variant.name for variant in made.observation.variants] == ALL
    assert (code(made), made.verdict) == ("OK", "PASS")
    plan, seen = private.cover(made.plan, made.observation, b"salt" * 8)
    checks = registry.judge(plan, seen)
    assert [(c.check, c.code) for c in checks] == [(c.check, c.code) for c in made.checks]
    assert code(dataclasses.replace(made, plan=plan, observation=seen, checks=checks,
                                    profile="private")) == "OK"


def test_what_variants_share_with_the_plan_stands_once() -> None:
    value = certificate.to_json(authentic())
    told = {variant["name"]: variant["runs"] for variant in value["variants"]}
    for name in ("sync", "tracing"):
        assert all(isinstance(event, list) for run in told[name] for event in run["events"])
    assert len(canonical.dumps(value["variants"])) < len(canonical.dumps(value["runs"])) * 2


def nothing(events: Events) -> None:
    pass


@pytest.mark.parametrize(("name", "phase", "edit", "expected"), [
    ("sync", "pause", lambda e: first(e, "model_responded").update(response_id="r"),
     "MODEL_ANSWER_DIFFERS"),
    ("approval", "pause", lambda e: first(e, "tool_finished").update(output="forged"),
     "TOOL_RESULT_DIFFERS"),
    ("approval", "pause", lambda e: e.insert(1, make("decision", call="p", approve=True)),
     "DECISIONS_DIFFER"),
    ("tracing", "pause", lambda e: e.append(make("span_finished", span=0, type="trace")),
     "SPANS_DIFFER"),
    ("state-string", "rest", lambda e: first(e, "state_restored").update(via="memory"),
     "RESUMPTION_DIFFERS"),
    ("history", "more", lambda e: first(e, "run_started").update(input=()), "RUN_INPUT"),
    ("history", "pause", lambda e: e.insert(1, make("session_read")), "RUN_END"),
    ("sync", "more", lambda e: first(e, "result").update(final_output="forged"),
     "FINAL_OUTPUT_UNEXPLAINED"),
])
def test_a_forged_run_of_a_variant_is_refused_by_the_rule_it_breaks(
        name: str, phase: str, edit: Callable[[Events], Any], expected: str) -> None:
    assert code(rejudged(forged(name, edit, phase))) == expected


def test_one_variant_of_several_phases_is_synchronous_untraced_and_without_hooks() -> None:
    made = authentic(PLAN)
    names = [variant.name for variant in made.observation.variants]
    assert names == ["hooks", *ALL[2:]]
    assert {run.mode for run in made.observation.variants[0].runs} == {"run_sync"}
    assert code(made) == "OK"
    for edit, expected in (
            (lambda e: e.insert(1, make("hook", scope="run", on="on_agent_start",
                                        agent="clerk")), "HOOK_UNKNOWN"),
            (lambda e: e.append(make("span_finished", span=0, type="trace")), "SPANS_DIFFER")):
        assert code(rejudged(forged("hooks", edit, text=PLAN), PLAN)) == expected
    assert code(rejudged(forged("hooks", nothing, text=PLAN, mode="run"), PLAN)) == "RUNS_DIFFER"


def test_a_variant_runs_in_its_own_mode_and_whole() -> None:
    assert code(rejudged(forged("sync", nothing, mode="run"))) == "RUNS_DIFFER"
    seen = authentic().observation
    cut = dataclasses.replace(seen, variants=tuple(
        VariantRuns(one.name, one.runs[:1]) for one in seen.variants))
    assert code(rejudged(cut)) == "RUNS_DIFFER"


@pytest.mark.parametrize("names", [
    [], ALL[:-1], ALL[1:], ["tracing", "sync", *ALL[2:]], [*ALL, "more"],
    ["sink", *ALL[1:]],
])
def test_no_variant_is_left_out_added_renamed_or_moved(names: list[str]) -> None:
    seen = authentic().observation
    runs = {variant.name: variant.runs for variant in seen.variants}
    other = tuple(VariantRuns(name, runs.get(name, seen.variants[0].runs)) for name in names)
    assert code(rejudged(dataclasses.replace(seen, variants=other))) == "VARIANTS_DIFFER"


def test_a_variant_that_came_to_something_else_fails_its_relation_and_no_other() -> None:
    def less(events: Events) -> None:
        usage = first(events, "usage")
        usage.update(requests=0, input=0, output=0, total=0, entries=None)

    seen = forged("tracing", less)
    made = rejudged(seen)
    assert {c.check: c.code for c in made.checks if c.verdict != "PASS"} == {
        "relation_tracing": "USAGES_DIFFER"}
    assert code(made) == "OK"
    assert code(dataclasses.replace(made, checks=authentic().checks,
                                    verdict="PASS")) == "CHECKS_DIFFER"


def test_runs_are_not_told_otherwise_than_by_what_they_share() -> None:
    value = copy.deepcopy(certificate.to_json(authentic()))
    (span,) = value["variants"][0]["runs"][0]["events"]
    value["variants"][0]["runs"][0]["events"] = [[span[0], 1], [2, span[1]]]
    data = canonical.dumps(value | {"id": id_of(value)})
    assert checker.check(data).code == "RECORD_LIKENESS"


def test_nothing_is_run_after_a_run_that_passed_its_deadline() -> None:
    seen = authentic().observation
    began = tuple(event for event in seen.runs[0].events if event["kind"] == "run_started")
    late = PhaseRun("run", "pause", (*began, make("run_finished", outcome="timeout")))
    made = rejudged(Observation((late,)))
    assert (code(made), made.verdict) == ("OK", "FAIL")
    assert code(rejudged(Observation((late,), variants=seen.variants))) == "VARIANTS_DIFFER"
    *others, last = seen.variants
    cut = (*others, VariantRuns(last.name, (late,)))
    made = rejudged(dataclasses.replace(seen, variants=cut))
    assert code(made) == "OK"
    assert {c.check: c.verdict for c in made.checks}["relation_history"] == "FAIL"


def test_a_record_from_before_there_were_variants_is_still_read() -> None:
    value = certificate.to_json(authentic())
    del value["variants"]
    old = certificate.from_json(value | {"id": id_of(value)})
    assert old.observation.variants == ()
    assert not any(c.check.startswith("relation_")
                   for c in registry.judge(old.plan, old.observation))
