"""Standalone scripts: what they say, and that they pass where nothing is wrong."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from agentrunproof.plan import catalog
from agentrunproof.why import reproducer, running
from agentrunproof.why.facts import Claim, unpaired

TOLD = reproducer.Told("tool_linkage", "ORPHAN_OUTPUT", "No output stands alone.", "0.19.4")


def script(id: str, *claims: Claim, mode: str = "run") -> str:
    plan = catalog.load(id)
    assert reproducer.unsupported(plan) is None
    return reproducer.script(plan, mode, claims, TOLD)


def test_a_script_uses_the_sdk_alone() -> None:
    text = script("session-limit-orphan-output", Claim("second", "unpaired", [], ["output:look"]))
    imported = {node.module for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.ImportFrom)}
    assert imported == {"agents", "agents.memory", "openai.types.responses"}
    assert "agentrunproof" not in text
    assert "No output stands alone. On openai-agents 0.19.4 it is not so" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_plan_with_uncommon_parts_has_no_script() -> None:
    plan = catalog.load("tripwire-beside-a-slow-guardrail")
    place = reproducer.unsupported(plan)
    assert place is not None
    assert place.startswith("guardrails.")


def test_calls_and_outputs_are_paired_in_order() -> None:
    call = {"type": "function_call", "call_id": "a"}
    output = {"type": "function_call_output", "call_id": "a"}
    assert unpaired([[call, output]]) == []
    assert unpaired([[output, call]]) == ["output:a", "call:a"]
    assert unpaired([[call], [output]]) == ["call:a", "output:a"]


@pytest.mark.sdk
@pytest.mark.parametrize("mode", ["run", "run_streamed"])
@pytest.mark.parametrize(("id", "right", "wrong"), [
    ("session-limit-orphan-output", Claim("second", "unpaired", [], ["output:look"]),
     Claim("second", "unpaired", ["output:look"], [])),
    ("runstate-sibling-approval-isolation", Claim("untouched", "outcome", "interrupted", ""),
     Claim("untouched", "tools", ["charge"], [])),
    ("resumed-output-guardrail-keeps-pair",
     Claim("approved", "outcome", "raised OutputGuardrailTripwireTriggered", ""),
     Claim("approved", "unpaired", ["call:call-1"], []))])
def test_a_script_passes_when_its_claim_is_so_and_fails_when_it_is_not(
        id: str, right: Claim, wrong: Claim, mode: str) -> None:
    python = Path(sys.executable)
    assert running.run_script(python, script(id, right, mode=mode)) is None
    failed = running.run_script(python, script(id, wrong, mode=mode))
    assert failed is not None
    assert failed.startswith(f"AssertionError: in run '{wrong.phase}' ")
