"""Plans that contradict themselves are refused, each at the place of the contradiction."""

from __future__ import annotations

import pytest

from agentrunproof.errors import PlanError
from agentrunproof.plan.loader import load_text
from agentrunproof.plan.phase_rules import lineage, lineage_calls

# One of each part, so that a test adds only what breaks a rule.
BASE = """
title = "Base"
area = "basic"
contract = "It works."
docs = ["https://openai.github.io/openai-agents-python/"]
upstream = ["openai-agents-python#1"]

[agents.a]
tools = ["t", "nested"]
handoffs = ["b", "named"]
input_guardrails = ["gate"]
output_guardrails = ["out"]
output_type = "answer"

[agents.b]
[agents.c]
tools = ["t"]

[tools.t]
parameters = { x = "integer", y = { type = "string", default = "z" } }
returns = "{x} {y}"
needs_approval = true
after = "checked"
input_guardrails = ["refuse"]

[tools.nested]
agent = "b"

[guardrails.gate]
kind = "input"
opens = "checked"

[guardrails.out]
kind = "output"

[tool_guardrails.refuse]
kind = "input"
behavior = "reject_content"

[handoffs.named]
to = "c"

[types.answer]
fields = { total = "integer" }

[[phases]]
id = "pause"
input = "Hi"
script = [[{ call = "t", id = "x", args = { x = 1 } }]]
expect = { outcome = "interrupted", pending = ["x"] }

[[phases]]
id = "go"
resume = { from = "pause", approve = ["x"] }
script = [[{ say = "Done" }]]
"""


def swap(old: str, new: str) -> str:
    assert BASE.count(old) >= 1, old
    return BASE.replace(old, new, 1)


BROKEN: list[tuple[str, str, str]] = [
    (swap('title = "Base"', 'title = " "'), "title", "nothing"),
    (swap("https:", "http:"), "docs[0]", "https"),
    (swap("python#1", "python#01"), "upstream[0]", "repository#number"),
    (swap('area = "basic"', 'area = "basic"\nrequires = ["tool-timeouts"]'), "requires[0]",
     "tool-timeouts"),
    (swap('area = "basic"', 'area = "basic"\nmodes = []'), "modes", "at least one"),
    (swap('area = "basic"', 'area = "basic"\nmodes = ["run", "run"]'), "modes", "2 times"),
    (swap('area = "basic"', 'area = "basic"\nstart = "z"'), "start", "unknown agent"),
    (swap('tools = ["t", "nested"]', 'tools = ["tt"]'), "agents.a.tools", "unknown tool 'tt'"),
    (swap('tools = ["t", "nested"]', 'tools = ["t", "t"]'), "agents.a.tools", "2 times"),
    (swap('"b", "named"', '"named", "d"'), "agents.a.handoffs", "'d'"),
    (swap('guardrails = ["gate"]', 'guardrails = ["out"]'), "agents.a.input_guardrails",
     "not an input guardrail"),
    (swap('guardrails = ["out"]', 'guardrails = ["off"]'), "agents.a.output_guardrails",
     "unknown guardrail"),
    (swap('output_type = "answer"', 'output_type = "answers"'), "agents.a.output_type",
     "unknown type"),
    (swap("[agents.b]", '[agents.b]\nstop_at_tools = ["t"]'), "agents.b.stop_at_tools",
     "tool of this agent"),
    (swap("[agents.b]", '[agents.b]\ntool_use_behavior = "stop_at_tools"'),
     "agents.b.tool_use_behavior", "go together"),
    (swap("[agents.b]", '[agents.b]\ninstructions = "python:os"'), "agents.b.instructions",
     "python:package.module:attribute"),
    (swap('returns = "{x} {y}"', ""), "tools.t", "none of them"),
    (swap('agent = "b"', 'agent = "b"\nreturns = "x"'), "tools.nested", "outcomes and agent"),
    (swap('agent = "b"', 'agent = "b"\ndelay = 1'), "tools.nested.delay", "'agent'"),
    (swap('agent = "b"', 'agent = "z"'), "tools.nested.agent", "unknown agent"),
    (swap('agent = "b"', 'python = "python:m:f"\nafter = "checked"'), "tools.nested.after",
     "'python'"),
    (swap("needs_approval = true", "max_turns = 3"), "tools.t.max_turns", "nested run"),
    (swap('"{x} {y}"', '"{x} {yy}"'), "tools.t.outcomes[0].returns", "unknown parameter 'yy'"),
    (swap('returns = "{x} {y}"', "outcomes = [{}]"), "tools.t.outcomes[0]", "found none"),
    (swap('returns = "{x} {y}"', 'outcomes = [{ error = "e", hang = true }]'),
     "tools.t.outcomes[0]", "error and hang"),
    (swap('returns = "{x} {y}"', "exit = 256"), "tools.t.outcomes[0].exit", "0 to 255"),
    (swap("needs_approval = true", 'order = ["x"]'), "tools.t.order", "each of the parameters"),
    (swap('default = "z"', "default = 3"), "tools.t.parameters.y.default", "not of type string"),
    (swap('{ type = "string", default = "z" }', '{ type = "integer[]", default = [true] }'),
     "tools.t.parameters.y.default", "not of type integer[]"),
    (swap('x = "integer", y = { type = "string", default = "z" }',
          'y = { default = "z" }, x = "integer"'), "tools.t.parameters.x", "follows 'y'"),
    (swap("needs_approval = true", 'failure = "text"'), "tools.t.failure_text", "goes with"),
    (swap("needs_approval = true", 'timeout_behavior = "raise_exception"'),
     "tools.t.timeout_behavior", "needs a timeout"),
    (swap("needs_approval = true", 'timeout_text = "x"'), "tools.t.timeout_text",
     "no timeout is told"),
    (swap("needs_approval = true",
          'timeout = 1\ntimeout_text = "x"\ntimeout_behavior = "raise_exception"'),
     "tools.t.timeout_text", "no timeout is told"),
    (swap('to = "c"', 'to = "c"\nenabled = false\nenabled_until = "checked"'),
     "handoffs.named.enabled_until", "never enabled"),
    (swap('to = "c"', 'to = "c"\nenabled_until = "dusk"'), "handoffs.named.enabled_until",
     "nothing opens it"),
    (swap('id = "go"', 'id = "go"\nfailing_write = {}'), "phases[1].failing_write",
     "no session"),
    *((swap("[types.answer]", f"[run]\n{said}\n\n[types.answer]"), f"run.{key}", words)
      for key, said, words in (
          ("unlimited_turns", "unlimited_turns = true\nmax_turns = 2", "limited elsewhere"),
          ("unlimited_turns", 'unlimited_turns = true\non_max_turns = "x"', "limited elsewhere"),
          ("on_invalid_output", 'on_invalid_output = "[]"', "JSON text of a table"),
          ("on_invalid_output", 'on_invalid_output = "{"', "JSON text of a table"),
          ("fallback_in_history", "fallback_in_history = false", "no handler"),
          ("session_input", "session_input = { keep = 1 }", "no session"),
          ("handoff_filter", 'handoff_filter = "remove_all_tools"\nserver = "conversation_id"',
           "run.server"),
          ("history_text", 'history_text = "x"', "no history is nested"))),
    (swap("[types.answer]", "[session]\n[run]\nsession_input = {}\n[types.answer]"),
     "run.session_input", "does nothing"),
    (swap('input_guardrails = ["refuse"]', "").replace(
        "[types.answer]", "[run]\npre_approval_guardrails = true\n[types.answer]"),
     "run.pre_approval_guardrails", "no tool has both"),
    (swap("needs_approval = true", "timeout = 0"), "tools.t.timeout", "above 0"),
    (swap("needs_approval = true", "delay = -0.5"), "tools.t.delay", "above 0"),
    (swap('input_guardrails = ["refuse"]', 'output_guardrails = ["refuse"]'),
     "tools.t.output_guardrails", "does not guard a tool's output"),
    (swap('input_guardrails = ["refuse"]', 'input_guardrails = ["gate"]'),
     "tools.t.input_guardrails", "unknown tool guardrail"),
    (swap('[agents.b]\n', '[agents.b]\ntools = ["nested"]\n'), "agents.b.tools", "tool of itself"),
    (swap('kind = "input"\nopens', 'kind = "input"\ntrips = true\nerror = "e"\nopens'),
     "guardrails.gate", "trips and error"),
    (swap('kind = "output"', 'kind = "output"\nblocking = true'), "guardrails.out.blocking",
     "input guardrails"),
    (swap('"reject_content"', '"reject_content"\nwhen = ""'), "tool_guardrails.refuse.when",
     "empty"),
    (swap("[handoffs.named]", "[handoffs.b]").replace('"b", "named"', '"b"'), "handoffs.b",
     "name of an agent"),
    (swap('to = "c"', 'to = "z"'), "handoffs.named.to", "unknown agent"),
    (swap('to = "c"', 'to = "c"\ninput_type = "z"'), "handoffs.named.input_type", "unknown type"),
    (swap('fields = { total = "integer" }', "fields = {}"), "types.answer.fields", "a field"),
    (swap('total = "integer"', "total = { type = 'integer', default = 1 }"),
     "types.answer.fields.total.default", "each field"),
    (swap('area = "basic"', 'area = "basic"\nrun.output_guardrails = ["gate"]'),
     "run.output_guardrails", "not an output guardrail"),
    *((swap('area = "basic"', f'area = "basic"\nrun = {{ {run} }}'), place, says)
      for run, place, says in (
          ('hooks = "none", hook_error = { on = "on_agent_start" }', "run.hook_error",
           "no hooks"),
          ('hooks = "agent", hook_error = { on = "on_agent_start" }', "run.hook_error",
           "no hooks"),
          ('hook_error = { on = "on_agent_start", cancel = true, message = "no" }',
           "run.hook_error.message", "says nothing"),
          ('hooks = "run", hook_delay = { on = "on_agent_start", delay = 1 }',
           "run.hook_delay", "no hooks"),
          ('hook_delay = { on = "on_agent_start", delay = 0 }', "run.hook_delay.delay",
           "above 0"),
          ("input_filter = {}", "run.input_filter", "does nothing"),
          ('input_filter = { keep = 1, error = "no" }', "run.input_filter", "nothing else"),
          ('input_filter = { add = "x", malformed = true }', "run.input_filter", "nothing else"),
          ('input_filter = { keep = 1 }, server = "conversation_id"', "run.input_filter",
           "run.server"),
          ('tracing = false, sensitive_traces = false', "run.sensitive_traces", "no spans"))),
    (swap('area = "basic"', 'area = "basic"\nsession = {}\nrun.server = "conversation_id"'),
     "run.server", "or by a session"),
    (swap('opens = "checked"', 'opens = "checked"\ndelay = -1'), "guardrails.gate.delay",
     "above 0"),
    (swap('opens = "checked"', 'opens = "checked"\ncleanup = 0'), "guardrails.gate.cleanup",
     "above 0"),
    *((swap('id = "go"', f'id = "go"\nreader = {{ {reader} }}'), place, says)
      for reader, place, says in (
          ("", "phases[1].reader", "waits"),
          ("events = false, delay = 1", "phases[1].reader", "waits"),
          ("delay = 0", "phases[1].reader.delay", "above 0"))),
    (swap('area = "basic"', 'area = "basic"\nmodes = ["run"]').replace(
        'id = "go"', 'id = "go"\nreader = { delay = 1 }'), "phases[1].reader", "streamed"),
    (swap('area = "basic"', 'area = "basic"\nmodes = ["run_streamed"]').replace(
        'id = "go"', 'id = "go"\nreader = { events = false }\ncancel = { when = "tool_output" }'),
     "phases[1].reader.events", "cannot cancel"),
    (swap('area = "basic"', 'area = "basic"\nsession.kind = "python"'), "session.python",
     "goes with"),
    (swap('area = "basic"', 'area = "basic"\nsession.items = [{ user = "a", say = "b" }]'),
     "session.items[0]", "user and say"),
    (swap('area = "basic"', 'area = "basic"\nsession.items = [{ user = "a", more = ["b"] }]'),
     "session.items[0].more", "goes with say"),
    (swap('area = "basic"', 'area = "basic"\nsession.delay = 0'), "session.delay", "above 0"),
    (swap('after = "checked"', 'after = "cheked"'), "tools.t.after", "nothing opens it"),
    (swap("needs_approval = true", 'enabled_until = "z"'), "tools.t.enabled_until",
     "nothing opens it"),
    (swap("needs_approval = true", 'enabled = false\nenabled_until = "checked"'),
     "tools.t.enabled_until", "never enabled"),
    (swap('input = "Hi"', 'input = [{ user = "Hi" }, { call = "t", id = "x" }, '
          '{ call = "t", id = "x", args = { x = 2 } }]'), "phases[0].script", "'x' 3 times"),
    (swap('id = "go"', 'id = "pause"'), "phases", "'pause' 2 times"),
    (swap('input = "Hi"\n', ""), "phases[0]", "either input or resume"),
    (swap('id = "go"', 'id = "go"\ninput = "Hi"'), "phases[1]", "either input or resume"),
    (swap('id = "go"', 'id = "go"\nagent = "z"'), "phases[1].agent", "unknown agent"),
    (swap('input = "Hi"', "input = {}"), "phases[0].input", "text or items"),
    (swap('input = "Hi"', 'input = { text = "a", items = [{ user = "b" }] }'),
     "phases[0].input", "text or items"),
    (swap('input = "Hi"', 'input = "Hi"\nfollow = "go"'), "phases[0].input.follow",
     "unknown earlier phase"),
    (swap('from = "pause"', 'from = "go"'), "phases[1].resume.from", "unknown earlier phase"),
    (swap('outcome = "interrupted", pending = ["x"]', 'outcome = "completed"'),
     "phases[1].resume.from", "expected to be completed"),
    (swap('id = "go"', 'id = "go"\nprobe = {}'), "phases[1].probe", "interrupted"),
    (swap('id = "go"', 'id = "go"\ncancel = { when = "tool_called" }'), "phases[1].cancel",
     "streamed"),
    (swap('id = "go"', 'id = "go"\ncancel = { when = "tool_called", mode = "task" }\n'
          'reader = { delay = 1 }').replace(
        'area = "basic"', 'area = "basic"\nmodes = ["run_streamed"]'), "phases[1].reader.delay",
     "does not tell the stream"),
    (swap('id = "go"', 'id = "go"\ncancel = { when = "tool_called", mode = "task" }').replace(
        'area = "basic"', 'area = "basic"\nmodes = ["run_streamed"]').replace(
        'kind = "output"', 'kind = "output"\ncleanup = 1'), "phases[1].cancel.mode",
     "takes its time"),
    (swap('id = "go"', 'id = "go"\ncancel = { when = "tool_caled" }').replace(
        'area = "basic"', 'area = "basic"\nmodes = ["run_streamed"]'), "phases[1].cancel.when",
     "unknown stream event"),
    (swap('script = [[{ say = "Done" }]]', 'script = { z = [[]] }'), "phases[1].script.z",
     "unknown agent"),
    (swap('{ say = "Done" }', '{ user = "Done" }'), "phases[1].script.a[0].output[0].user",
     "not something a model outputs"),
    (swap('{ say = "Done" }', "{}"), "phases[1].script.a[0].output[0]", "found none"),
    (swap('{ say = "Done" }', '{ say = "Done", arguments = "{}" }'),
     "phases[1].script.a[0].output[0].arguments", "call or handoff"),
    (swap('{ say = "Done" }', '{ say = "Done", of = "x" }'),
     "phases[1].script.a[0].output[0].of", "goes with output"),
    (swap('{ say = "Done" }', '{ handoff = "a" }'), "phases[1].script.a[0].output[0].handoff",
     "handoff of 'a' to"),
    (swap('[[{ say = "Done" }]]', '[{ output = [{ say = "x" }], hang = true }]'),
     "phases[1].script.a[0].hang", "never answers"),
    (swap('{ say = "Done" }', '{ call = "t", id = "x" }'), "phases[1].script", "'x' 2 times"),
    (swap('approve = ["x"]', 'approve = ["y"]'), "phases[1].resume.decisions[0].call",
     "unknown pending call 'y'"),
    (swap('approve = ["x"]', 'decisions = [{ call = "x", message = "m" }]'),
     "phases[1].resume.decisions[0].message", "rejection"),
    (swap('id = "go"', 'id = "go"\nexpect = { error = "UserError" }'), "phases[1].expect.error",
     "raised"),
    (swap('id = "go"', 'id = "go"\nexpect = { pending = ["x"] }'), "phases[1].expect.pending",
     "interrupted"),
    (swap('pending = ["x"] }', 'final_output = "x" }'), "phases[0].expect.final_output",
     "completed"),
    (swap('id = "go"', 'id = "go"\nexpect = { session = [] }'), "phases[1].expect.session",
     "no session"),
    (swap('id = "go"', 'id = "go"\nexpect = { tool_calls = { tt = 1 } }'),
     "phases[1].expect.tool_calls", "unknown tool"),
    (swap('id = "go"', 'id = "go"\nexpect = { outputs = { y = "1" } }'),
     "phases[1].expect.outputs", "unknown call"),
    (swap('id = "go"', 'id = "go"\nexpect = { sees = [{ agent = "a", items = ["hello"] }] }'),
     "phases[1].expect.sees[0].items[0]", "label"),
]


def test_the_base_plan_itself_is_sound() -> None:
    assert load_text(BASE, "base.toml").start == "a"


def test_an_input_may_repeat_a_call_word_for_word() -> None:
    call = '{ call = "t", id = "old" }'
    plan = load_text(swap('input = "Hi"', f'input = [{call}, {{ output = "1", of = "old" }}, '
                                          f'{call}]'), "twice.toml")
    assert lineage_calls(plan, plan.phases[0]) == ["old", "x"]


@pytest.mark.parametrize(("text", "place", "says"), BROKEN,
                         ids=[f"{n}-{place}" for n, (_, place, _) in enumerate(BROKEN)])
def test_a_contradiction_is_refused_at_its_place(text: str, place: str, says: str) -> None:
    with pytest.raises(PlanError) as caught:
        load_text(text, "broken.toml")
    assert caught.value.message.startswith(f"broken.toml: {place}: ")
    assert says in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.code.startswith("PLAN_")


def test_branches_that_share_a_name_travel_the_same_way() -> None:
    other = '[[phases]]\nid = "again"\nresume = { from = "pause", via = "json" }\n'
    with pytest.raises(PlanError, match=r"phases\[2\].resume.via: branch 'main'"):
        load_text(BASE + other, "broken.toml")


def test_agents_in_a_circle_are_allowed_when_a_tool_bounds_them() -> None:
    bounded = swap('agent = "b"', 'agent = "b"\nmax_turns = 2').replace(
        '[agents.b]\n', '[agents.b]\ntools = ["nested"]\n')
    assert load_text(bounded, "circle.toml").tools["nested"].max_turns == 2


def test_siblings_and_runs_in_one_session_may_make_calls_of_one_id_and_followers_may_not() -> None:
    siblings = BASE + """
[[phases]]
id = "other"
resume = { from = "pause", branch = "b", approve = ["x"] }
script = [[{ call = "t", id = "second", args = { x = 1 } }]]
[[phases]]
id = "third"
resume = { from = "pause", branch = "c", approve = ["x"] }
script = [[{ call = "t", id = "second", args = { x = 1 } }]]
"""
    plan = load_text(siblings, "siblings.toml")
    assert [phase.id for phase in lineage(plan, plan.phases[3])] == ["pause", "third"]
    assert lineage_calls(plan, plan.phases[3]) == ["x", "second"]

    head = 'title = "T"\narea = "basic"\ncontract = "C."\nagents.a = {}\nsession = {}\n'
    shared = head + "".join(
        f'[[phases]]\nid = "{id}"\ninput = "Hi"\nscript = [[{{ call = "t", id = "x" }}]]\n'
        for id in ("p", "q"))
    plan = load_text(shared, "session.toml")
    assert lineage_calls(plan, plan.phases[1]) == ["x", "x"]
    with pytest.raises(PlanError, match=r"phases\[1\].script: lets one run make call 'x' 2 times"):
        load_text(shared + 'follow = "p"\n', "following.toml")
