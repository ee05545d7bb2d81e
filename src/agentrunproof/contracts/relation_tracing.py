"""Tracing records a run and does not change it.

"The Agents SDK includes built-in tracing, collecting a comprehensive record of events during an
agent run"; "You can disable tracing for a single run by setting
agents.run.RunConfig.tracing_disabled to True."
(https://openai.github.io/openai-agents-python/tracing/) The plan is run once more without it: for
this check, or together with what relation_hooks asks where the plan has hooks to leave out.
"""

from __future__ import annotations

from agentrunproof.contracts.relations import contract

CONTRACT = contract(
    "tracing",
    promise="A run does the same whether it is traced or not.",
    source="https://openai.github.io/openai-agents-python/tracing/",
)
