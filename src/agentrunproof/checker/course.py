"""Step 7: the course of the runs, as far as our own driver determines it.

The driver runs each phase in each mode, begins every run with what it starts from and ends it
with what came out (`agentrunproof.sdk.drive`). None of this depends on what the SDK does, so a
record that has it otherwise was not written by the driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from agentrunproof.checker.binding import Release
from agentrunproof.checker.judgement import reject
from agentrunproof.plan import capabilities
from agentrunproof.plan.items import phase_input, value_text
from agentrunproof.plan.model import Phase, Plan
from agentrunproof.record.events import Event, make
from agentrunproof.record.observation import Observation, PhaseRun

_SPANS = ("span_started", "span_finished")
#: kinds of recorded and imported runs only
_NEVER = ("claim", "memory_read", "memory_written", "said")
_LLM_HOOKS = ("on_llm_end", "on_llm_start")
_AFTER_RESULT = ("interruption", "state_saved", "state_restored")


def check(plan: Plan, seen: Observation, release: Release) -> None:
    """Refuse an observation that no drive through the plan can have given."""
    _check_missing(plan, seen, release)
    if seen.missing:
        return
    expected = [(mode, phase.id) for mode in plan.modes for phase in plan.phases]
    found = [(run.mode, run.phase) for run in seen.runs]
    complete = found == expected
    if not complete and not (found == expected[:len(found)] and found and _overran(seen.runs[-1])):
        reject("RUNS_DIFFER", "the runs are not each phase in each mode, in the plan's order")
    for run in seen.runs:
        _check_run(plan, seen, run, release, may_overrun=run is seen.runs[-1])


def _check_missing(plan: Plan, seen: Observation, release: Release) -> None:
    """What the plan needs and a known release lacks is called missing, and nothing else."""
    needed = capabilities.needed(plan)
    missing = set(seen.missing)
    if list(seen.missing) != [name for name in needed if name in missing]:
        reject("MISSING_DIFFERS", "a capability is called missing that the plan does not need")
    if release.certified:
        lacking = capabilities.lacking(release.version) & set(needed)
        for name in sorted(missing - lacking):
            reject("MISSING_DIFFERS", f"release {release.version} has {name}, which is called "
                   "missing")
        for name in sorted(lacking - missing - capabilities.OF_LIBRARIES):
            reject("MISSING_DIFFERS", f"release {release.version} lacks {name}, which is not "
                   "called missing")
    if missing and seen.runs:
        reject("RUNS_DIFFER", "nothing is run where a capability is missing")


def is_whole(plan: Plan, seen: Observation) -> bool:
    """Whether each phase was run in each mode, of an observation that `check` has let through."""
    return len(seen.runs) == len(plan.modes) * len(plan.phases)


def is_cut_short(seen: Observation) -> bool:
    """Whether nothing was run after these runs because the last one passed its deadline."""
    return bool(seen.runs) and _overran(seen.runs[-1])


def _overran(run: PhaseRun) -> bool:
    """Whether the run was ended by its deadline: it is reported as it stood."""
    return run.outcome == "timeout" and run.events[-1]["kind"] == "run_finished"


def _check_run(plan: Plan, seen: Observation, run: PhaseRun, release: Release, *,
               may_overrun: bool) -> None:
    kinds = [event["kind"] for event in run.events]
    if kinds.count("run_finished") != 1:
        reject("RUN_END", f"{run.where}: a run finishes once")
    if plan.calls:
        _check_call(run, kinds)
        return
    if set(kinds) & {*_NEVER, "call_returned"}:
        reject("RUN_ORDER", f"{run.where}: holds events that no scenario gives")
    end = kinds.index("run_finished")
    if end == len(kinds) - 1 and run.outcome == "timeout" and may_overrun:
        main = _without_servers(event for event in run.events
                                if event["kind"] != "stream_event")
        rest = kinds[:end][kinds.index("stream_event"):] if "stream_event" in kinds else []
    else:
        main, rest = _without_servers(run.events[:end + 1]), kinds[end + 1:]
        _check_ending(plan, run, main, release.shows_figures(plan))
    streamed = rest.count("stream_event")
    if rest[:streamed] != ["stream_event"] * streamed or not set(rest[streamed:]) <= set(_SPANS):
        reject("RUN_ORDER", f"{run.where}: the run comes first, then its stream, then its spans")
    if streamed and run.mode != "run_streamed":
        reject("RUN_ORDER", f"{run.where}: only a streamed run has stream events")
    if set(_SPANS) & {event["kind"] for event in main}:
        reject("RUN_ORDER", f"{run.where}: spans come last")
    _check_start(plan, seen, run, main, release)
    _check_declared(plan.phase(run.phase), run)
    _check_outcome(plan, run, main)


def _without_servers(events: Iterable[Event]) -> list[Event]:
    """Whoever runs an agent or restores a state may ask servers for their tools."""
    return [event for event in events if event["kind"] != "server_asked"]


def _check_declared(phase: Phase, run: PhaseRun) -> None:
    """What only a plan brings about: input on a state, and writes that fail."""
    add = phase.resume.add if phase.resume is not None else None
    staged = [list(event["items"]) for event in run.of("input_staged")]
    if staged not in ([], [[{"role": "user", "content": add}]]):
        reject("RUN_START", f"{run.where}: other input is staged than the declared one")
    if len(run.of("session_failed")) > (phase.failing_write is not None):
        reject("RUN_START", f"{run.where}: a write failed that the plan does not let fail")


def _check_call(run: PhaseRun, kinds: list[str]) -> None:
    """A call gives a value, or raises, or is not back in time; nothing else is seen of it."""
    due = {"completed": ["call_returned"], "raised": ["raised"], "timeout": []}.get(run.outcome)
    if due is None or kinds != [*due, "run_finished"]:
        reject("OUTCOME_DIFFERS", f"{run.where}: a call gives a value or raises")
    returned, raised = run.last("call_returned"), run.last("raised")
    if returned is not None and value_text(json.loads(returned["value"])) != returned["value"]:
        reject("VALUE_MALFORMED", f"{run.where}: a value is JSON text with sorted keys")
    if raised is not None and make("raised", error=raised["error"]) != raised:
        reject("RUN_END", f"{run.where}: a call that raises tells nothing of a run")


def _check_start(plan: Plan, seen: Observation, run: PhaseRun, main: list[Event],
                 release: Release) -> None:
    phase = plan.phase(run.phase)
    starts = [n for n, event in enumerate(main) if event["kind"] == "run_started"]
    if phase.input is not None and phase.input.follow is not None:
        followed = seen.run(run.mode, phase.input.follow)
        if followed is None or followed.last("result") is None:
            _expect_not_paused(run, main, f"phase {phase.input.follow} left no history to follow")
            return
    if starts != [0]:
        reject("RUN_START", f"{run.where}: a run begins with its start, once")
    started = main[0]
    if started["agent"] != (phase.agent or plan.start):
        reject("RUN_START", f"{run.where}: started by {started['agent']}, not by "
               f"{phase.agent or plan.start}")
    if list(started["input"]) != _declared_input(seen, run.mode, phase):
        reject("RUN_INPUT", f"{run.where}: the input is not the declared one")
    _check_unheard(run, started, release)
    if phase.resume is not None:
        _check_resumption(plan, seen, run, phase, main)
    elif any(event["kind"] == "decision" for event in main):
        reject("DECISIONS_DIFFER", f"{run.where}: a decision was made that the plan does not make")


def _check_unheard(run: PhaseRun, started: Event, release: Release) -> None:
    """The driver says which of the hooks around the model the release does not have."""
    found = tuple(started["unheard"])
    due = tuple(name for name in _LLM_HOOKS if name in found)
    if release.certified:
        due = _LLM_HOOKS if "llm-hooks" in capabilities.lacking(release.version) else ()
    if found != due:
        reject("UNHEARD_DIFFERS", f"{run.where}: the release has other hooks than those that are "
               "called unheard" if found else f"{run.where}: release {release.version} does not "
               "have the hooks around the model, which is not said")


def _declared_input(seen: Observation, mode: str, phase: Phase) -> list[Any]:
    if phase.input is None:
        return []
    items: list[Any] = phase_input(phase)
    if phase.input.follow is not None:
        followed = seen.run(mode, phase.input.follow)
        result = followed.last("result") if followed else None
        items = [*(result["history"] if result else ()), *items]
    return items


def _expect_not_paused(run: PhaseRun, main: list[Event], message: str) -> None:
    expected = {"type": "NotPaused", "message": message}
    raised = run.last("raised")
    if raised is None or raised["error"] != expected or run.of("model_called", "tool_started"):
        reject("RUN_START", f"{run.where}: it cannot have run, {message}")


def _check_resumption(plan: Plan, seen: Observation, run: PhaseRun, phase: Phase,
                      main: list[Event]) -> None:
    resume = phase.resume
    assert resume is not None
    source = seen.run(run.mode, resume.from_)
    saved = source is not None and any(event["branch"] == resume.branch
                                       for event in source.of("state_saved"))
    if not saved:
        _expect_not_paused(run, main, f"phase {resume.from_} left no paused state")
        return
    via = plan.branches(resume.from_)[resume.branch]
    restored = main[1] if len(main) > 1 else {"kind": ""}
    if restored["kind"] != "state_restored" or (restored["branch"], restored["via"]) != (
            resume.branch, via):
        reject("RESUMPTION_DIFFERS", f"{run.where}: does not start from branch {resume.branch} "
               f"by way of {via}")
    if via == "memory" and restored["changed"]:
        reject("RESUMPTION_DIFFERS", f"{run.where}: a state kept in memory is not compared")
    made = [{key: event[key] for key in ("call", "approve", "always", "message")}
            for event in main if event["kind"] == "decision"]
    declared = [{"call": d.call, "approve": d.approve, "always": d.always,
                 "message": d.message or ""} for d in resume.decisions]
    if made != declared:
        # A decision on a call that does not wait for one ends the run before it begins.
        undone = declared[len(made)]["call"] if len(made) < len(declared) else None
        raised = run.last("raised")
        if made != declared[:len(made)] or raised is None or raised["error"] not in (
                {"type": "NotPending", "message": f"call {undone} does not wait for a decision"},
                restored["error"]):
            reject("DECISIONS_DIFFER", f"{run.where}: the decisions are not the declared ones")
    if made and not {d["call"] for d in made} <= set(restored["pending"]):
        reject("DECISIONS_DIFFER", f"{run.where}: a decision on a call that was not pending")
    kinds = [event["kind"] for event in main[2:2 + len(made)]]
    if kinds != ["decision"] * len(made):
        reject("DECISIONS_DIFFER", f"{run.where}: decisions are made before the run goes on")


def _check_outcome(plan: Plan, run: PhaseRun, main: list[Event]) -> None:
    results, raised = run.of("result"), run.of("raised")
    pending = run.of("interruption")
    outcome = run.outcome
    ends = {"completed": (1, 0), "interrupted": (1, 0), "cancelled": (1, 0), "timeout": (0, 0),
            "raised": (len(results) if pending else 0, 1)}[outcome]
    if (len(results), len(raised)) != ends or len(results) > 1:
        reject("OUTCOME_DIFFERS", f"{run.where}: {outcome}, with {len(results)} results and "
               f"{len(raised)} exceptions")
    if bool(pending) != (outcome == "interrupted" or (outcome == "raised" and bool(results))):
        reject("OUTCOME_DIFFERS", f"{run.where}: {outcome}, with {len(pending)} interruptions")
    cancelled = _was_cancelled(plan.phase(run.phase), run)
    if outcome in ("completed", "cancelled") and cancelled != (outcome == "cancelled"):
        reject("OUTCOME_DIFFERS", f"{run.where}: the stream does not say it was {outcome}")


def _was_cancelled(phase: Phase, run: PhaseRun) -> bool:
    """Whether the consumer saw what the plan has it wait for before it cancels."""
    if phase.cancel is None:
        return False
    count = sum(event["count"] for event in run.of("stream_event")
                if phase.cancel.when == ("agent_updated_stream_event" if event["type"] == "agent"
                                         else event["name"]))
    return bool(count >= phase.cancel.count)


def _check_ending(plan: Plan, run: PhaseRun, main: list[Event], shown: bool) -> None:
    """What the driver records after the run: figures, result, states, session, in this order."""
    kinds = [event["kind"] for event in main]
    observed = [n for n, event in enumerate(main)
                if event["kind"] == "session_read" and event["op"] == "observe"]
    if observed != ([len(main) - 2] if plan.session is not None else []):
        reject("RUN_END", f"{run.where}: the session is looked at once, at the end")
    if plan.session is None and run.of("session_read", "session_written"):
        reject("RUN_END", f"{run.where}: there is no session")
    ends = [n for n, kind in enumerate(kinds) if kind in ("result", "raised")]
    if not ends:
        _expect_none(run, kinds, (*_AFTER_RESULT[:2], "usage"))
        return
    _check_figures(run, main, ends[-1], shown)
    _check_tail(plan, run, main, ends[0])


def _check_figures(run: PhaseRun, main: list[Event], end: int, shown: bool) -> None:
    usages = [n for n, event in enumerate(main) if event["kind"] == "usage"]
    event = main[end]
    if event["kind"] == "result":
        if usages != [end - 1] and (usages or shown):  # old releases may not show them
            reject("RUN_END", f"{run.where}: the figures stand once, before the result")
        return
    told = event["new_items"] is not None
    if told != (event["responses"] is not None) or (not told and event["last_agent"]):
        reject("RUN_END", f"{run.where}: an exception tells all of the run or nothing")
    before = [end - 1] if told else []
    if run.last("result") is None and usages != before and (usages or shown):
        reject("RUN_END", f"{run.where}: the figures stand once, before the exception")


def _check_tail(plan: Plan, run: PhaseRun, main: list[Event], end: int) -> None:
    tail = [event for event in main[end + 1:-1] if event["kind"] != "raised"
            and not (event["kind"] == "session_read" and event["op"] == "observe")]
    late = [event["kind"] for event in tail if event["kind"] not in _AFTER_RESULT]
    if late and not run.of("task_leaked"):
        reject("RUN_END", f"{run.where}: {late[0]} after the run, though nothing was left running")
    states = [(event["kind"], event["branch"], event["via"]) for event in tail
              if event["kind"] in _AFTER_RESULT[1:]]
    due = _due_states(plan, run)
    if states != due and not (run.outcome == "raised" and states == due[:len(states)]):
        reject("STATES_DIFFER", f"{run.where}: the saved states are not the plan's branches")
    first = next((n for n, event in enumerate(tail) if event["kind"] in _AFTER_RESULT[1:]),
                 len(tail))
    if any(event["kind"] == "interruption" for event in tail[first:]):
        reject("STATES_DIFFER", f"{run.where}: interruptions come before the states")
    if len(run.of("interruption")) != sum(e["kind"] == "interruption" for e in tail):
        reject("RUN_END", f"{run.where}: interruptions come with the result")


def _due_states(plan: Plan, run: PhaseRun) -> list[tuple[str, str, str]]:
    if not run.of("interruption"):
        return []
    phase = plan.phase(run.phase)
    due = [("state_saved", branch, str(via)) for branch, via in plan.branches(phase.id).items()]
    for via in phase.probe.via if phase.probe is not None else ():
        due += [("state_saved", f"probe-{via}", via), ("state_restored", f"probe-{via}", via)]
    return due


def _expect_none(run: PhaseRun, kinds: Sequence[str], refused: Sequence[str]) -> None:
    for kind in refused:
        if kind in kinds:
            reject("RUN_END", f"{run.where}: {kind} without a result")
