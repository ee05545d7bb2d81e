"""A run begins with what the session holds and then the new input.

"Before each run: The runner automatically retrieves the conversation history for the session and
prepends it to the input items." "Context preservation: Each subsequent run with the same session
includes the full conversation history, allowing the agent to maintain context."
(https://openai.github.io/openai-agents-python/sessions/#core-session-behavior)
"SessionSettings(limit=None) (default): retrieve all available session items";
"SessionSettings(limit=N): retrieve only the most recent N items"
(https://openai.github.io/openai-agents-python/sessions/#limiting-retrieved-history)

"The returned list controls the model input for that turn" of a session_input_callback
(https://openai.github.io/openai-agents-python/sessions/#control-how-history-and-new-input-merge),
which is given all that the limit leaves.

Judged by the first model call of a run that does not resume another. A call whose output the limit
cut off, or an output whose call it cut off, cannot be sent and may be left out
(openai-agents-python#4322). Where an item id stands twice, it may be sent once, so that such a run
is not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import Item, essence, essences, words
from agentrunproof.plan.items import kept, replaced, session_items
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Begun = tuple[PhaseRun, list[Item], list[Item], list[Item]]


def _begun(plan: Plan, seen: Observation) -> Iterator[Begun]:
    """Runs with what the session held before, their new input, and what the model was given."""
    if plan.session is None:
        return
    for mode in seen.modes:
        held: list[Item] | None = session_items(plan)
        for run in seen.in_mode(mode):
            started = run.last("run_started")
            called = [event for event in run.of("model_called") if not event["parent"]]
            if held is not None and started is not None and called and (
                    plan.phase(run.phase).input is not None
                    and not _repeats([*held, *started["input"]])):
                yield run, held, list(started["input"]), list(called[0]["input"])
            read = [event for event in run.of("session_read") if event["op"] == "observe"]
            held = list(read[-1]["items"]) if read else None


def _repeats(items: list[Item]) -> bool:
    """Whether two items have the same id, which the Runner takes for one item."""
    ids = [(item.get("type"), item.get("call_id") or item.get("id")) for item in items]
    return any(count > 1 and id is not None for (_, id), count in Counter(ids).items())


def _violations(plan: Plan, seen: Observation) -> Found:
    limit = plan.session.limit if plan.session is not None else None
    for run, held, new, given in _begun(plan, seen):
        joins = plan.run.session_input
        said, told = essences(replaced(joins, new)), essences(given)
        if told[len(told) - len(said):] != said:
            yield Violation("INPUT_NOT_LAST", run.where, "what the model is given does not end "
                            f"with the input {words(label for label, *_ in said)}")
            continue
        window = held if limit is None else held[len(held) - min(limit, len(held)):]
        if joins is not None:
            window = kept(joins, window)
        yield from _history(run, window, told[:len(told) - len(said)], held)


def _history(run: PhaseRun, window: list[Item], told: list[tuple[str, ...]],
             held: list[Item]) -> Found:
    due = essences(window)
    foreign = Counter(told) - Counter(due)
    if foreign:
        old = set(essences(held))
        code = "LIMIT_IGNORED" if all(said in old for said in foreign) and len(due) < len(held) \
            else "HISTORY_FOREIGN"
        yield Violation(code, run.where, f"the model is given {words(said[0] for said in foreign)} "
                        "before the input, which the session does not give")
        return
    lost = [said for said in due if said not in told and said not in _unpaired(window)]
    if lost:
        yield Violation("HISTORY_LOST", run.where, f"the session holds "
                        f"{words(said[0] for said in lost)}, which the model is not given")
    elif told != [said for said in due if said in told]:
        yield Violation("HISTORY_REORDERED", run.where, "the model is given what the session "
                        f"holds as {words(said[0] for said in told)}")


def _unpaired(items: list[Item]) -> list[tuple[str, ...]]:
    """Calls without their output and outputs without their call; reasoning goes with its call."""
    kinds: dict[str, set[str]] = {}
    for item in items:
        if "call_id" in item:
            kinds.setdefault(str(item["call_id"]), set()).add(str(item.get("type")))
    return [essence(item) for item in items if item.get("type") == "reasoning"
            or ("call_id" in item and len(kinds[str(item["call_id"])]) == 1)]


CONTRACT = Contract(
    name="session_input",
    promise="A run begins with what its session holds, as far as the limit goes, and the input.",
    source="https://openai.github.io/openai-agents-python/sessions/#core-session-behavior",
    codes={
        "INPUT_NOT_LAST": "what the model is given does not end with the new input",
        "HISTORY_LOST": "the model is not given an item that the session holds",
        "HISTORY_FOREIGN": "the model is given a history that is not the session's",
        "HISTORY_REORDERED": "the model is given the session's items in another order",
        "LIMIT_IGNORED": "the model is given older items than limit or callback let it have",
    },
    applies=lambda plan, seen: any(_begun(plan, seen)),
    violations=_violations,
)
