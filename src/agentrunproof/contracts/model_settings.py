"""A model is asked with the settings of its agent, over which those of the run go.

"Agent.model_settings: Configures model-specific tuning parameters (e.g. temperature, top_p)."
(https://openai.github.io/openai-agents-python/ref/agent/) "RunConfig.model_settings: Overrides
agent-specific settings. For example, you can set a global temperature or top_p."
(https://openai.github.io/openai-agents-python/running_agents/#run-config); "ModelSettings.resolve:
Produce a new ModelSettings by overlaying any non-None values from the override on top of this
instance."

The choice of tools is judged by tool_choice. The settings of a nested run are its agent's; whether
those of the run around it reach it is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun
from agentrunproof.shape import encode

_DECIMALS = ("temperature", "top_p", "timeout")


def _asked(plan: Plan, seen: Observation) -> Iterator[tuple[PhaseRun, Event, dict[str, Any]]]:
    """Model calls of the outermost run with the settings that are due, if any are declared."""
    over = encode(plan.run.model_settings)
    for run in seen.runs:
        for event in run.of("model_called"):
            if event["agent"] in plan.agents and not event["parent"]:
                due = encode(plan.agents[event["agent"]].model_settings) | over
                due.pop("tool_choice", None)
                if due:
                    yield run, event, due


def _violations(plan: Plan, seen: Observation) -> Iterator[Violation | Unobserved]:
    for run, event, due in _asked(plan, seen):
        for name, value in due.items():
            found = event["settings"].get(name)
            if found is None:
                yield Violation("SETTING_LOST", run.where, f"the model of {event['agent']} is "
                                f"asked without {name}, declared is {value!r}")
            elif _value(name, found) != _value(name, value):
                yield Violation("SETTING_DIFFERS", run.where, f"the model of {event['agent']} is "
                                f"asked with {name} {found!r}, declared is {value!r}")


def _value(name: str, value: Any) -> Any:
    return Decimal(value) if name in _DECIMALS else value


CONTRACT = Contract(
    name="model_settings",
    promise="A model is asked with the settings of its agent, over which those of the run go.",
    source="https://openai.github.io/openai-agents-python/running_agents/#run-config",
    codes={
        "SETTING_LOST": "a model was asked without a setting that is declared",
        "SETTING_DIFFERS": "a model was asked with another value of a setting than declared",
    },
    applies=lambda plan, seen: any(_asked(plan, seen)),
    violations=_violations,
)
