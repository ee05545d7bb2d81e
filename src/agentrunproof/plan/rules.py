"""What a plan must hold to beyond the shapes of its parts.

Names must exist, parts must not contradict each other, and nothing may be declared that could
never have an effect. The first breach is raised, with its place in the plan, the problem and a
hint. Rules about phases, scripts and expectations are in `plan.phase_rules`, those
about options of the run in `plan.run_rules`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from agentrunproof.errors import PlanError, ShapeError
from agentrunproof.plan.call_rules import call_problems
from agentrunproof.plan.capabilities import CAPABILITIES
from agentrunproof.plan.items import of_type, template_fields
from agentrunproof.plan.model import (
    Agent,
    Handoff,
    OutputType,
    Param,
    Plan,
    PythonRef,
    Tool,
)
from agentrunproof.plan.phase_rules import history_problems, phase_problems
from agentrunproof.plan.problem import (
    Problem,
    guardrail_problems,
    names_problems,
    repeated,
    seconds_problems,
    unknown,
)
from agentrunproof.plan.relations import relation_problems
from agentrunproof.plan.run_rules import run_problems
from agentrunproof.plan.server_rules import server_problems
from agentrunproof.shape import decode, encode

_AGENT_TOOL_FIELDS = {"description", "needs_approval", "failure", "failure_text", "enabled",
                      "agent", "max_turns"}
_PYTHON_TOOL_FIELDS = {"description", "needs_approval", "failure", "failure_text", "enabled",
                       "timeout", "timeout_behavior", "input_guardrails", "output_guardrails",
                       "strict", "python"}
_UPSTREAM = re.compile(r"[A-Za-z0-9_.\-]+#[1-9][0-9]*")


def check(plan: Plan) -> None:
    """Refuse a plan that contradicts itself.

    Raises:
        PlanError: the first problem found, in the order of the plan's sections.
    """
    for problem in _problems(plan):
        raise PlanError(problem.code, f"{problem.place}: {problem.text}", problem.hint)


def _problems(plan: Plan) -> Iterator[Problem]:
    """Problems one by one; each rule counts on those before it having found none."""
    yield from _head_problems(plan)
    yield from call_problems(plan)
    for name, agent in plan.agents.items():
        yield from _agent_problems(plan, agent, f"agents.{name}")
    for name, tool in plan.tools.items():
        yield from _tool_problems(plan, tool, f"tools.{name}")
    yield from server_problems(plan)
    yield from _nesting_problems(plan)
    yield from _guardrail_problems(plan)
    for name, handoff in plan.handoffs.items():
        yield from _handoff_problems(plan, handoff, f"handoffs.{name}", name)
    for name, declared in plan.types.items():
        yield from _type_problems(declared, f"types.{name}")
    yield from run_problems(plan)
    yield from history_problems(plan)
    yield from phase_problems(plan)
    yield from _gate_problems(plan)


def _head_problems(plan: Plan) -> Iterator[Problem]:
    for key in ("title", "contract"):
        if not getattr(plan, key).strip():
            yield Problem("PLAN_EMPTY", key, "says nothing", "one sentence")
    for n, link in enumerate(plan.docs):
        if not link.startswith("https://"):
            yield Problem("PLAN_LINK", f"docs[{n}]", f"{link!r} is not an https:// link")
    for n, issue in enumerate(plan.upstream):
        if not _UPSTREAM.fullmatch(issue):
            yield Problem("PLAN_LINK", f"upstream[{n}]", f"{issue!r} is not repository#number",
                          "such as openai-agents-python#4409")
    for n, name in enumerate(plan.requires):
        if name not in CAPABILITIES:
            yield unknown(f"requires[{n}]", "capability", name, CAPABILITIES)
    yield from repeated("requires", plan.requires)
    yield from relation_problems(plan)
    if not plan.modes:
        yield Problem("PLAN_EMPTY", "modes", "a plan runs in at least one mode")
    yield from repeated("modes", plan.modes)
    if not plan.calls:
        yield from names_problems("start", "agent", (plan.start,), plan.agents)


def _agent_problems(plan: Plan, agent: Agent, place: str) -> Iterator[Problem]:
    yield from names_problems(f"{place}.tools", "tool", agent.tools, plan.tools)
    yield from names_problems(f"{place}.handoffs", "handoff or agent", agent.handoffs,
                      {**plan.handoffs, **plan.agents})
    for kind in ("input", "output"):
        yield from guardrail_problems(plan.guardrails, getattr(agent, f"{kind}_guardrails"), kind,
                                    f"{place}.{kind}_guardrails")
    if agent.output_type is not None:
        yield from names_problems(f"{place}.output_type", "type", (agent.output_type,), plan.types)
    if bool(agent.stop_at_tools) != (agent.tool_use_behavior == "stop_at_tools"):
        yield Problem("PLAN_CONTRADICTION", f"{place}.tool_use_behavior",
                      "'stop_at_tools' and a list stop_at_tools go together")
    if (agent.instructions or "").startswith("python:"):
        try:
            decode(PythonRef, agent.instructions, f"{place}.instructions")
        except ShapeError as error:
            yield Problem("PLAN_TYPE", error.path, error.problem, error.hint)


def _tool_problems(plan: Plan, tool: Tool, place: str) -> Iterator[Problem]:
    bodies = [kind for kind, given in (("outcomes", tool.outcomes), ("agent", tool.agent),
                                       ("python", tool.python)) if given]
    if len(bodies) != 1:
        found = " and ".join(bodies) or "none of them"
        yield Problem("PLAN_CONTRADICTION", place,
                      f"a tool does one thing: outcomes, agent or python; found {found}",
                      "for a plain tool write returns = \"...\"")
    for body, allowed in (("agent", _AGENT_TOOL_FIELDS), ("python", _PYTHON_TOOL_FIELDS)):
        for key in sorted(set(encode(tool)) - allowed) if body in bodies else ():
            yield Problem("PLAN_CONTRADICTION", f"{place}.{key}",
                          f"does not go with {body!r}", "leave it out")
    if tool.agent is not None:
        yield from names_problems(f"{place}.agent", "agent", (tool.agent,), plan.agents)
    elif tool.max_turns is not None:
        yield Problem("PLAN_CONTRADICTION", f"{place}.max_turns",
                      "is for the nested run of an agent as a tool", "leave it out")
    yield from _params_problems(tool.parameters, tool.order, place, "parameters")
    yield from _outcome_problems(tool, place)
    if (tool.failure == "text") != (tool.failure_text is not None):
        yield Problem("PLAN_CONTRADICTION", f"{place}.failure_text",
                      "goes with failure = \"text\", and that with it")
    if tool.enabled_until is not None and not tool.enabled:
        yield Problem("PLAN_CONTRADICTION", f"{place}.enabled_until", "it is never enabled")
    if tool.timeout is None and tool.timeout_behavior != "error_as_result":
        yield Problem("PLAN_CONTRADICTION", f"{place}.timeout_behavior", "needs a timeout")
    if tool.timeout_text is not None and (tool.timeout is None
                                          or tool.timeout_behavior != "error_as_result"):
        yield Problem("PLAN_CONTRADICTION", f"{place}.timeout_text", "no timeout is told")
    yield from seconds_problems(tool, ("timeout", "delay"), place)
    for kind in ("input", "output"):
        names = getattr(tool, f"{kind}_guardrails")
        here = f"{place}.{kind}_guardrails"
        yield from names_problems(here, "tool guardrail", names, plan.tool_guardrails)
        for name in names:
            if name in plan.tool_guardrails and plan.tool_guardrails[name].kind != kind:
                yield Problem("PLAN_KIND", here, f"{name!r} does not guard a tool's {kind}",
                              f"set kind = \"{kind}\" in tool_guardrails.{name}")


def _outcome_problems(tool: Tool, place: str) -> Iterator[Problem]:
    for n, outcome in enumerate(tool.outcomes):
        here = f"{place}.outcomes[{n}]"
        given = sorted(encode(outcome))
        if len(given) != 1:
            yield Problem("PLAN_CONTRADICTION", here,
                          f"an outcome is one of returns, error, cancel, hang, exit; found "
                          f"{' and '.join(given) or 'none'}")
        if outcome.exit is not None and not 0 <= outcome.exit <= 255:
            yield Problem("PLAN_RANGE", f"{here}.exit", "expected a status from 0 to 255")
        for name in template_fields(outcome.returns or ""):
            if name not in tool.parameters:
                yield unknown(f"{here}.returns", "parameter", name, tool.parameters)


def _params_problems(params: dict[str, Param], order: tuple[str, ...], place: str,
                     key: str) -> Iterator[Problem]:
    if sorted(order) != sorted(params):
        yield Problem("PLAN_CONTRADICTION", f"{place}.order",
                      f"must list each of the {key} once",
                      "in TOML it follows from the order in which they stand")
    optional = None
    for name in order:
        param = params.get(name)
        if param is None:
            continue
        if param.default is None and optional is not None:
            yield Problem("PLAN_CONTRADICTION", f"{place}.{key}.{name}",
                          f"is required but follows {optional!r}, which has a default",
                          "put those with a default last, as Python does")
        if param.default is not None:
            optional = name
            yield from _default_problems(param, f"{place}.{key}.{name}.default")


def _default_problems(param: Param, place: str) -> Iterator[Problem]:
    try:
        value = json.loads(param.default or "")
    except ValueError:
        yield Problem("PLAN_TYPE", place, f"{param.default!r} is not JSON text")
        return
    if not of_type(param.type, value):
        yield Problem("PLAN_TYPE", place, f"{param.default} is not of type {param.type}")


def _type_problems(declared: OutputType, place: str) -> Iterator[Problem]:
    if not declared.fields:
        yield Problem("PLAN_EMPTY", f"{place}.fields", "an output type needs a field")
    for name, param in declared.fields.items():
        if param.default is not None:
            yield Problem("PLAN_CONTRADICTION", f"{place}.fields.{name}.default",
                          "a model must give each field of an output type", "leave it out")
    yield from _params_problems(declared.fields, declared.order, place, "fields")


def _nesting_problems(plan: Plan) -> Iterator[Problem]:
    """Agents as tools must not go round in a circle that no `max_turns` bounds."""
    unbounded = {
        name: {plan.tools[tool].agent for tool in agent.tools
               if tool in plan.tools and plan.tools[tool].max_turns is None}
        for name, agent in plan.agents.items()}
    for name in plan.agents:
        reached: set[str | None] = set()
        ahead = [*unbounded[name]]
        while ahead:
            at = ahead.pop()
            if at in reached or at is None:
                continue
            reached.add(at)
            ahead += unbounded.get(at, set())
        if name in reached:
            yield Problem("PLAN_CYCLE", f"agents.{name}.tools",
                          "this agent is a tool of itself, without a bound",
                          "give one of the tools in the circle max_turns")


def _guardrail_problems(plan: Plan) -> Iterator[Problem]:
    for name, guardrail in plan.guardrails.items():
        place = f"guardrails.{name}"
        acts = [key for key in ("trips", "trips_on", "error", "python") if getattr(guardrail, key)]
        if len(acts) > 1:
            yield Problem("PLAN_CONTRADICTION", place, f"{' and '.join(acts)} exclude each other",
                          "keep one of them")
        if guardrail.blocking and guardrail.kind != "input":
            yield Problem("PLAN_CONTRADICTION", f"{place}.blocking", "is for input guardrails")
        yield from seconds_problems(guardrail, ("delay", "cleanup"), place)
        for key in ("delay", "cleanup"):
            if guardrail.python is not None and getattr(guardrail, key) is not None:
                yield Problem("PLAN_CONTRADICTION", f"{place}.{key}", "does not go with 'python'",
                              "leave it out")
    for name, tool_guardrail in plan.tool_guardrails.items():
        if tool_guardrail.when == "":
            yield Problem("PLAN_EMPTY", f"tool_guardrails.{name}.when", "an empty text",
                          "leave it out to mean always")


def _handoff_problems(plan: Plan, handoff: Handoff, place: str, name: str) -> Iterator[Problem]:
    if name in plan.agents:
        yield Problem("PLAN_DUPLICATE", place, "is also the name of an agent",
                      "an agent's handoffs may name either, so the names must differ")
    yield from names_problems(f"{place}.to", "agent", (handoff.to,), plan.agents)
    if handoff.enabled_until is not None and not handoff.enabled:
        yield Problem("PLAN_CONTRADICTION", f"{place}.enabled_until", "it is never enabled")
    if handoff.input_type is not None:
        yield from names_problems(f"{place}.input_type", "type", (handoff.input_type,), plan.types)


def _gate_problems(plan: Plan) -> Iterator[Problem]:
    opened = {part.opens for part in _gated(plan) if part.opens}
    opened |= {tool.opens_done for tool in plan.tools.values() if tool.opens_done}
    for place, gate in _waits(plan):
        if gate not in opened:
            yield unknown(place, "gate (nothing opens it)", gate, opened)


def _gated(plan: Plan) -> Iterator[Any]:
    yield from plan.tools.values()
    yield from plan.guardrails.values()
    for phase in plan.phases:
        for steps in phase.script.values():
            yield from steps


def _waits(plan: Plan) -> Iterator[tuple[str, str]]:
    parts: list[tuple[str, Any]] = [
        *((f"tools.{name}", tool) for name, tool in plan.tools.items()),
        *((f"guardrails.{name}", guardrail) for name, guardrail in plan.guardrails.items()),
        *((f"phases[{n}].script.{agent}[{i}]", step) for n, phase in enumerate(plan.phases)
          for agent, steps in phase.script.items() for i, step in enumerate(steps))]
    for place, part in parts:
        if part.after is not None:
            yield f"{place}.after", part.after
    for kind, table in (("tools", plan.tools), ("handoffs", plan.handoffs)):
        for name, part in table.items():
            if part.enabled_until is not None:
                yield f"{kind}.{name}.enabled_until", part.enabled_until
