"""Rules about the options of a plan's runs: what does not go together, what says nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agentrunproof.plan.model import HookError, Plan, Run
from agentrunproof.plan.problem import Problem, guardrail_problems, seconds_problems
from agentrunproof.shape import MAX_INT, encode, join

MAX_DEPTH = 32


def run_problems(plan: Plan) -> Iterator[Problem]:
    """Problems of the options, and of the contexts of phases."""
    for kind in ("input", "output"):
        place = f"run.{kind}_guardrails"
        names = getattr(plan.run, f"{kind}_guardrails")
        yield from guardrail_problems(plan.guardrails, names, kind, place)
    yield from _hook_problems(plan.run)
    if plan.run.server != "none" and plan.session is not None:
        yield Problem("PLAN_CONTRADICTION", "run.server", "the history is kept by the server or "
                      "by a session", "leave out one of them")
    if plan.run.callables != "function" and not any(
            agent.instructions or agent.handoffs for agent in plan.agents.values()):
        yield Problem("PLAN_CONTRADICTION", "run.callables", "the plan gives no function away",
                      "it is for instructions, and for callbacks and filters of handoffs")
    yield from _filter_problems(plan.run)
    yield from _turn_problems(plan)
    yield from _handing_problems(plan)
    yield from _telling_problems(plan)
    if not plan.run.sensitive_traces and not plan.run.tracing:
        yield Problem("PLAN_CONTRADICTION", "run.sensitive_traces", "no spans are made")
    if plan.run.context is not None:
        yield from _plain(plan.run.context, "run.context", MAX_DEPTH)
    for n, phase in enumerate(plan.phases):
        if phase.context is not None:
            yield from _plain(phase.context, f"phases[{n}].context", MAX_DEPTH)


def _turn_problems(plan: Plan) -> Iterator[Problem]:
    run = plan.run
    limited = run.max_turns is not None or any(phase.max_turns for phase in plan.phases)
    if run.unlimited_turns and (limited or run.on_max_turns is not None):
        yield Problem("PLAN_CONTRADICTION", "run.unlimited_turns", "turns are limited elsewhere",
                      "leave out max_turns and on_max_turns")
    if run.on_invalid_output is not None:
        if not any(agent.output_type for agent in plan.agents.values()):
            yield Problem("PLAN_CONTRADICTION", "run.on_invalid_output",
                          "no agent declares an output_type")
        if not isinstance(_value(run.on_invalid_output), dict):
            yield Problem("PLAN_TYPE", "run.on_invalid_output",
                          "expected the JSON text of a table")
    if not run.fallback_in_history and (
            run.on_max_turns, run.on_refusal, run.on_invalid_output) == (None, None, None):
        yield Problem("PLAN_CONTRADICTION", "run.fallback_in_history", "no handler supplies any")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _handing_problems(plan: Plan) -> Iterator[Problem]:
    run = plan.run
    if run.session_input is not None:
        if plan.session is None:
            yield Problem("PLAN_CONTRADICTION", "run.session_input", "the plan has no session")
        if not encode(run.session_input):
            yield Problem("PLAN_EMPTY", "run.session_input", "does nothing",
                          "such as { keep = 2 }")
    if run.handoff_filter != "none" and run.server != "none":
        yield Problem("PLAN_CONTRADICTION", "run.handoff_filter", "does not go with run.server",
                      "the SDK refuses it there")
    nests = run.nest_handoff_history or any(
        handoff.nest_history for handoff in plan.handoffs.values())
    if run.history_text is not None and not nests:
        yield Problem("PLAN_CONTRADICTION", "run.history_text", "no history is nested",
                      "nest_handoff_history = true")
    for key in ("handoff_filter", "history_text"):
        if encode(run).get(key) is not None and not any(
                agent.handoffs for agent in plan.agents.values()):
            yield Problem("PLAN_CONTRADICTION", f"run.{key}", "no agent hands over")


def _telling_problems(plan: Plan) -> Iterator[Problem]:
    run = plan.run
    guarded = any(tool.needs_approval and tool.input_guardrails for tool in plan.tools.values())
    if run.pre_approval_guardrails and not guarded:
        yield Problem("PLAN_CONTRADICTION", "run.pre_approval_guardrails",
                      "no tool has both input guardrails and needs_approval")
    if run.max_tools_at_once is not None and not plan.tools:
        yield Problem("PLAN_CONTRADICTION", "run.max_tools_at_once", "the plan has no tools")


def _hook_problems(run: Run) -> Iterator[Problem]:
    error = run.hook_error
    if error is not None and run.hooks not in ("both", "run"):
        yield Problem("PLAN_CONTRADICTION", "run.hook_error", "no hooks of the run are installed",
                      f"drop hooks = \"{run.hooks}\"")
    if error is not None and error.cancel and error != HookError(on=error.on, cancel=True):
        yield Problem("PLAN_CONTRADICTION", "run.hook_error.message",
                      "a cancellation says nothing", "leave it out")
    if run.hook_delay is not None:
        if run.hooks not in ("both", "agent"):
            yield Problem("PLAN_CONTRADICTION", "run.hook_delay",
                          "no hooks of the agent are installed", f"drop hooks = \"{run.hooks}\"")
        yield from seconds_problems(run.hook_delay, ("delay",), "run.hook_delay")


def _filter_problems(run: Run) -> Iterator[Problem]:
    declared = run.input_filter
    if declared is None:
        return
    given = sorted(encode(declared))
    if not given:
        yield Problem("PLAN_EMPTY", "run.input_filter", "does nothing", "such as { keep = 2 }")
    if len(given) > 1 and (declared.error is not None or declared.malformed):
        yield Problem("PLAN_CONTRADICTION", "run.input_filter", "a filter that fails does nothing "
                      "else", f"keep one of {', '.join(given)}")
    if run.server != "none":
        yield Problem("PLAN_CONTRADICTION", "run.input_filter", "does not go with run.server",
                      "what is sent there is only a part of the conversation")


def _plain(value: Any, place: str, depth: int) -> Iterator[Problem]:
    """Contexts enter canonical bytes, so they hold text, integers, flags, lists and tables."""
    if depth == 0:
        yield Problem("PLAN_TOO_DEEP", place, f"nested more than {MAX_DEPTH} deep")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _plain(item, join(place, key), depth - 1)
    elif isinstance(value, list | tuple):
        for n, item in enumerate(value):
            yield from _plain(item, f"{place}[{n}]", depth - 1)
    elif isinstance(value, float):
        yield Problem("PLAN_FLOAT", place, f"a float ({value}) cannot enter canonical bytes",
                      "write it as text, such as \"0.5\"")
    elif isinstance(value, int) and abs(value) > MAX_INT:
        yield Problem("PLAN_RANGE", place, "an integer beyond 2^53 - 1")
    elif value is not None and not isinstance(value, str | int):
        yield Problem("PLAN_TYPE", place, f"expected plain data, found {type(value).__name__}")
