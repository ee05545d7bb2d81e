from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentrunproof.errors import RecordError
from agentrunproof.record.certificate import Certificate
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns
from agentrunproof.record.result import CheckResult
from agentrunproof.report.difference import compare, lines
from tests.plans import certificate, greeting

HI = {"role": "user", "content": "Hi"}
HO = {"role": "user", "content": "Ho"}
START = make("run_started", agent="greeter", input=[HI])
END = make("run_finished", outcome="completed")


def test_a_certificate_does_not_differ_from_itself() -> None:
    same = certificate(START, END)
    found = compare(same, same)
    assert not found
    assert found.to_json() == {"same": True, "checks": []}
    assert lines(found, "a", "b") == ["no difference in what was observed"]


def test_the_first_differing_field_is_named_with_both_values() -> None:
    found = compare(certificate(START, END),
                    certificate(make("run_started", agent="greeter", input=[HO]), END))
    assert found.to_json() == {
        "same": False, "checks": [],
        "divergence": {"mode": "run", "phase": "only", "event": 0, "kind": "run_started",
                       "field": "input[0].content", "a": "Hi", "b": "Ho"}}
    assert lines(found, "old.json", "new.json") == [
        "a: old.json", "b: new.json",
        "first divergence: run/only, event 0 (run_started), input[0].content",
        '  a: "Hi"', '  b: "Ho"']


def test_an_item_that_one_side_lacks_is_a_difference() -> None:
    found = compare(certificate(START), certificate(
        make("run_started", agent="greeter", input=[HI, HO])))
    assert found.divergence is not None
    assert (found.divergence.field, found.divergence.a, found.divergence.b) == (
        "input[1]", None, HO)


def test_true_is_not_one() -> None:
    found = compare(certificate(make("model_called", agent="greeter", settings={"store": True})),
                    certificate(make("model_called", agent="greeter", settings={"store": 1})))
    assert found.divergence is not None
    assert found.divergence.field == "settings.store"


def test_an_event_that_one_side_lacks_is_told_with_its_side() -> None:
    found = compare(certificate(START, END), certificate(START))
    assert found.divergence is not None
    assert (found.divergence.event, found.divergence.kind, found.divergence.field) == (
        1, "run_finished", "")
    assert "event 1 is only in a: run_finished" in "\n".join(lines(found, "x", "y"))


def test_a_run_that_one_side_lacks_is_told_with_its_side() -> None:
    whole = certificate(START)
    more = replace(whole, observation=Observation(
        (*whole.observation.runs, PhaseRun("run_streamed", "only", (START,)))))
    told = lines(compare(whole, more), "x", "y")
    assert "first divergence: run_streamed/only was run only in b" in told


def test_a_variants_run_is_told_by_the_variants_name() -> None:
    def with_variant(*events: dict[str, object]) -> Certificate:
        made = certificate(START, END)
        varied = VariantRuns("hooks", (PhaseRun("run", "only", events),))
        return replace(made, observation=replace(made.observation, variants=(varied,)))

    found = compare(with_variant(START, END), with_variant(START))
    assert found.divergence is not None
    assert (found.divergence.mode, found.divergence.event) == ("hooks", 1)
    assert "hooks/only was run only in a" in "\n".join(
        lines(compare(with_variant(START), certificate(START, END)), "x", "y"))


def test_checks_that_differ_are_listed_whether_or_not_events_do() -> None:
    linkage = CheckResult("tool_linkage", "PASS", "OK")
    found = compare(
        certificate(END, checks=[linkage, CheckResult("usage_sum", "PASS", "OK")]),
        certificate(END, checks=[CheckResult("tool_linkage", "FAIL", "LOST"),
                                 CheckResult("hook_order", "PASS", "OK")]))
    assert found.divergence is None
    assert found.checks == (("tool_linkage", "PASS OK", "FAIL LOST"),
                            ("usage_sum", "PASS OK", "absent"),
                            ("hook_order", "absent", "PASS OK"))


def test_what_only_one_release_lacks_is_told() -> None:
    found = compare(certificate(missing=("run-state",), verdict="UNTESTABLE"), certificate(END))
    assert found.to_json()["missing"] == {"a": ["run-state"], "b": []}
    assert "  a lacks: run-state" in lines(found, "x", "y")


def test_certificates_of_different_plans_are_not_compared() -> None:
    with pytest.raises(RecordError) as caught:
        compare(certificate(END), certificate(END, plan=replace(greeting(), revision=2)))
    assert caught.value.code == "DIFF_OTHER_PLAN"


def test_a_private_certificate_is_not_compared() -> None:
    public = certificate(END)
    with pytest.raises(RecordError) as caught:
        compare(public, replace(public, profile="private"))
    assert caught.value.code == "DIFF_PRIVATE"


def test_the_table_is_json() -> None:
    found = compare(certificate(START), certificate(END))
    assert json.loads(json.dumps(found.to_json()))["divergence"]["field"] == "kind"
