"""Short forms of TOML plans mean what the canonical form says in full."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentrunproof.errors import PlanError
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.model import (
    Agent,
    Decision,
    Item,
    LiteralInput,
    ModelStep,
    OutputType,
    Param,
    Plan,
    ResumeInput,
    Tool,
    ToolOutcome,
)

HEAD = 'title = "T"\narea = "basic"\ncontract = "C."\n'


def load(body: str) -> Plan:
    return load_text(HEAD + body, "plan.toml")


def tool_of(declaration: str) -> Tool:
    return load(f"""
agents.a.tools = ["t"]
[tools.t]
{declaration}
[[phases]]
id = "p"
input = "Hi"
script = [[{{ say = "Hello" }}]]
""").tools["t"]


def phases_of(body: str) -> Plan:
    return load("agents = { a = { tools = ['t'] }, b = {} }\n"
                "tools.t = { returns = 'x', needs_approval = true }\n" + body)


def test_parameters_may_be_a_type_or_a_table_and_keep_their_order() -> None:
    tool = tool_of("""
returns = "{b} {a}"
parameters = { b = "integer", a = { type = "number", default = 0.5, description = "d" } }
""")
    assert tool.order == ("b", "a")
    assert tool.parameters == {
        "b": Param(type="integer"),
        "a": Param(type="number", default="0.5", description="d")}
    assert tool.outcomes == (ToolOutcome(returns="{b} {a}"),)


def test_a_default_is_the_value_and_not_its_json_text() -> None:
    tool = tool_of('returns = "x"\nparameters.city = { default = "Oslo" }')
    assert tool.parameters["city"] == Param(type="string", default='"Oslo"')


@pytest.mark.parametrize(("declaration", "outcome"), [
    ('error = "no"', ToolOutcome(error="no")),
    ("cancel = true", ToolOutcome(cancel=True)),
    ("hang = true", ToolOutcome(hang=True)),
    ("exit = 3", ToolOutcome(exit=3)),
])
def test_the_one_outcome_of_a_tool_may_stand_in_its_table(
        declaration: str, outcome: ToolOutcome) -> None:
    assert tool_of(declaration).outcomes == (outcome,)


@pytest.mark.parametrize(("number", "text"), [
    ("0.5", "0.5"), ("2", "2"), ("1e-7", "0.0000001"), ("30.0", "30"), ('"0.25"', "0.25")])
def test_numbers_become_decimal_text_where_one_is_declared(number: str, text: str) -> None:
    assert tool_of(f'returns = "x"\ntimeout = {number}').timeout == text


def test_a_script_list_is_that_of_the_agent_that_starts() -> None:
    plan = phases_of("""
[[phases]]
id = "p"
input = "Hi"
script = [[{ say = "1" }]]
[[phases]]
id = "q"
agent = "b"
input = "Hi"
script = [[{ say = "2" }], { output = [{ say = "3" }], usage = { input = 1 } }]
[[phases]]
id = "r"
input = "Hi"
[phases.script]
b = [[]]
""")
    assert [list(phase.script) for phase in plan.phases] == [["a"], ["b"], ["b"]]
    assert plan.phases[0].script["a"] == (ModelStep(output=(Item(say="1"),)),)
    assert plan.phases[1].script["b"][1].usage.input == 1
    assert plan.phases[2].script["b"] == (ModelStep(),)


def test_calls_without_an_id_are_numbered_over_the_plan() -> None:
    plan = phases_of("""
[[phases]]
id = "p"
input = "Hi"
script = [[{ call = "t" }, { call = "t", id = "mine" }], [{ say = "x" }, { call = "t" }]]
[[phases]]
id = "q"
input = "Hi"
script = [[{ call = "t", args = { x = 0.5, y = "é" } }]]
""")
    items = [item for phase in plan.phases for step in phase.script["a"] for item in step.output]
    assert [item.id for item in items] == ["call-1", "mine", None, "call-3", "call-4"]
    assert items[4].arguments == '{"x":0.5,"y":"é"}'


def test_input_may_be_text_items_or_the_full_form_and_may_follow() -> None:
    plan = phases_of("""
[[phases]]
id = "p"
input = "Hi"
[[phases]]
id = "q"
input = [{ user = "Hi" }]
follow = "p"
[[phases]]
id = "r"
input = { text = "More", follow = "q" }
[[phases]]
id = "s"
follow = "r"
""")
    assert [phase.input for phase in plan.phases] == [
        LiteralInput(text="Hi"), LiteralInput(items=(Item(user="Hi"),), follow="p"),
        LiteralInput(text="More", follow="q"), LiteralInput(follow="r")]


def resumed(resume: str) -> ResumeInput | None:
    return phases_of(f"""
[[phases]]
id = "p"
input = "Hi"
script = [[{{ call = "t", id = "x" }}, {{ call = "t", id = "y" }}, {{ call = "t", id = "z" }}]]
expect.outcome = "interrupted"
[[phases]]
id = "q"
resume = {{ from = "p", {resume} }}
""").phases[1].resume


def test_approve_and_reject_become_decisions_in_that_order() -> None:
    found = resumed('reject = ["y"], approve = ["x", "z"], message = "no"')
    assert found == ResumeInput(from_="p", decisions=(
        Decision(call="x"), Decision(call="z"), Decision(call="y", approve=False, message="no")))


def test_always_goes_with_each_decision() -> None:
    found = resumed('approve = ["x"], reject = ["y"], always = true, branch = "b", via = "json"')
    assert found == ResumeInput(from_="p", branch="b", via="json", decisions=(
        Decision(call="x", always=True), Decision(call="y", approve=False, always=True)))


@pytest.mark.parametrize("resume", [
    'approve = ["x"], decisions = []', 'approve = ["x"], message = "no"', "always = true",
    'approve = "x"', 'approve = ["x"], reject = ["x"]', 'approve = ["unknown"]'])
def test_decisions_that_contradict_are_refused(resume: str) -> None:
    with pytest.raises(PlanError, match=r"phases\[1\].resume"):
        resumed(resume)


def test_stop_at_tools_implies_the_behaviour() -> None:
    plan = load("""
agents.a = { tools = ["t"], stop_at_tools = ["t"], model_settings = { temperature = 0.2 } }
tools.t.returns = "x"
types.answer.fields = { total = "integer", note = { description = "d" } }
[[phases]]
id = "p"
input = "Hi"
""")
    assert plan.agents["a"].tool_use_behavior == "stop_at_tools"
    assert plan.agents["a"].model_settings.temperature == "0.2"
    assert plan.types["answer"] == OutputType(
        fields={"total": Param(type="integer"), "note": Param(description="d")},
        order=("total", "note"))


def test_short_and_full_form_have_one_canonical_form() -> None:
    short = tool_of('parameters = { x = "integer" }\nreturns = "{x}"\ndelay = 1.50')
    full = tool_of("""
parameters = { x = { type = "integer" } }
order = ["x"]
outcomes = [{ returns = "{x}" }]
delay = "1.5"
""")
    assert short == full
    plan = load("agents.a = {}\n[[phases]]\nid = 'p'\ninput = 'Hi'")
    assert replace(plan, agents={"a": Agent()}) == Plan.from_json(plan.to_json())
