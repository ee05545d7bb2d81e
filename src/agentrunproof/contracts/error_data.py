"""An exception tells what its run had come to, and nothing else.

``RunErrorDetails``: "Data collected from an agent run when an exception occurs." Of these:
``input``, ``new_items``, ``raw_responses``, ``last_agent``, ``context_wrapper`` (agents.exceptions;
https://openai.github.io/openai-agents-python/ref/exceptions/)

Responses of turns that had ended before the one that raised stand there, those of other runs do
not, and when turns run out, all do. Whether the response of the turn that raised stands there is
not promised for every way to raise; `response_linkage` judges what its tools had given.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    essences,
    handoff_tools,
    lineage,
    new_items,
    out_of_turns,
    staged,
    words,
)
from agentrunproof.plan.items import fallbacks
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in seen.runs:
        raised = run.last("raised")
        if raised is not None and raised["new_items"] is not None:
            runs = lineage(plan, seen, run)
            yield from _agent(plan, run, raised, runs)
            yield from _responses(plan, run, raised, runs)
            yield from _items(plan, run, raised, runs)


def _outermost(runs: tuple[PhaseRun, ...], kind: str) -> list[Event]:
    return [event for run in runs for event in run.of(kind) if not event["parent"]]


def _agent(plan: Plan, run: PhaseRun, raised: Event, runs: tuple[PhaseRun, ...]) -> Found:
    """The last agent is the one asked last, or one that its answer hands over to."""
    asked = [event["agent"] for event in _outermost(runs, "model_called")]
    if not asked:
        return
    fitting = {asked[-1]}
    for answer in _outermost(runs, "model_responded")[-1:]:
        tools = handoff_tools(plan, answer["agent"])
        fitting |= {tools[item["name"]] for item in answer["output"] if item.get("name") in tools}
    if raised["last_agent"] not in fitting:
        yield Violation("ERROR_AGENT_DIFFERS", run.where, f"the last agent is "
                        f"{raised['last_agent']!r}, {words(sorted(fitting))} was asked last")


def _responses(plan: Plan, run: PhaseRun, raised: Event, runs: tuple[PhaseRun, ...]) -> Found:
    made = [essences(event["output"]) for event in _outermost(runs, "model_responded")]
    told = [essences(items) for items in raised["responses"] or ()]
    whole = len(made) if out_of_turns(plan, run) or _waits(run) else len(made) - 1
    if told != made[:len(told)]:
        yield Violation("ERROR_RESPONSE_FOREIGN", run.where, "the exception tells responses that "
                        "the models of its run did not give")
    elif len(told) < whole:
        yield Violation("ERROR_RESPONSE_LOST", run.where, f"the exception tells {len(told)} "
                        f"responses, {whole} turns had ended")


def _waits(run: PhaseRun) -> bool:
    """Whether the model that was asked last has not answered; one tried again may have."""
    calls = [event["kind"] for event in run.of("model_called", "model_responded")
             if not event["parent"]]
    return calls[-1:] == ["model_called"]


def _items(plan: Plan, run: PhaseRun, raised: Event, runs: tuple[PhaseRun, ...]) -> Found:
    """Items are of the model, answer its calls, were staged, or are what a handler supplies."""
    given = [item for event in _outermost(runs, "model_responded") for item in event["output"]]
    known = {*essences(given), *essences(item for part in runs for item in staged(part)),
             *((f"assistant:{text}",) for text in fallbacks(plan))}
    calls = {str(item.get("call_id")) for item in given if item.get("type") == "function_call"}
    told = new_items(raised) or []
    foreign = [said[0] for item, said in zip(told, essences(told), strict=True)
               if said not in known and str(item.get("call_id")) not in calls]
    if foreign:
        yield Violation("ERROR_ITEM_FOREIGN", run.where,
                        f"the exception tells {words(foreign)}, which is not of its run")


CONTRACT = Contract(
    name="error_data",
    promise="The data of an exception are those of its run: agent, responses and items.",
    source="https://openai.github.io/openai-agents-python/ref/exceptions/",
    codes={
        "ERROR_AGENT_DIFFERS": "the exception names another last agent than the one at work",
        "ERROR_RESPONSE_FOREIGN": "the exception tells a response that its run was not given",
        "ERROR_RESPONSE_LOST": "the exception lacks a response of a turn that had ended",
        "ERROR_ITEM_FOREIGN": "the exception tells an item that is not of its run",
    },
    applies=lambda plan, seen: any(raised["new_items"] is not None for run in seen.runs
                                   for raised in run.of("raised")),
    violations=_violations,
)
