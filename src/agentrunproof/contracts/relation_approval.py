"""A run whose calls were all approved comes to what it would have without approvals.

"The resumed run continues where it left off and will re-enter this flow if new approvals are
needed." (https://openai.github.io/openai-agents-python/human_in_the_loop/)

The plan is run once more with tools that need no approval, the turns of a pause and of what
resumes it as those of one run. Held against it is the whole of the pause and its resumptions, less
what only a pause has: its result, its states, its decisions. Calls that need no approval run
before those that wait, so outputs of one turn may come in another order, in one write to the
session or in several; and an agent tool is entered again when its run goes on, so its second start
and the hooks are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agentrunproof.contracts.relations import Pair, contract
from agentrunproof.plan.model import Plan
from agentrunproof.plan.variants import chain
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun, VariantRuns

_OF_THE_PAUSE = frozenset({"run_started", "result", "usage", "interruption", "decision",
                           "state_saved", "state_restored", "run_finished"})
_OF_THE_RESUMPTION = frozenset({"run_started", "decision", "state_restored"})


def _pairs(plan: Plan, seen: Observation, varied: VariantRuns) -> Iterator[Pair]:
    for phase in plan.phases:
        if phase.resume is not None:
            continue
        run = varied.run(phase.id)
        if run is None:
            yield phase.id, None, None
            continue
        parts = [seen.run(run.mode, part.id) for part in chain(plan, phase)]
        whole = [part for part in parts if part is not None]
        yield (phase.id, _joined(whole) if len(whole) == len(parts) else None,
               PhaseRun(run.mode, run.phase, _settled(run.events)))


def _joined(parts: list[PhaseRun]) -> PhaseRun:
    """The runs of a pause and of what resumed it, as one run."""
    events: list[Event] = []
    started: set[tuple[str, str]] = set()
    for part in parts:
        left_out = _OF_THE_RESUMPTION if part is parts[-1] else _OF_THE_PAUSE
        for event in part.events:
            if event["kind"] in left_out or (
                    part is not parts[-1] and event.get("op") == "observe"):
                continue
            if event["kind"] == "tool_started":
                if (event["parent"], event["call"]) in started:
                    continue
                started.add((event["parent"], event["call"]))
            events.append(event)
    return PhaseRun(parts[-1].mode, parts[-1].phase, _settled(events))


def _settled(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events without what a pause may change: writes that follow each other as one."""
    found: list[Event] = []
    written: Event | None = None
    for event in events:
        if event["kind"] != "session_written":
            found.append(event)
        elif written is not None and written["op"] == "add" == event["op"]:
            written["items"] = (*written["items"], *event["items"])
        else:
            written = dict(event)
            found.append(written)
    return tuple(map(_unordered, found))


def _unordered(event: Event) -> Event:
    """The event with the outputs of each turn by call id, and without the requests for approval."""
    changed = dict(event)
    for name in ("input", "items", "history"):
        if isinstance(event.get(name), list | tuple):
            changed[name] = _by_call(event[name], lambda item: item)
    if event.get("new_items") is not None:
        entries = [entry for entry in event["new_items"]
                   if entry.get("type") != "tool_approval_item"]
        changed["new_items"] = _by_call(entries, lambda entry: entry.get("item", {}))
    return changed


def _by_call(items: Iterable[Any], item_of: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The items with the outputs that follow each other by call id."""
    found: list[Any] = []
    outputs: list[Any] = []
    for item in items:
        if item_of(item).get("type") == "function_call_output":
            outputs.append(item)
            continue
        found += [*_sorted(outputs, item_of), item]
        outputs = []
    return (*found, *_sorted(outputs, item_of))


def _sorted(outputs: list[Any], item_of: Callable[[Any], Any]) -> list[Any]:
    return sorted(outputs, key=lambda output: str(item_of(output).get("call_id")))


CONTRACT = contract(
    "approval",
    promise="A run whose calls are all approved does what it would if none needed approval.",
    source="https://openai.github.io/openai-agents-python/human_in_the_loop/",
    leaving_out=frozenset({"HOOKS_DIFFER"}),
    pairs=_pairs,
)
