"""What may be wrong with a run, one noun each; every detector reads the trace once."""

from __future__ import annotations

from agentrunproof.localize.detectors import (
    apology,
    budget,
    claim,
    count,
    emptiness,
    evidence,
    flapping,
    gap,
    incomplete_handoff,
    instruction,
    interruption,
    loop,
    model_failure,
    outcome,
    repetition,
    request,
    retry_storm,
    stale_memory,
    start,
    state_change,
    tool_failure,
    wording,
)
from agentrunproof.localize.seen import Detector

#: by the names that stand in records
DETECTORS: dict[str, Detector] = {
    module.__name__.rsplit(".", 1)[1].replace("_", "-"): module.find for module in (
        tool_failure, model_failure, retry_storm, loop, flapping, stale_memory,
        incomplete_handoff, claim, outcome, interruption, start, gap, budget, wording, emptiness,
        apology, evidence, count, request, repetition, instruction, state_change)}
