"""Which plans a standalone script can be written of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agentrunproof.plan.model import Plan
from agentrunproof.shape import encode

#: What a script can have of each part.
_AGENT = {"instructions", "handoff_description", "tools", "handoffs", "input_guardrails",
          "output_guardrails", "tool_use_behavior", "stop_at_tools"}
_TOOL = {"description", "parameters", "order", "outcomes", "needs_approval", "failure"}
_AGENT_TOOL = {"description", "needs_approval", "failure", "max_turns", "agent"}
_GUARDRAIL = {"kind", "trips", "trips_on", "error", "blocking"}
_HANDOFF = {"to", "tool_name", "description", "filter", "nest_history", "error"}
_SESSION = {"kind", "id", "limit", "items"}
_RUN = {"max_turns", "hooks", "hook_error", "tracing", "sensitive_traces", "on_max_turns",
        "nest_handoff_history", "context", "input_guardrails", "output_guardrails"}
_PHASE = {"id", "input", "resume", "agent", "script", "context", "max_turns", "expect"}
_ITEMS = {"say", "reasoning", "call", "handoff"}
#: Types of parameters, as Python writes them.
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool",
          "string[]": "list[str]", "integer[]": "list[int]"}

_FIELD = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")


def unsupported(plan: Plan) -> str | None:
    """The first part of the plan that a script cannot have; None if it can be written."""
    return next(_unsupported(plan), None)


def _unsupported(plan: Plan) -> Iterator[str]:
    yield from (place for place, _ in plan.python_refs())
    shared = [{*plan.agents} & {*plan.tools}, {*plan.agents, *plan.tools} & {*plan.guardrails}]
    yield from (f"one name for two parts: {name}" for names in shared for name in names)
    for key in ("tool_guardrails", "types"):
        yield from (f"{key}.{name}" for name in getattr(plan, key))
    for key, known in (("agents", _AGENT), ("guardrails", _GUARDRAIL), ("handoffs", _HANDOFF)):
        for name, part in getattr(plan, key).items():
            yield from _beyond(part, known, f"{key}.{name}")
    for name, tool in plan.tools.items():
        yield from _beyond(tool, _AGENT_TOOL if tool.agent else _TOOL, f"tools.{name}")
        if tool.agent:
            continue
        if len(tool.outcomes) != 1 or encode(tool.outcomes[0]).keys() - {"returns", "error"}:
            yield f"tools.{name}.outcomes"
        elif _FIELD.sub("", tool.outcomes[0].returns or "").count("{"):
            yield f"tools.{name}.returns"
        yield from (f"tools.{name}.parameters.{key}" for key, param in tool.parameters.items()
                    if param.default is not None or param.type not in TYPES
                    or param.description is not None)
        if tool.failure == "text":
            yield f"tools.{name}.failure"
    if plan.session is not None:
        yield from _beyond(plan.session, _SESSION, "session")
    yield from _beyond(plan.run, _RUN, "run")
    for phase in plan.phases:
        yield from _beyond(phase, _PHASE, f"phases.{phase.id}")
        for steps in phase.script.values():
            for step in steps:
                yield from _beyond(step, {"output"} if step.error is None else {"error"},
                                   f"phases.{phase.id}.script")
                for item in step.output:
                    if item.kind not in _ITEMS or item.more:
                        yield f"phases.{phase.id}.script: {item.kind}"


def _beyond(part: Any, known: set[str], place: str) -> Iterator[str]:
    yield from (f"{place}.{key}" for key in sorted(encode(part).keys() - known))
