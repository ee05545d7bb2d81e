"""What a contract judges only where a plan asks for it, or forces the order of things."""

from __future__ import annotations

import dataclasses

import pytest

from agentrunproof.contracts.registry import judge
from agentrunproof.plan.model import HookDelay, Plan, Run
from agentrunproof.record.observation import Observation
from tests.contracts import flow_worlds, worlds
from tests.contracts.damage import both, change, drop, less, on
from tests.contracts.worlds import World

ASKED = ("error-run-data",)


def _code(check: str, plan: Plan, seen: Observation) -> str:
    return next(result.code for result in judge(plan, seen) if result.check == check)


def _asking(world: World, requires: tuple[str, ...] = ASKED) -> World:
    return dataclasses.replace(world[0], requires=requires), world[1]


@pytest.mark.parametrize(("stage", "error"), [
    ("input", "InputGuardrailTripwireTriggered"), ("output", "OutputGuardrailTripwireTriggered")])
def test_a_tripwire_without_any_data_lost_the_results_where_a_plan_asks(
        stage: str, error: str) -> None:
    untold = on("one", change("raised", guardrails=None))
    plan, seen = flow_worlds.tripped(stage, error)
    assert _code("guardrail_results", plan, untold(seen)) == "OK"
    assert _code("guardrail_results", *_asking((plan, untold(seen)))) == "GUARDRAIL_RESULT_LOST"
    assert _code("guardrail_results", *_asking((plan, seen))) == "OK"


def test_another_exception_without_data_is_not_judged_by_guardrail_results() -> None:
    plan, seen = flow_worlds.tripped("output", "OutputGuardrailTripwireTriggered")
    other = on("one", change("raised", guardrails=None,
                             error={"type": "ValueError", "message": ""}))
    assert _code("guardrail_results", *_asking((plan, other(seen)))) == "OK"


def test_the_response_of_the_turn_that_failed_is_told_where_a_plan_asks() -> None:
    plan, seen = worlds.failing()
    lost = on("one", change("raised", responses=less(-1)))(seen)
    assert _code("response_linkage", plan, lost) == "OK"
    assert _code("response_linkage", *_asking((plan, lost))) == "RESPONSES_DIFFER"
    assert _code("response_linkage", *_asking((plan, seen))) == "OK"
    untold = on("one", change("raised", responses=None, new_items=None))(seen)
    assert _code("response_linkage", *_asking((plan, untold))) == "OK"


def test_a_guardrail_that_ends_a_run_leaves_an_error_on_the_span_of_its_agent() -> None:
    plan, marked = worlds.failing(error="GuardrailFailure")
    seen = on("one", change("span_finished", match={"type": "agent"}, error=""))(marked)
    assert _code("span_tree", plan, seen) == "SPAN_WITHOUT_ERROR"
    assert _code("span_tree", plan, marked) == "OK"
    detail = next(result.detail for result in judge(plan, seen) if result.check == "span_tree")
    assert detail.startswith("a guardrail ended the run")


@pytest.mark.parametrize("error", ["CancelledError", "ModelBehaviorError"])
def test_what_no_failure_of_the_agent_is_needs_no_error_on_its_span(error: str) -> None:
    plan, seen = worlds.failing(error=error)
    assert _code("span_truth", plan, seen) == "OK"


def test_a_tripwire_may_be_told_on_any_span() -> None:
    plan, marked = worlds.failing(error="InputGuardrailTripwireTriggered")
    seen = on("one", change("span_finished", match={"type": "agent"}, error=""))(marked)
    below = on("one", change("span_finished", match={"type": "function"}, error="trip"))(seen)
    assert _code("span_truth", plan, seen) == "SPAN_UNMARKED"
    assert _code("span_truth", plan, below) == "OK"


def test_a_tool_is_announced_though_a_filter_took_it_from_the_new_items() -> None:
    plan, seen = worlds.handoff(filtered=True)
    hidden = on("one", both(
        drop("stream_event", type="item", name="tool_output"),
        change("result", new_items=lambda items: tuple(
            one for one in items if one["item"].get("call_id") != "c1"))), "run_streamed")(seen)
    assert _code("stream_complete", plan, seen) == "OK"
    assert _code("stream_complete", plan, hidden) == "STREAM_ITEM_MISSING"


@pytest.mark.parametrize(("late", "blocking", "waits", "code"), [
    ("on_agent_start", False, False, "MODEL_CALLED_AFTER_TRIP"),
    ("on_llm_start", False, False, "MODEL_CALLED_AFTER_TRIP"),
    ("on_agent_end", False, False, "OK"), (None, False, False, "OK"),
    ("on_agent_start", False, True, "OK"), (None, True, False, "MODEL_CALLED_AFTER_TRIP")])
def test_no_model_is_called_after_a_tripwire_that_must_have_come_before(
        late: str | None, blocking: bool, waits: bool, code: str) -> None:
    plan, seen = worlds.blocked(called=True)
    delay = None if late is None else HookDelay(on=late, delay="1")  # type: ignore[arg-type]
    guardrail = dataclasses.replace(plan.guardrails["in"], blocking=blocking,
                                    delay="2" if waits else None)
    plan = dataclasses.replace(plan, run=Run(hooks="none", tracing=False, hook_delay=delay),
                               guardrails={"in": guardrail})
    assert _code("guardrail_before_effect", plan, seen) == code
