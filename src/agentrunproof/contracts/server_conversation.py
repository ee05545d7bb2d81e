"""Where the server keeps the conversation, each request goes on from the last with what is new.

"This allows you to preserve conversation history without manually resending all past messages. With
either server-managed approach below, pass only the new turn's input on each request and reuse the
saved ID."; "response chaining, where each turn links explicitly to the response ID from the
previous turn."; "If a run pauses for approval and you resume from a RunState, the SDK keeps the
saved conversation_id / previous_response_id / auto_previous_response_id settings so the resumed
turn continues in the same server-managed conversation."
(https://openai.github.io/openai-agents-python/running_agents/#server-managed-conversations)

What is new is, for the first model call of a run, its input, and then the outputs of the calls in
the last answer; what was staged on a state comes in with the first call after it. Judged in the
outermost run. A call that follows a failed one sends the same again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import (
    Item,
    essences,
    lineage,
    server_keeps,
    staged,
    words,
)
from agentrunproof.plan.items import SERVER_IDS
from agentrunproof.plan.model import Plan
from agentrunproof.record.events import Event
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Asked = tuple[PhaseRun, Event, Event | None]


def _asked(plan: Plan, seen: Observation) -> Iterator[Asked]:
    """Model calls of the outermost run, each with the answer that it goes on from."""
    if not server_keeps(plan):
        return
    for run in seen.runs:
        last: Event | None = None
        for other in lineage(plan, seen, run):
            for event in other.of("model_called", "model_responded"):
                if event["parent"]:
                    continue
                if event["kind"] == "model_responded":
                    last = event
                elif other is run:
                    yield run, event, last


def _violations(plan: Plan, seen: Observation) -> Found:
    for run, event, last in _asked(plan, seen):
        yield from _links(plan, run, event, last)
        started = lineage(plan, seen, run)[0].last("run_started")
        if last is None:
            due = list(started["input"]) if started is not None else []
            yield from _sent(run, event, due, essences(due))
        else:
            calls = {str(item["call_id"]) for item in last["output"] if "call_id" in item}
            results = [item for item in event["input"]
                       if item.get("type") == "function_call_output"
                       and item.get("call_id") in calls]
            yield from _sent(run, event, [*results, *_come_in(plan, seen, run, event)])
            unsent = sorted(calls - {str(item.get("call_id")) for item in results})
            if unsent:
                yield Violation("NEW_ITEM_UNSENT", run.where, f"{event['agent']} is not sent the "
                                f"output of {words(unsent)}")


def _come_in(plan: Plan, seen: Observation, run: PhaseRun, event: Event) -> list[Item]:
    """Input that was staged on states of the lineage, if the call is the first of its run."""
    called = [other for other in run.of("model_called") if not other["parent"]]
    return [item for part in lineage(plan, seen, run) for item in staged(part)] if (
        event is called[0]) else []


def _links(plan: Plan, run: PhaseRun, event: Event, last: Event | None) -> Found:
    """Each request names the conversation, or the response that it goes on from."""
    if plan.run.server == "conversation_id":
        field, due = "conversation_id", SERVER_IDS["conversation_id"]
    else:
        field, due = "previous_response_id", SERVER_IDS.get(plan.run.server, "")
        due = due if last is None else str(last["response_id"])
    if event[field] != due:
        yield Violation("CHAIN_BROKEN", run.where, f"{event['agent']} is asked with {field} "
                        f"{event[field]!r}, due is {due!r}")


def _sent(run: PhaseRun, event: Event, new: list[Item],
          due: Sequence[tuple[str, ...]] = ()) -> Found:
    """Nothing but what is new is sent, and all that is due."""
    given = Counter(essences(event["input"]))
    old = given - Counter(essences(new))
    unsent = Counter(due) - given
    if old:
        yield Violation("OLD_ITEM_SENT", run.where, f"{event['agent']} is sent "
                        f"{words(said[0] for said in old)}, which the server has")
    if unsent:
        yield Violation("NEW_ITEM_UNSENT", run.where, f"{event['agent']} is not sent "
                        f"{words(said[0] for said in unsent)}")


CONTRACT = Contract(
    name="server_conversation",
    promise="Where the server keeps the conversation, each request continues it with what is new.",
    source="https://openai.github.io/openai-agents-python/running_agents/"
           "#server-managed-conversations",
    codes={
        "CHAIN_BROKEN": "a request does not name the conversation, or the response before it",
        "OLD_ITEM_SENT": "a request sends again what the server has",
        "NEW_ITEM_UNSENT": "a request does not send what is new",
    },
    applies=lambda plan, seen: any(_asked(plan, seen)),
    violations=_violations,
)
