"""Lifecycle hooks come once each and in order.

agents.lifecycle: on_agent_start "called before the agent is invoked. Called each time the current
agent changes"; on_agent_end "called when the agent produces a final output"; on_llm_start "called
just before invoking the LLM for this agent", on_llm_end "called immediately after the LLM call
returns"; on_tool_start "called immediately before a local tool is invoked", on_tool_end
"immediately after"; on_handoff "called when a handoff occurs".
(https://openai.github.io/openai-agents-python/ref/lifecycle/; openai-agents-python#1619)

Hooks of the run and of the agent (`scope`) are judged each for themselves. A nested agent tool that
pauses goes on without a second on_tool_start, so tool hooks are counted over the paused runs that a
run continues. Hooks that the release does not have are not due: those around the model came with
0.2.9, and a run says which it cannot hear. On resuming it is not promised when the agent's start
hook comes. A run that a failing hook or a cancellation cut short is not judged, but for this: a
tool whose on_tool_start failed is not invoked.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.calls import calls_made
from agentrunproof.contracts.reading import CUT_SHORT, lineage, races, retries
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]

_SCOPES = {"both": ("run", "agent"), "run": ("run",), "agent": ("agent",), "none": ()}
_LLM = {"on_llm_start": "model_called", "on_llm_end": "model_responded"}


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        failed = plan.run.hook_error is not None and run.outcome == "raised"
        if failed:
            yield from _invoked(plan, run)
        if failed or run.outcome in CUT_SHORT or races(plan, run):
            continue
        for scope in _SCOPES[plan.run.hooks]:
            yield from _llm(plan, run, scope)
            yield from _tools(run, lineage(plan, seen, run), scope)
            yield from _handoffs(run, scope)
            yield from _agent_starts(plan, run, scope)
            yield from _agent_ends(run, scope)


def _invoked(plan: Plan, run: PhaseRun) -> Found:
    """No tool is started whose on_tool_start of the run is what failed."""
    error, raised = plan.run.hook_error, run.last("raised")
    starts = _hooks(run, "run", "on_tool_start")
    if error is None or error.on != "on_tool_start" or not starts or raised is None or (
            error.message not in str(raised["error"].get("message"))):
        return
    failed = starts[0]["parent"], starts[0]["call"]
    if any((event["parent"], event["call"]) == failed for event in run.of("tool_started")):
        yield Violation("HOOK_OUT_OF_ORDER", run.where, f"the tool of call {failed[1]} was "
                        "started, and the hook before it failed")


def _hooks(run: PhaseRun, scope: str, *names: str) -> list[Event]:
    return [event for event in run.of("hook")
            if event["scope"] == scope and (not names or event["on"] in names)]


def _lanes(run: PhaseRun, scope: str) -> list[str]:
    """Where hooks of a scope are due: nested runs may well be without hooks of the run."""
    lanes = dict.fromkeys(event["parent"] for event in run.of("model_called"))
    heard = {event["parent"] for event in _hooks(run, scope)}
    return [lane for lane in lanes if not lane or scope == "agent" or lane in heard]


def _llm(plan: Plan, run: PhaseRun, scope: str) -> Found:
    """Each model call has one on_llm_start before it, each answer one on_llm_end after it.

    To try a failed call again is not another call.
    """
    again = retries(plan, run)
    due = [on for on in _LLM if not any(on in event["unheard"] for event in run.of("run_started"))]
    for lane in _lanes(run, scope):
        agents = dict.fromkeys(event["agent"] for event in run.of("model_called")
                               if event["parent"] == lane)
        for agent in agents:
            for on in due:
                kind = _LLM[on]
                is_hook = [event["kind"] == "hook" for event in run.of("hook", kind)
                           if event["agent"] == agent and event["parent"] == lane
                           and (event["kind"] == kind or (event["scope"], event["on"]) ==
                                (scope, on))
                           and not any(event is other for other in again)]
                yield from _paired(run, f"{scope} hook {on} of {agent}", is_hook, on)


def _paired(run: PhaseRun, what: str, is_hook: list[bool], on: str) -> Found:
    hooks, done = is_hook.count(True), is_hook.count(False)
    yield from _counted(run, what, hooks, done)
    hook_comes_first = on == "on_llm_start"
    if hooks == done and is_hook != [hook_comes_first, not hook_comes_first] * done:
        yield Violation("HOOK_OUT_OF_ORDER", run.where, f"{what} came "
                        f"{'after' if hook_comes_first else 'before'} its model call")


def _counted(run: PhaseRun, what: str, found: int, due: int) -> Found:
    if found != due:
        code = "HOOK_MISSING" if found < due else "HOOK_DUPLICATED"
        yield Violation(code, run.where, f"{what} came {found} times, {due} due")


def _tools(run: PhaseRun, runs: tuple[PhaseRun, ...], scope: str) -> Found:
    """Each executed call has one on_tool_start before it, and one on_tool_end if it ended well."""
    made = calls_made(runs)
    lanes = _lanes(run, scope)
    for key in dict.fromkeys((event["parent"], event["call"]) for event in run.of("tool_started")):
        if key[0] not in lanes:
            continue
        events = [event for other in runs
                  for event in other.of("hook", "tool_started", "tool_finished")
                  if (event["parent"], event["call"]) == key
                  and event.get("scope", scope) == scope]
        kinds = [event.get("on", event["kind"]) for event in events]
        times = min(kinds.count("tool_started"), max(made[key], 1))
        yield from _counted(run, f"{scope} hook on_tool_start of call {key[1]}",
                            kinds.count("on_tool_start"), times)
        ends = kinds.count("on_tool_end")
        ended = "tool_finished" in kinds or not key[0]  # a nested run may have failed with it
        if ends > times or (ended and run.outcome == "completed"):
            yield from _counted(run, f"{scope} hook on_tool_end of call {key[1]}", ends, times)
        if "on_tool_start" in kinds and kinds[0] != "on_tool_start":
            yield Violation("HOOK_OUT_OF_ORDER", run.where,
                            f"{scope} hook on_tool_start of call {key[1]} did not come first")


def _handoffs(run: PhaseRun, scope: str) -> Found:
    if run.outcome == "raised":
        return
    due = [(event["from"], event["to"]) for event in run.of("handoff") if not event["parent"]]
    found = [(event["agent"], event["other"]) for event in _hooks(run, scope, "on_handoff")
             if not event["parent"]]
    yield from _counted(run, f"{scope} hook on_handoff", len(found), len(due))
    if len(found) == len(due) and found != due:
        yield Violation("HOOK_OUT_OF_ORDER", run.where,
                        f"{scope} hook on_handoff named other agents than those of the handoff")


def _agent_starts(plan: Plan, run: PhaseRun, scope: str) -> Found:
    """In a run from the start: the first hook is the first agent's start, one more a handoff."""
    hooks = [event for event in _hooks(run, scope) if not event["parent"]]
    called = [event["agent"] for event in run.of("model_called") if not event["parent"]]
    if plan.phase(run.phase).resume is not None or not called:
        return
    due = [called[0]]
    due.extend(agent for agent, before in zip(called[1:], called, strict=False) if agent != before)
    found = [event["agent"] for event in hooks if event["on"] == "on_agent_start"]
    if run.outcome != "raised" or len(found) < len(due):
        yield from _counted(run, f"{scope} hook on_agent_start", len(found), len(due))
    if len(found) == len(due) and (found != due or hooks[0]["on"] != "on_agent_start"):
        yield Violation("HOOK_OUT_OF_ORDER", run.where,
                        f"{scope} hook on_agent_start of {due[0]} did not come first")


def _agent_ends(run: PhaseRun, scope: str) -> Found:
    """A completed run ends with one on_agent_end, of its last agent; a paused one has none."""
    result = run.last("result")
    hooks = [event for event in _hooks(run, scope) if not event["parent"]]
    ends = [event["agent"] for event in hooks if event["on"] == "on_agent_end"]
    if run.outcome in ("completed", "interrupted"):
        due = 1 if run.outcome == "completed" else 0
        yield from _counted(run, f"{scope} hook on_agent_end", len(ends), due)
    elif len(ends) > 1:
        yield from _counted(run, f"{scope} hook on_agent_end", len(ends), 1)
    if run.outcome == "completed" and result is not None and len(ends) == 1 and (
            ends != [result["last_agent"]] or hooks[-1]["on"] != "on_agent_end"):
        yield Violation("HOOK_OUT_OF_ORDER", run.where,
                        f"{scope} hook on_agent_end of {result['last_agent']} did not come last")


CONTRACT = Contract(
    name="hook_order",
    promise="Each lifecycle hook comes once for what it announces, and in order.",
    source="https://openai.github.io/openai-agents-python/ref/lifecycle/",
    codes={
        "HOOK_MISSING": "something happened without its hook",
        "HOOK_DUPLICATED": "a hook came more often than what it announces",
        "HOOK_OUT_OF_ORDER": "a hook came at another time, or for another agent, than promised",
    },
    applies=lambda plan, seen: plan.run.hooks != "none" and bool(seen.runs),
    violations=_violations,
)
