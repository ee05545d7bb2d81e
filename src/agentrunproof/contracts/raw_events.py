"""A stream passes the model's events on as they are, response by response.

"RawResponsesStreamEvent objects wrap raw events passed directly from the LLM. Each object's data
field contains an OpenAI Responses API event with a type such as response.created or
response.output_text.delta." (https://openai.github.io/openai-agents-python/streaming/) "These are
'raw' events, i.e. they are directly passed through from the LLM."
(https://openai.github.io/openai-agents-python/ref/stream_events/)

So each response is opened once, tells item by item what is added and what is done, and is
completed. That each response is completed is the promise of `stream_complete`, so a stream that
lacks some, or of which a model call failed, is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrunproof.contracts.base import Contract, Unobserved, Violation
from agentrunproof.contracts.reading import essence
from agentrunproof.plan.model import Plan
from agentrunproof.record.observation import Observation, PhaseRun

Found = Iterator[Violation | Unobserved]
Step = tuple[str, ...]

_CREATED, _COMPLETED = ("response.created",), ("response.completed",)
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_FRAME = {*_CREATED, *_COMPLETED, _ADDED, _DONE}


def _violations(plan: Plan, seen: Observation) -> Found:
    for run in _judged(seen):
        told, given = _told(run), _given(run)
        if told.count(_COMPLETED) != given.count(_COMPLETED):
            continue  # a response is missing, or was still on its way
        for here, there in zip(told, given, strict=False):
            if here != there:
                code = "RAW_ITEM_DIFFERS" if here[0] == there[0] else "RAW_ORDER_DIFFERS"
                yield Violation(code, run.where, f"the stream tells {' '.join(here)} where the "
                                f"model gave {' '.join(there)}")
                break


def _judged(seen: Observation) -> Iterator[PhaseRun]:
    for run in seen.in_mode("run_streamed"):
        if _told(run) and not any(not event["parent"] for event in run.of("model_failed")):
            yield run


def _told(run: PhaseRun) -> list[Step]:
    """The frame of the stream: responses opened and completed, items added and done."""
    return [(event["name"], *(essence(event["item"]) if event["item"] is not None else ()))
            for event in run.of("stream_event")
            if event["type"] == "raw" and event["name"] in _FRAME]


def _given(run: PhaseRun) -> list[Step]:
    """The frame of what the outermost models were heard to give, in their order."""
    steps: list[Step] = []
    for event in run.of("model_called", "model_responded"):
        if event["parent"]:
            continue
        if event["kind"] == "model_called":
            steps.append(_CREATED)
            continue
        for item in event["output"]:
            steps += [(_ADDED,), (_DONE, *essence(item))]
        steps.append(_COMPLETED)
    return steps


CONTRACT = Contract(
    name="raw_events",
    promise="Raw events are passed on as the model gave them: all of each response, in order.",
    source="https://openai.github.io/openai-agents-python/streaming/",
    codes={
        "RAW_ORDER_DIFFERS": "a response was not opened, filled and completed as the model did",
        "RAW_ITEM_DIFFERS": "the stream tells an item as done that is not the model's",
    },
    applies=lambda plan, seen: any(True for _ in _judged(seen)),
    violations=_violations,
)
