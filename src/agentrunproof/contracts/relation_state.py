"""A paused run goes on alike from its state, and from the text that the state was stored as.

"RunState is designed to be durable. Use state.to_json() or state.to_string() to store pending
work in a database or queue and recreate it later with RunState.from_json(...) or
RunState.from_string(...)."
(https://openai.github.io/openai-agents-python/human_in_the_loop/#long-running-approvals)

The plan is run once more for each of these ways that it does not take itself (the text is the
state's JSON, and is read as that), and everything from the pause
on is compared: model inputs, executions, decisions, results. `state_transition` looks at the state
on its way instead, and compares resumptions that the plan itself has.
"""

from __future__ import annotations

from agentrunproof.contracts.relations import contract

CONTRACT = contract(
    "state",
    promise="A resumed run does the same whether its state was kept, or stored and read back.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/"
           "#long-running-approvals",
)
