"""From suspected steps to the decisions that `why` can ask about."""

from __future__ import annotations

from dataclasses import replace

from agentrunproof.localize.leads import Lead, lead, leads
from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Step
from tests.localize.made import answer, end, task, tool


def called(number: int, call: str) -> Step:
    return replace(answer(number, "I call."), call=call)


STEPS = (task(1, "Deploy; environment is production."), called(2, "m1"),
         tool(3, "write_config", by=2, path="config.yaml", environment="staging"),
         called(4, "m2"), tool(5, "pytest", "error", by=4, config="config.yaml"),
         called(6, "m3"), tool(7, "look", by=6), tool(8, "write_log", by=6),
         called(9, "m4"), answer(10, "Done."), tool(11, "look"), end(12, "raised"))
TRACE = Trace(STEPS)


def test_a_call_leads_to_the_model_call_that_asked_for_it_and_its_wrong_argument() -> None:
    target = "tool:write_config:environment=staging"
    assert lead(TRACE, 3) == Lead(3, "m1", target)
    assert lead(TRACE, 2) == Lead(2, "m1", target)


def test_a_call_whose_arguments_are_not_known_to_be_wrong_is_asked_about_by_its_tool() -> None:
    assert lead(TRACE, 5) == Lead(5, "m2", "tool:pytest")
    assert lead(TRACE, 8) == Lead(8, "m3", "tool:write_log")


def test_an_answer_with_several_calls_or_none_is_asked_about_as_it_was() -> None:
    assert lead(TRACE, 6) == Lead(6, "m3", "any")
    assert lead(TRACE, 9) == Lead(9, "m4", "any")


def test_what_no_known_model_call_is_behind_leads_nowhere() -> None:
    assert [lead(TRACE, number) for number in (1, 10, 11, 12)] == [None] * 4


def test_candidates_lead_to_each_decision_once_the_likeliest_first() -> None:
    found = list(leads(TRACE, localize(TRACE)))
    assert found[0].call == "m1"
    assert len({(one.call, one.target) for one in found}) == len(found)
    assert {one.call for one in found} >= {"m1", "m2"}
