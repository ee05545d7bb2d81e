"""The private profile: payloads are covered, names and equality stay."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrunproof import canonical
from agentrunproof.plan import catalog, rules
from agentrunproof.plan.model import Call, ExpectedOutcome, Phase, Plan
from agentrunproof.record import private, table
from agentrunproof.record.events import make
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.shape import fields_of

SALT = b"salt" * 8
SECRET = "a secret of nobody else"
ITEM = {"type": "message", "role": "assistant", "id": "m-1", "status": "completed",
        "content": [{"type": "output_text", "text": SECRET, "annotations": []}]}
CALL = {"type": "function_call", "call_id": "c-1", "name": "charge",
        "arguments": json.dumps({"note": SECRET, "amount": 64, "ok": True, "all": [SECRET]})}
OUTPUT = {"type": "function_call_output", "call_id": "c-1", "output": SECRET}

EVENTS = (
    make("run_started", agent="a", input=({"role": "user", "content": SECRET},)),
    make("model_called", agent="a", input=(ITEM, CALL, OUTPUT), instructions=SECRET,
         tools=("charge",)),
    make("tool_started", tool="charge", call="c-1", arguments=CALL["arguments"]),
    make("tool_finished", tool="charge", call="c-1", output=SECRET),
    make("tool_failed", tool="charge", call="c-1", error={"type": "E", "message": SECRET}),
    make("hook", scope="run", on="on_tool_end", agent="a", tool="charge", output=SECRET),
    make("stream_event", type="raw", name="response.output_text.delta", text=SECRET),
    make("interruption", call="c-1", tool="charge", arguments=CALL["arguments"]),
    make("decision", call="c-1", approve=False, message=SECRET),
    make("span_finished", span=0, type="agent", error=SECRET),
    make("result", last_agent="a", final_output=SECRET, history=(ITEM,),
         new_items=({"type": "message_output_item", "agent": "a", "item": ITEM},),
         responses=((ITEM,),)),
    make("raised", error={"type": "UserError", "message": SECRET}),
)


def _covered(salt: bytes = SALT) -> tuple[Any, ...]:
    plan = catalog.load("basic-tool-session-parity")
    _, seen = private.cover(plan, Observation((PhaseRun("run", "only", EVENTS),)), salt)
    return seen.runs[0].events


def test_no_payload_is_left_in_any_event() -> None:
    text = json.dumps(_covered())
    assert SECRET not in text
    assert "64" not in json.loads(_covered()[2]["arguments"]).values()
    for name in ("charge", "c-1", "on_tool_end", "UserError", "m-1", "completed"):
        assert name in text


def test_equal_payloads_stay_equal_wherever_they_stand() -> None:
    events = _covered()
    digest = events[0]["input"][0]["content"]
    assert digest.startswith("sha256:")
    assert {events[1]["instructions"], events[3]["output"], events[5]["output"],
            events[6]["text"], events[8]["message"], events[10]["final_output"],
            events[1]["input"][2]["output"], events[1]["input"][0]["content"][0]["text"],
            json.loads(events[2]["arguments"])["note"]} == {digest}
    assert events[1]["input"][1]["arguments"] == events[2]["arguments"]


def test_arguments_stay_json_of_the_same_types_and_layout() -> None:
    cover = private._Cover(SALT)
    text = '{ "a": "x",\n"b" : 12, "c": -1.5e3, "d": [true, null, "\\"q\\""], "e": {"f": ""} }'
    value = json.loads(cover.arguments(text))
    assert list(value) == ["a", "b", "c", "d", "e"]
    assert isinstance(value["b"], int)
    assert value["b"] != 12
    assert value["d"][:2] == [True, None]
    assert value["e"] == {"f": ""}
    assert cover.arguments(text).startswith('{ "a": "sha256:')
    assert cover.arguments("{bad").startswith("sha256:")


@given(st.text(min_size=1), st.text(min_size=1), st.binary(min_size=32, max_size=32))
def test_only_equal_texts_have_equal_digests(a: str, b: str, salt: bytes) -> None:
    cover = private._Cover(salt)
    texts = [text.encode("utf-8", "replace").decode() for text in (a, b)]
    assert (cover.text(texts[0]) == cover.text(texts[1])) == (texts[0] == texts[1])


def test_another_salt_gives_other_digests() -> None:
    assert _covered()[3] != _covered(b"other" * 8)[3]


@pytest.mark.parametrize("id", catalog.ids())
def test_every_packaged_plan_is_covered_and_still_a_plan(id: str) -> None:
    plan = catalog.load(id)
    covered = private.cover_plan(plan, SALT)
    rules.check(covered)
    assert Plan.from_json(canonical.parse(canonical.dumps(covered.to_json()))) == covered
    text = json.dumps(covered.to_json(), ensure_ascii=False)
    for phase in plan.phases:
        if phase.input is not None and phase.input.text is not None:
            assert json.dumps(phase.input.text, ensure_ascii=False) not in text
    assert private.skeleton(covered) == private.skeleton(private.cover_plan(plan, b""))


def test_a_covered_observation_has_a_stored_form() -> None:
    seen = Observation((PhaseRun("run", "only", _covered()),))
    items, runs, _ = table.store(seen)
    assert table.resolve(items, runs) == seen


#: Texts of a plan that stay in clear: what the scenario is, and how names are spelled.
CLEAR = {
    "Plan.title", "Plan.contract", "Plan.why", "Plan.docs", "Plan.upstream", "Plan.relations",
    "Session.id",
    "Item.call", "Item.of", "Item.id", "ModelStep.response_id", "ModelSettings.tool_choice",
    "Decision.call", "Cancel.when", "ExpectedOutcome.error", "ExpectedOutcome.pending",
}

#: Texts of a plan that are covered.
COVERED = {
    "Run.on_refusal", "Run.on_invalid_output", "Run.history_text", "Run.tool_error_text",
    "SessionInput.instead", "ResumeInput.add", "Tool.timeout_text",
    "Item.user", "Item.system", "Item.developer", "Item.say", "Item.refusal", "Item.reasoning",
    "Item.more", "Item.search",
    "Item.output", "Item.arguments", "ModelError.message", "Param.description", "Param.default",
    "ToolOutcome.returns", "ToolOutcome.error", "Tool.description", "Tool.failure_text",
    "McpServer.unlisted",
    "Guardrail.trips_on", "Guardrail.error", "ToolGuardrail.message", "ToolGuardrail.when",
    "Handoff.description", "Handoff.error", "Agent.instructions", "Agent.handoff_description",
    "HookError.message", "Run.context", "Run.on_max_turns", "Decision.message",
    "InputFilter.add", "InputFilter.instructions", "InputFilter.error",
    "LiteralInput.text", "Sees.items", "ExpectedOutcome.final_output", "ExpectedOutcome.outputs",
    "ExpectedOutcome.session", "ExpectedOutcome.value", "Call.arguments", "Phase.context",
}


def _free_texts() -> set[str]:
    """Every field of a plan that takes any text."""
    found, met, todo = set(), set(), [Plan]
    while todo:
        cls = todo.pop()
        if cls in met:
            continue
        met.add(cls)
        for field in fields_of(cls):
            for part in _leaves(field.annotation):
                if dataclasses.is_dataclass(part):
                    todo.append(part)
                elif part in (str, Any):
                    found.add(f"{cls.__name__}.{field.name}")
    return found


def _leaves(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated or origin is Literal:
        return []  # a name, a pattern or a choice
    args = get_args(annotation)[1:] if origin is dict else get_args(annotation)
    return [leaf for arg in args for leaf in _leaves(arg)] if origin else [annotation]


def test_of_every_text_a_plan_may_hold_it_is_decided_whether_it_is_covered() -> None:
    assert _free_texts() == CLEAR | COVERED


def test_arguments_and_value_of_a_call_are_covered_alike_where_the_function_is_foreign() -> None:
    call = Call(python="python:shop:price", arguments='{"of":"tea"}')
    plan = Plan(title="t", area="x", contract="c", modes=("run",), phases=(
        Phase(id="one", call=call, expect=ExpectedOutcome(value='["tea",1]')),))
    seen = Observation((PhaseRun("run", "one", (
        make("call_returned", value='["tea",1]'), make("run_finished", outcome="completed"))),))
    covered, covered_seen = private.cover(plan, seen, SALT)
    value = covered.phases[0].expect.value
    assert value is not None
    assert "tea" not in value
    assert covered_seen.runs[0].events[0]["value"] == value
    assert covered.phases[0].call is not None
    assert "tea" not in covered.phases[0].call.arguments
    rules.check(covered)
