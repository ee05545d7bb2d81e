"""Plans whose phases call functions: what may stand in them, and what they become."""

from __future__ import annotations

import pytest

from agentrunproof.errors import PlanError
from agentrunproof.plan.capabilities import needed
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import Call, Plan
from agentrunproof.plan.writer import to_toml
from agentrunproof.report.explain import plan_lines

BASE = """
title = "A price"
area = "shop"
contract = "Tea costs what the list says."
requires = ["session"]

[[phases]]
id = "only"
call = { python = "python:shop.prices:price", args = { of = "tea", at = [2, 1.5] } }
expect = { value = { b = true, a = [1.5, "x"] } }

[[phases]]
id = "refused"
call = "python:agentrunproof.suites.probes.schemas:of_two_tools"
expect = { outcome = "raised", error = "ValueError" }
"""


def swap(old: str, new: str) -> str:
    assert BASE.count(old) == 1, old
    return BASE.replace(old, new)


def test_arguments_and_value_become_json_text_with_sorted_keys() -> None:
    plan = load_text(BASE, "base.toml")
    only, refused = plan.phases
    assert only.call == Call(python="python:shop.prices:price",
                             arguments='{"at":[2,1.5],"of":"tea"}')
    assert only.expect.value == '{"a":[1.5,"x"],"b":true}'
    assert refused.call is not None
    assert refused.call.arguments == "{}"
    assert (plan.modes, plan.agents, plan.start, plan.calls) == (("run",), {}, "", True)
    assert needed(plan) == ("session",)


def test_the_package_s_own_functions_are_no_foreign_code() -> None:
    plan = load_text(BASE, "base.toml")
    assert list(plan.python_refs()) == [("phases.only.call", "python:shop.prices:price")]


@pytest.mark.parametrize("name", [
    "python:agentrunproof.suites.probesters.x:f", "python:agentrunproof.suites:probes.x",
    "python:agentrunproof.sdk.tools:resolve", "python:agentrunproof.suites.probes.flow:asyncio.run",
    "python:agentrunproof.suites.probes.deeper.flow:f"])
def test_what_only_looks_like_one_of_them_is_foreign(name: str) -> None:
    plan = load_text(swap("python:agentrunproof.suites.probes.schemas:of_two_tools", name),
                     "base.toml")
    assert [place for place, _ in plan.python_refs()] == ["phases.only.call",
                                                          "phases.refused.call"]


def test_a_plan_of_calls_survives_json_and_toml() -> None:
    plan = load_text(BASE, "base.toml")
    assert Plan.from_json(plan.to_json()) == plan
    assert load_text(to_toml(plan), "again.toml") == plan


def test_it_is_explained_by_what_it_calls_and_what_that_gives() -> None:
    text = "\n".join(plan_lines("price", load_text(BASE, "base.toml")))
    assert 'calls shop.prices:price with {"at":[2,1.5],"of":"tea"}' in text
    assert 'value {"a":[1.5,"x"],"b":true}' in text
    assert "expected: raised with ValueError" in text
    assert "the functions called are this package's own" in text
    assert "phases.only.call: python:shop.prices:price" in text


@pytest.mark.parametrize(("text", "place", "said"), [
    (swap('area = "shop"', 'area = "shop"\nagents.a = {}'), "agents", "does not go with a call"),
    (swap('area = "shop"', 'area = "shop"\nsession = {}'), "session", "does not go with a call"),
    (swap('area = "shop"', 'area = "shop"\nmodes = ["run", "run_streamed"]'), "modes",
     "one way"),
    (swap('id = "only"', 'id = "only"\nmax_turns = 3'), "phases[0].max_turns",
     "does not go with a call"),
    (swap('id = "only"', 'id = "only"\ninput = "Hi"'), "phases[0].input",
     "does not go with a call"),
    (swap('call = "python:agentrunproof.suites.probes.schemas:of_two_tools"', 'input = "Hi"'),
     "phases[1]", "runs or calls, not both"),
    (swap("outcome = \"raised\", error = \"ValueError\"", 'outcome = "cancelled"'),
     "phases[1].expect.outcome", "completed or raised"),
    (swap('outcome = "raised", ', ""), "phases[1].expect.error", "'completed'"),
    (swap('error = "ValueError"', "value = 1"), "phases[1].expect.value", "'raised'"),
    (swap('error = "ValueError"', "tool_calls = { t = 1 }"), "phases[1].expect.tool_calls",
     "does not go with a call"),
    (swap('args = { of = "tea", at = [2, 1.5] }', "arguments = '[1]'"),
     "phases[0].call.arguments", "text of a table"),
    (swap('args = { of = "tea", at = [2, 1.5] }', """arguments = '{"b":1,"a":1}'"""),
     "phases[0].call.arguments", "keys sorted"),
    (swap('args = { of = "tea", at = [2, 1.5] }', 'args = { on = 1999-01-01 }'),
     "phases[0].call.args", "JSON"),
    (swap('args = { of = "tea", at = [2, 1.5] }', 'args = {}, arguments = "{}"'),
     "phases[0].call.args", "beside it"),
    (swap("value = { b = true, a = [1.5, \"x\"] }", "value = inf"), "phases[0].expect.value",
     "JSON"),
    (swap("python:shop.prices:price", "shop.prices:price"), "phases[0].call.python", "python:"),
])
def test_what_cannot_go_together_is_refused(text: str, place: str, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        load_text(text, "broken.toml")
    assert caught.value.message.startswith(f"broken.toml: {place}: ")
    assert said in str(caught.value.message + (caught.value.hint or ""))


def test_a_run_has_no_value_and_needs_an_agent() -> None:
    head = 'title = "T"\narea = "basic"\ncontract = "C."\n'
    run = '[[phases]]\nid = "p"\ninput = "Hi"\n'
    with pytest.raises(PlanError, match=r"phases\[0\]\.expect\.value: is what a call gives"):
        load_text(head + "agents.a = {}\n" + run + "expect = { value = 1 }", "run.toml")
    with pytest.raises(PlanError, match="start: unknown agent"):
        load_text(head + run, "run.toml")
