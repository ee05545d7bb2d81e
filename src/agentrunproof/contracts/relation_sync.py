"""The synchronous run does what the awaited one does.

Runner.run_sync() "is a sync method and just runs .run() under the hood".
(https://openai.github.io/openai-agents-python/running_agents/) A plan that is run synchronously
itself has this in stream_parity. Any other is run so once more: for this check, or together with
what relation_hooks asks where the plan has hooks to leave out.
"""

from __future__ import annotations

from agentrunproof.contracts.relations import contract

CONTRACT = contract(
    "sync",
    promise="A synchronous run does the same as an awaited one.",
    source="https://openai.github.io/openai-agents-python/running_agents/",
)
