"""Plans that nobody wrote a contract for, on which a check once told what is no breach.

Each is the smallest one of a kind that random plans came upon (a name, the check, the plan).
"""

from __future__ import annotations

PAUSE = """
[[phases]]
id = "pause"
input = "Go."
script = [[{ call = "pay", id = "c1" }]]
expect = { outcome = "interrupted", pending = ["c1"] }
"""
PAY = """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
needs_approval = true
"""
#: The history before a handoff is folded into a message, and comes back from JSON.
NESTED_HISTORY = """
[agents.clerk]
tools = ["pay", "count"]
handoffs = ["desk"]
[agents.desk]
[tools.count]
returns = "1"
[tools.pay]
needs_approval = true
returns = "paid"
[run]
nest_handoff_history = true
[[phases]]
id = "pause"
input = "Go."
script = [[{ handoff = "desk" }, { call = "count" }, { call = "pay", id = "c1" }]]
expect = { outcome = "interrupted", pending = ["c1"] }
[[phases]]
id = "resumed"
resume = { from = "pause", via = "json", approve = ["c1"] }
script.desk = [[{ say = "Done." }]]
"""

#: (what is sound, the check that did not know, the plan without its head)
SOUND_PLANS: tuple[tuple[str, str, str], ...] = (
    ("an agent stops at a tool that is disabled and told as unknown", "agent_request", """
[agents.clerk]
tools = ["pay", "count"]
tool_use_behavior = "stop_on_first_tool"
[tools.pay]
enabled = false
returns = "paid"
[tools.count]
returns = "1"
[run]
unknown_tools = "tell"
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }], [{ say = "No." }]]
"""),
    ("an agent as a tool is disabled", "agent_request", """
[agents.clerk]
tools = ["ask"]
[tools.ask]
enabled = false
agent = "clerk"
max_turns = 1
[[phases]]
id = "only"
input = "Go."
script = [[{ say = "Done." }]]
"""),
    ("a disabled handoff is called and told as unknown", "agent_request", """
[agents.clerk]
handoffs = ["over"]
[agents.desk]
[handoffs.over]
to = "desk"
enabled = false
[run]
unknown_tools = "tell"
[[phases]]
id = "only"
input = "Go."
script = [[{ handoff = "desk" }], [{ say = "No." }]]
"""),
    ("a formatter words that arguments are malformed", "unfit_call", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
[run]
tool_error_text = "in other words"
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay", arguments = "[]" }], [{ say = "Done." }]]
"""),
    ("two states of one pause approve its call in one session", "tool_linkage", PAY + """
[session]
""" + PAUSE + """
[[phases]]
id = "first"
resume = { from = "pause", branch = "a", approve = ["c1"] }
script = [[{ say = "Done." }]]
[[phases]]
id = "second"
resume = { from = "pause", branch = "b", approve = ["c1"] }
script = [[{ say = "Done again." }]]
"""),
    ("a session callback cuts a call from its output", "tool_linkage", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
[session]
[run]
session_input = { keep = 2 }
[[phases]]
id = "first"
input = "Go."
script = [[{ call = "pay" }], [{ say = "Done." }]]
[[phases]]
id = "second"
input = "Go on."
script = [[{ say = "Done again." }]]
"""),
    ("a resumed run is given another turn limit", "max_turns", PAY + PAUSE + """
[[phases]]
id = "resumed"
resume = { from = "pause", approve = ["c1"] }
script = [[{ say = "Done." }]]
max_turns = 1
"""),
    ("turns run out in an agent as a tool, whose failure is raised", "max_turns", """
[agents.clerk]
tools = ["ask"]
[agents.helper]
tools = ["count"]
[tools.ask]
agent = "helper"
max_turns = 1
failure = "raise"
[tools.count]
returns = "1"
[run]
max_turns = 3
[[phases]]
id = "only"
input = "Go."
script.clerk = [[{ call = "ask", args = { input = "Count." } }]]
script.helper = [[{ call = "count" }]]
expect = { outcome = "raised" }
"""),
    ("a resumed stream is cancelled before its first model call", "cancel_modes", """
modes = ["run_streamed"]
""" + PAY + PAUSE + """
[[phases]]
id = "resumed"
resume = { from = "pause", approve = ["c1"] }
cancel = { when = "agent_updated_stream_event", mode = "after_turn" }
expect = { outcome = "cancelled" }
"""),
    ("a guardrail fails when the tool beside it has ended", "session_persistence", """
[agents.clerk]
tools = ["pay"]
input_guardrails = ["slow"]
[tools.pay]
returns = "paid"
[guardrails.slow]
kind = "input"
error = "no"
delay = 1
[session]
[run]
tracing = false
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }]]
expect = { outcome = "raised" }
"""),
    ("a handoff's filter takes what a tool has done, and turns run out", "session_persistence", """
[agents.clerk]
tools = ["pay"]
handoffs = ["over"]
[agents.desk]
[tools.pay]
returns = "paid"
[handoffs.over]
to = "desk"
filter = "remove_all_tools"
[session]
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }, { handoff = "desk" }]]
max_turns = 1
expect = { outcome = "raised" }
"""),
    ("the session does not take the input", "stream_parity", """
[agents.clerk]
[session]
[[phases]]
id = "only"
input = "Go."
failing_write = {}
expect = { outcome = "raised" }
"""),
    ("a run fails before the guardrail beside it has decided", "stream_parity", """
[agents.clerk]
input_guardrails = ["slow"]
[guardrails.slow]
kind = "input"
delay = 1
[[phases]]
id = "only"
input = "Go."
script = [{ error = {} }]
expect = { outcome = "raised" }
"""),
    ("what is staged comes in with a later run, through its guardrails", "turn_input", """
[agents.clerk]
tools = ["pay"]
input_guardrails = ["polite"]
[tools.pay]
returns = "paid"
needs_approval = true
[guardrails.polite]
kind = "input"
[[phases]]
id = "pause"
input = "Go."
script = [[{ call = "pay", id = "c1" }, { call = "pay", id = "c2" }]]
expect = { outcome = "interrupted", pending = ["c1", "c2"] }
[[phases]]
id = "half"
resume = { from = "pause", approve = ["c1"], add = "Hurry." }
expect = { outcome = "interrupted", pending = ["c2"] }
[[phases]]
id = "whole"
resume = { from = "half", approve = ["c2"] }
script = [[{ say = "Done." }]]
"""),
    ("what is staged is sent to a server, and the run fails", "server_conversation", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
needs_approval = true
[run]
server = "conversation_id"
""" + PAUSE + """
[[phases]]
id = "resumed"
resume = { from = "pause", approve = ["c1"], add = "Hurry." }
script = [{ error = {} }]
expect = { outcome = "raised" }
"""),
    ("a run fails that was given staged input", "error_data", PAY + PAUSE + """
[[phases]]
id = "resumed"
resume = { from = "pause", approve = ["c1"], add = "Hurry." }
script = [{ error = { type = "UserError" } }]
expect = { outcome = "raised" }
"""),
    ("an agent that must call a tool has handed over", "tool_choice", """
[agents.clerk]
handoffs = ["desk"]
[agents.desk]
handoffs = ["clerk"]
[run]
model_settings = { tool_choice = "required" }
[[phases]]
id = "only"
input = "Go."
script.clerk = [[{ handoff = "desk" }], [{ say = "Done." }]]
script.desk = [[{ handoff = "clerk" }]]
"""),
    ("a model thinks the same twice, and then the run fails", "stream_complete", """
[agents.clerk]
output_type = "sum"
[types.sum]
fields = { total = "integer" }
[[phases]]
id = "only"
input = "Go."
script = [
  [{ reasoning = "Hm.", id = "r1" }],
  [{ reasoning = "Hm.", id = "r2" }, { say = "no JSON" }],
]
expect = { outcome = "raised" }
"""),
    ("a tool fails beside one that cannot take its arguments", "failure_raised", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
parameters = { n = "integer" }
failure = "raise"
error = "broken"
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }, { call = "pay", args = { n = 1 } }]]
expect = { outcome = "raised" }
"""),
    ("a run in the session of one that waits", "tool_linkage", PAY + """
[session]
""" + PAUSE + """
[[phases]]
id = "another"
input = "Go on."
script = [[{ say = "Done." }]]
"""),
    ("a nested pause is resumed by text, then in memory in another branch", "relation_hooks", """
[agents.clerk]
tools = ["ask"]
[agents.helper]
tools = ["pay"]
[tools.ask]
agent = "helper"
[tools.pay]
returns = "paid"
needs_approval = true
[[phases]]
id = "pause"
input = "Go."
script.clerk = [[{ call = "ask", args = { input = "Pay." } }]]
script.helper = [[{ call = "pay", id = "c1" }]]
expect = { outcome = "interrupted", pending = ["c1"] }
[[phases]]
id = "stored"
resume = { from = "pause", branch = "a", via = "string", approve = ["c1"] }
script.clerk = [[{ say = "Done." }]]
script.helper = [[{ say = "Paid." }]]
[[phases]]
id = "kept"
resume = { from = "pause", branch = "b", approve = ["c1"] }
script.clerk = [[{ say = "Done." }]]
script.helper = [[{ say = "Paid." }]]
"""),
    ("the agent of a tool refuses", "agent_tool", """
[agents.clerk]
tools = ["ask"]
[agents.helper]
[tools.ask]
agent = "helper"
[[phases]]
id = "only"
input = "Go."
script.clerk = [[{ call = "ask", args = { input = "Pay." } }], [{ say = "No." }]]
script.helper = [[{ refusal = "I will not." }]]
"""),
    ("a run fails before a call of it can wait", "session_persistence", """
[agents.clerk]
tools = ["pay", "count"]
[tools.pay]
returns = "paid"
needs_approval = true
[tools.count]
failure = "raise"
error = "broken"
[session]
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }, { call = "count" }]]
expect = { outcome = "raised" }
"""),
    ("a guardrail trips where the session does not take the input", "tripwire_exception", """
[agents.clerk]
input_guardrails = ["wary"]
[guardrails.wary]
kind = "input"
trips = true
[session]
[[phases]]
id = "only"
input = "Go."
failing_write = {}
expect = { outcome = "raised" }
"""),
    ("a guardrail lets pass what the session does not take", "stream_parity", """
[agents.clerk]
input_guardrails = ["polite"]
[guardrails.polite]
kind = "input"
blocking = true
[session]
[[phases]]
id = "only"
input = "Go."
failing_write = {}
expect = { outcome = "raised" }
"""),
    ("two states of one pause hand over in one session", "tool_linkage", """
[agents.clerk]
tools = ["pay"]
handoffs = ["desk"]
[agents.desk]
[tools.pay]
returns = "paid"
needs_approval = true
[session]
[[phases]]
id = "pause"
input = "Go."
script = [[{ call = "pay", id = "c1" }, { handoff = "desk", id = "c2" }]]
expect = { outcome = "interrupted", pending = ["c1"] }
[[phases]]
id = "first"
resume = { from = "pause", branch = "a", approve = ["c1"] }
script.desk = [[{ say = "Done." }]]
[[phases]]
id = "second"
resume = { from = "pause", branch = "b", approve = ["c1"] }
script.desk = [[{ say = "Done again." }]]
[[phases]]
id = "third"
input = "Go on."
script = [[{ say = "And done." }]]
"""),
    ("a session limit and a callback cut a call from its output", "tool_linkage", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
[session]
limit = 2
[run]
session_input = { instead = "Go on." }
[[phases]]
id = "first"
input = "Go."
script = [[{ call = "pay" }], [{ say = "Done." }]]
[[phases]]
id = "second"
input = "Go."
script = [[{ say = "Done again." }]]
"""),
    ("what is staged comes to the agent that takes over", "guardrail_scope", """
[agents.clerk]
tools = ["pay"]
handoffs = ["desk"]
[agents.desk]
input_guardrails = ["polite"]
[tools.pay]
returns = "paid"
needs_approval = true
[guardrails.polite]
kind = "input"
[[phases]]
id = "pause"
input = "Go."
script = [[{ call = "pay", id = "c1" }, { handoff = "desk" }]]
expect = { outcome = "interrupted", pending = ["c1"] }
[[phases]]
id = "resumed"
resume = { from = "pause", approve = ["c1"], add = "Hurry." }
script.desk = [[{ say = "Done." }]]
"""),
    ("a stream is cancelled before its first turn", "cancel_modes", """
modes = ["run_streamed"]
[agents.clerk]
[session]
kind = "sqlite"
[[phases]]
id = "only"
input = "Go."
cancel = { when = "agent_updated_stream_event", mode = "after_turn" }
expect = { outcome = "cancelled" }
"""),
    ("a history that is handed on holds a summary", "handoff_history", """
[agents.clerk]
handoffs = ["desk"]
[agents.desk]
[run]
nest_handoff_history = true
[[phases]]
id = "first"
input = "Go there."
script.clerk = [[{ handoff = "desk" }]]
script.desk = [[{ say = "Here you are." }]]
[[phases]]
id = "second"
input = { follow = "first", text = "Go again." }
script.clerk = [[{ handoff = "desk" }]]
script.desk = [[{ say = "Here you are again." }]]
"""),
    ("a call is rejected where spans tell nothing", "span_tree", PAY + """
[run]
sensitive_traces = false
""" + PAUSE + """
[[phases]]
id = "rejected"
resume.from = "pause"
resume.decisions = [{ call = "c1", approve = false, always = true }]
script = [[{ call = "pay" }], [{ say = "No." }]]
"""),
    ("a state from JSON tells objects in another order", "relation_state", NESTED_HISTORY),
    ("an agent tool hands over to an agent with a type", "tool_output", """
[agents.clerk]
tools = ["ask", "note"]
[tools.note]
returns = "noted"
[agents.helper]
handoffs = ["counter"]
[agents.counter]
output_type = "sum"
[tools.ask]
agent = "helper"
[types.sum]
fields = { total = "integer", unit = "string" }
[[phases]]
id = "only"
input = "Go."
script.clerk = [
  [{ call = "ask", args = { input = "Count." } }, { call = "note" }],
  [{ say = "Done." }],
]
script.helper = [[{ handoff = "counter" }]]
script.counter = [[{ say = '{"total":3,"unit":"m"}' }]]
"""),
    ("an agent stops at an agent tool that gives an object", "stop_at_tool", """
[agents.clerk]
tools = ["ask"]
tool_use_behavior = "stop_on_first_tool"
[agents.counter]
output_type = "sum"
[tools.ask]
agent = "counter"
[types.sum]
fields = { total = "integer" }
[[phases]]
id = "only"
input = "Go."
script.clerk = [[{ call = "ask", args = { input = "Count." } }]]
script.counter = [[{ say = '{"total":3}' }]]
"""),
    ("an agent tool fails by an unknown tool beside a known one", "exactly_once", """
[agents.clerk]
tools = ["ask"]
[agents.helper]
tools = ["count"]
[tools.ask]
agent = "helper"
[tools.count]
returns = "1"
[[phases]]
id = "only"
input = "Go."
script.clerk = [[{ call = "ask", args = { input = "Count." } }], [{ say = "Done." }]]
script.helper = [[{ call = "count" }, { call = "nothing" }]]
"""),
    ("a call is rejected for always in words of one's own", "rejection", PAY + PAUSE + """
[[phases]]
id = "rejected"
resume.from = "pause"
resume.decisions = [{ call = "c1", approve = false, always = true, message = "Not now." }]
script = [[{ call = "pay" }], [{ say = "No." }]]
"""),
    ("a server keeps what a tool gave beside one that failed", "response_linkage", """
[agents.clerk]
tools = ["count"]
[tools.count]
outcomes = [{ error = "no" }, { returns = "1" }]
failure = "raise"
[run]
server = "conversation_id"
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "count" }, { call = "count" }]]
expect = { outcome = "raised" }
"""),
    ("the same is said on two pauses", "staged_input", PAY + PAUSE + """
[[phases]]
id = "again"
resume = { from = "pause", approve = ["c1"], add = "Hurry." }
script = [[{ call = "pay", id = "c2" }]]
expect = { outcome = "interrupted", pending = ["c2"] }
[[phases]]
id = "done"
resume = { from = "again", approve = ["c2"], add = "Hurry." }
script = [[{ say = "Done." }]]
"""),
    ("a call is rejected twice in other words", "rejection", PAY + """
[[phases]]
id = "pause"
input = "Go."
script = [[{ call = "pay", id = "c1" }, { call = "pay", id = "c2" }]]
expect = { outcome = "interrupted", pending = ["c1", "c2"] }
[[phases]]
id = "rejected"
resume = { from = "pause", decisions = [
  { call = "c1", approve = false, message = "No." },
  { call = "c1", approve = false, message = "Never." },
  { call = "c2", approve = false, message = "Not this one." },
] }
script = [[{ say = "Done." }]]
"""),
)
