"""Behaviour contracts for the OpenAI Agents SDK.

Scripted models drive the real Runner through declared plans; what was observed becomes a
certificate that anyone can judge again without the SDK. The names below are those of
`agentrunproof.api`, loaded when first used: importing this package never imports the SDK.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrunproof.api import Decision as Decision
    from agentrunproof.api import DeterministicModel as DeterministicModel
    from agentrunproof.api import ExpectedOutcome as ExpectedOutcome
    from agentrunproof.api import LiteralInput as LiteralInput
    from agentrunproof.api import ModelStep as ModelStep
    from agentrunproof.api import RecordingSession as RecordingSession
    from agentrunproof.api import ResumeInput as ResumeInput
    from agentrunproof.api import Scenario as Scenario
    from agentrunproof.api import ScenarioCase as ScenarioCase
    from agentrunproof.api import ScenarioPhase as ScenarioPhase
    from agentrunproof.api import ScenarioPlan as ScenarioPlan
    from agentrunproof.api import StateProbe as StateProbe
    from agentrunproof.api import assistant_message as assistant_message
    from agentrunproof.api import build_certificate as build_certificate
    from agentrunproof.api import check_certificate as check_certificate
    from agentrunproof.api import function_call as function_call
    from agentrunproof.api import load_certificate as load_certificate
    from agentrunproof.api import run_scenario as run_scenario
    from agentrunproof.api import write_certificate as write_certificate

__version__ = "0.1.0"

__all__ = [
    "Decision", "DeterministicModel", "ExpectedOutcome", "LiteralInput", "ModelStep",
    "RecordingSession", "ResumeInput", "Scenario", "ScenarioCase", "ScenarioPhase",
    "ScenarioPlan", "StateProbe", "__version__", "assistant_message", "build_certificate",
    "check_certificate", "function_call", "load_certificate", "run_scenario",
    "write_certificate",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("agentrunproof.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
