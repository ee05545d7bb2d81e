"""Variants of a plan: what each relation rewrites, and where it does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentrunproof.errors import PlanError
from agentrunproof.plan import capabilities, catalog, rules
from agentrunproof.plan.items import phase_input, response_id, script_items
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Cancel, HookDelay, HookError, Plan, Reader, Tool, Via
from agentrunproof.plan.relations import RELATIONS
from agentrunproof.plan.variants import Unfit, Variant, vary
from agentrunproof.report.explain import plan_lines
from tests.plans import GREETING, greeting

PAID = """
title = "Paid after a pause"
area = "demo"
contract = "What is approved is done."
[agents.clerk]
tools = ["pay", "note"]
[tools.pay]
returns = "paid"
needs_approval = true
[tools.note]
returns = "noted"
[[phases]]
id = "pause"
input = "Pay."
script = [[{ call = "pay", id = "p" }]]
expect = { outcome = "interrupted", pending = ["p"] }
[[phases]]
id = "rest"
resume = { from = "pause", via = "json", approve = ["p"] }
script = [[{ call = "note", id = "n" }], [{ say = "Paid." }]]
[[phases]]
id = "more"
input = { text = "Thanks.", follow = "rest" }
script = [[{ say = "Welcome." }]]
"""

TALK = """
title = "Two runs in a session"
area = "demo"
contract = "The second one knows of the first."
[agents.clerk]
[session]
items = [{ user = "Hello." }, { say = "Good day." }]
[[phases]]
id = "first"
input = "Who are you?"
script = [[{ say = "The clerk." }]]
[[phases]]
id = "second"
input = "And who am I?"
script = [[{ say = "A guest." }]]
expect = { session = ["user:Hello."] }
"""


def plan_of(text: str, **changes: object) -> Plan:
    return replace(load_text(text, "plan.toml"), **changes)  # type: ignore[arg-type]


def of(plan: Plan, relation: str) -> list[Variant]:
    return [found for found in vary(plan) if isinstance(found, Variant)
            and found.relation == relation]


def only(plan: Plan, relation: str) -> Plan:
    (variant,) = of(plan, relation)
    return variant.plan


def why_not(plan: Plan, relation: str) -> str:
    assert of(plan, relation) == []
    (reason,) = (found.reason for found in vary(plan)
                 if isinstance(found, Unfit) and found.relation == relation)
    return reason


def test_simple_relations_change_one_thing_and_run_in_one_mode() -> None:
    plan = replace(greeting(), relations={"hooks": "They change it."})
    assert only(plan, "sync") == replace(plan, modes=("run_sync",))
    assert only(plan, "tracing") == replace(plan, modes=("run",), run=replace(
        plan.run, tracing=False))
    told_less = replace(plan, run=replace(plan.run, sensitive_traces=False))
    assert only(told_less, "tracing").run.sensitive_traces
    alone = replace(greeting(), relations={"sync": "Not this.", "tracing": "Nor that."})
    assert only(alone, "hooks") == replace(alone, modes=("run",), run=replace(
        alone.run, hooks="none"))
    streamed = replace(greeting(), modes=("run_streamed",))
    assert only(streamed, "hooks").modes == ("run_streamed",)


@pytest.mark.parametrize("text", [GREETING, PAID])
def test_a_plan_with_hooks_has_one_variant_for_three_relations(text: str) -> None:
    plan = plan_of(text)
    assert only(plan, "hooks") == replace(plan, modes=("run_sync",), run=replace(
        plan.run, hooks="none", tracing=False))
    assert "without hooks is the synchronous one" in why_not(plan, "sync")
    assert "without hooks is not traced" in why_not(plan, "tracing")
    streamed = replace(plan, modes=("run_streamed",))
    assert only(streamed, "hooks") == replace(streamed, run=replace(
        plan.run, hooks="none", tracing=False))
    traced = replace(plan, relations={"tracing": "It says its trace."})
    assert only(traced, "hooks").run.tracing
    delay = HookDelay(on="on_tool_start", delay="1")
    hooked = replace(plan, run=replace(plan.run, hook_delay=delay))
    for apart in (replace(plan, relations={"hooks": "They change it."}), hooked):
        assert only(apart, "sync").modes == ("run_sync",)
        assert not only(apart, "tracing").run.tracing


def test_a_stream_that_is_read_slowly_stays_one_but_for_the_synchronous_run() -> None:
    plan = greeting()
    read = replace(plan, phases=(replace(plan.phases[0], reader=Reader(delay="1")),))
    assert only(read, "hooks").phases == plan.phases
    for kept in (replace(read, modes=("run_streamed",)),
                 replace(read, relations={"sync": "Not this time."})):
        assert only(kept, "hooks").modes == ("run_streamed",)
        assert only(kept, "hooks").phases == read.phases


def resumed_via(plan: Plan, via: Via) -> Plan:
    return replace(plan, phases=tuple(phase if phase.resume is None else replace(
        phase, resume=replace(phase.resume, via=via)) for phase in plan.phases))


def test_a_state_travels_in_every_way_that_tells_something() -> None:
    plan = plan_of(PAID)
    other: dict[Via, Via] = {"json": "memory", "string": "memory", "memory": "string"}
    for via, way in other.items():
        made = {variant.name: variant.plan for variant in of(resumed_via(plan, via), "state")}
        assert made == {f"state-{way}": replace(resumed_via(plan, way), modes=("run",))}
    nested = replace(plan, tools={**plan.tools, "ask": Tool(agent="clerk")})
    assert [variant.name for variant in of(nested, "state")] == ["state-memory", "state-string"]
    again = replace(plan.phase("rest"), id="again")
    assert "run twice" in why_not(replace(plan, phases=(*plan.phases, again)), "state")


def test_approved_calls_become_one_run_with_the_same_ids() -> None:
    plan = plan_of(PAID)
    varied = only(plan, "approval")
    assert [phase.id for phase in varied.phases] == ["pause", "more"]
    assert not any(tool.needs_approval for tool in varied.tools.values())
    whole, after = varied.phases
    assert after.input is not None
    assert after.input.follow == "pause"
    turns = [("pause", 0), ("rest", 0), ("rest", 1)]
    assert [script_items(varied, whole, "clerk", n) for n in range(3)] == [
        script_items(plan, plan.phase(phase), "clerk", n) for phase, n in turns]
    assert [response_id(whole, "clerk", n) for n in range(3)] == [
        f"resp-{phase}-clerk-{n}" for phase, n in turns]
    assert whole.expect.outcome == "completed"


@pytest.mark.parametrize(("old", "new", "reason"), [
    ('approve = ["p"]', 'reject = ["p"]', "not every call was approved"),
    ('approve = ["p"] }', 'approve = ["p"] }\nmax_turns = 9', "a limit of its own"),
    ('returns = "noted"', 'returns = "noted"\nopens = "gate"', "gates"),
    ("needs_approval = true", "", "no call needs approval"),
    ('tools = ["pay", "note"]', 'tools = ["pay", "note"]\ntool_use_behavior = '
     '"stop_on_first_tool"', "ends the run"),
])
def test_what_was_not_simply_approved_is_not_compared(old: str, new: str, reason: str) -> None:
    assert reason in why_not(plan_of(PAID.replace(old, new)), "approval")


def test_a_session_becomes_a_history_that_is_handed_on() -> None:
    plan = plan_of(TALK)
    varied = only(plan, "history")
    assert varied.session is None
    first, second = varied.phases
    assert [item["content"] if "role" in item and item["role"] == "user" else item["id"]
            for item in phase_input(first)] == ["Hello.", "msg-session-1", "Who are you?"]
    assert second.input is not None
    assert (second.input.follow, second.input.text) == ("first", "And who am I?")
    assert second.expect.session is None


@pytest.mark.parametrize(("old", "new", "reason"), [
    ("[session]", "[session]\nlimit = 1", "limited session"),
    ("[session]\nitems", "[other]\nitems", "no session"),
    ("[agents.clerk]", '[agents.clerk]\ninput_guardrails = ["g"]\n[guardrails.g]\nkind = "input"',
     "input guardrails"),
    ("[agents.clerk]", "[run]\nnest_handoff_history = true\n[agents.clerk]", "another history"),
    ('script = [[{ say = "The clerk." }]]', 'script = [{ error = { type = "ValueError" } }]\n'
     'expect = { outcome = "raised", error = "ValueError" }', "no whole history"),
])
def test_a_session_that_holds_more_or_less_is_not_compared(
        old: str, new: str, reason: str) -> None:
    text = TALK.replace(old, new)
    if "[other]" in text:
        text = text.replace('[other]\nitems = [{ user = "Hello." }, { say = "Good day." }]', ""
                            ).replace('expect = { session = ["user:Hello."] }', "")
    assert reason in why_not(plan_of(text), "history")


def test_nothing_is_compared_with_a_cancelled_stream_or_foreign_code_or_hooks_that_raise() -> None:
    plan = greeting()
    cancelled = replace(plan, modes=("run_streamed",), phases=(
        replace(plan.phases[0], cancel=Cancel(when="response.created")),))
    foreign = replace(plan, agents={"greeter": replace(
        plan.agents["greeter"], instructions="python:shop.prompts:clerk")})
    for relation in RELATIONS:
        assert "cancelled" in why_not(cancelled, relation)
        assert "foreign Python" in why_not(foreign, relation)
    raising = replace(plan, run=replace(plan.run, hook_error=HookError(on="on_agent_end")))
    assert "hook_error" in why_not(raising, "hooks")
    assert of(raising, "tracing")


def test_a_plan_forbids_a_relation_with_a_reason() -> None:
    plan = load_text('relations = { hooks = "The hook changes the context." }\n' + GREETING, "p")
    assert why_not(plan, "hooks") == "the plan forbids it: The hook changes the context."
    assert of(plan, "sync")


def test_explain_says_which_relations_are_watched_and_why_the_others_are_not() -> None:
    plan = load_text('relations = { hooks = "The hook changes the context." }\n' + GREETING, "p")
    told = plan_lines("greeting", plan)
    assert "  watched: sync, tracing" in told
    assert "  not hooks: the plan forbids it: The hook changes the context." in told
    assert "  not state: nothing is resumed" in told


@pytest.mark.parametrize(("given", "code"), [
    ({"hocks": "why"}, "PLAN_UNKNOWN_NAME"), ({"hooks": " "}, "PLAN_EMPTY")])
def test_it_names_a_relation_and_says_why(given: dict[str, str], code: str) -> None:
    with pytest.raises(PlanError) as caught:
        rules.check(replace(greeting(), relations=given))
    assert caught.value.code == code


@pytest.mark.parametrize("id", catalog.ids())
def test_variants_of_a_packaged_plan_are_sound_and_need_no_more_than_it(id: str) -> None:
    plan = catalog.load(id)
    relations = []
    for found in vary(plan):
        relations.append(found.relation)
        if isinstance(found, Variant):
            rules.check(found.plan)
            assert len(found.plan.modes) == 1
            assert set(capabilities.needed(found.plan)) <= set(capabilities.needed(plan))
        else:
            assert "contradict itself" not in found.reason
    assert list(dict.fromkeys(relations)) == list(RELATIONS)
