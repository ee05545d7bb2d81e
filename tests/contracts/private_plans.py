"""Sound plans whose private records must tell nothing either; see `sound_plans`."""

from __future__ import annotations

from tests.contracts.sound_plans import NESTED_HISTORY, PAUSE, PAY

#: Plans whose private record once told a breach: they count on defaults, or on what a text says.
PRIVATE_PLANS: tuple[tuple[str, str, str], ...] = (
    ("a guardrail rejects in the default words", "tool_output", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
input_guardrails = ["wary"]
[tool_guardrails.wary]
kind = "input"
behavior = "reject_content"
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }], [{ say = "Done." }]]
"""),
    ("a call is rejected in the default words", "rejection", PAY + PAUSE + """
[[phases]]
id = "rejected"
resume = { from = "pause", reject = ["c1"] }
script = [[{ say = "Done." }]]
"""),
    ("a hook fails in the default words", "failure_raised", """
[agents.clerk]
[run]
hook_error = { on = "on_agent_start" }
[[phases]]
id = "only"
input = "Go."
expect = { outcome = "raised" }
"""),
    ("a model fails in the default words", "failure_raised", """
[agents.clerk]
[[phases]]
id = "only"
input = "Go."
script = [{ error = { type = "ValueError" } }]
expect = { outcome = "raised" }
"""),
    ("a final output has a type", "final_output", """
[agents.clerk]
output_type = "sum"
[types.sum]
fields = { total = "integer" }
[[phases]]
id = "only"
input = "Go."
script = [[{ say = '{"total":3}' }]]
"""),
    ("a tool times out in the default words", "tool_timeout", """
[agents.clerk]
tools = ["pay"]
[tools.pay]
returns = "paid"
delay = "1"
timeout = "0.5"
[[phases]]
id = "only"
input = "Go."
script = [[{ call = "pay" }], [{ say = "Done." }]]
"""),
    ("a state from JSON tells the history out of sight", "relation_state", NESTED_HISTORY),
)
