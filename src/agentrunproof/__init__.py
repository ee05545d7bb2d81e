"""Behaviour contracts for the OpenAI Agents SDK.

Scripted models drive the real Runner through declared plans; what was observed becomes a
certificate that anyone can judge again without the SDK. The names below are those of
`agentrunproof.api`, loaded when first used: importing this package never imports the SDK.
"""

# ruff: noqa: F403, F405 -- the star is how type checkers see the names that load lazily
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrunproof.api import *

__version__ = "0.1.0"

#: The names of `agentrunproof.api`, listed here so that asking for a submodule loads nothing else.
__all__ = [
    "Cancel", "Certificate", "Decision", "DeterministicModel", "ExpectedOutcome", "Item",
    "Judgement", "LiteralInput", "ModelError", "ModelStep", "Param", "RecordingSession",
    "ResumeInput", "Scenario", "ScenarioAgent", "ScenarioCase", "ScenarioGuardrail",
    "ScenarioHandoff", "ScenarioOutputType", "ScenarioPhase", "ScenarioPlan", "ScenarioResult",
    "ScenarioRun", "ScenarioSession", "ScenarioTool", "ScenarioToolGuardrail", "StateProbe",
    "ToolOutcome", "__version__", "assistant_message", "build_certificate", "check_certificate",
    "function_call", "load_certificate", "run_scenario", "write_certificate",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("agentrunproof.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
