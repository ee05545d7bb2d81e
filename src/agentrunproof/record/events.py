"""The event vocabulary: what one may say about a run, and with which fields.

An event is a plain ``dict`` with a ``kind`` and exactly the fields declared for it in `FIELDS`.
In memory every field is present and conversation items stand inline; in a record a field at its
default is left out and items are numbers into the record's item table
(`agentrunproof.record.table`).

Recorded live runs, imported traces and probes differ only in which kinds they hold. Order within
a run: events of the run itself in the order of their happening, concurrent tool calls one after
the other in call order, then what the stream delivered, then the spans.

Standard library only, and nothing of ours but `errors` and `shape`: the SDK worker makes events
with this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from agentrunproof.shape import Count, Field

Event = dict[str, Any]


@dataclass(frozen=True)
class ItemRef:
    """Marks a field that holds one conversation item, inline in memory, a number in a record."""


@dataclass(frozen=True)
class HoldsItem:
    """Marks a table whose key ``item``, where it is present, is such an item."""


OneItem = Annotated[Any, ItemRef()]
Items = tuple[OneItem, ...]
NewItem = Annotated[dict[str, Any], HoldsItem()]


def _required(**annotations: Any) -> tuple[Field, ...]:
    return tuple(Field(name.rstrip("_"), kind, True) for name, kind in annotations.items())


def _optional(**declared: tuple[Any, Any]) -> tuple[Field, ...]:
    return tuple(Field(name, kind, False, default)
                 for name, (kind, default) in declared.items())


_TEXT = (str, "")
_FLAG = (bool, False)
_NAMES = (tuple[str, ...], ())
_PARENT = _optional(parent=_TEXT)

#: Who is given the context of a run.
ContextTaker = Literal["tool", "hook", "guardrail", "tool_guardrail", "handoff", "instructions",
                       "input_filter"]
RunOutcome = Literal["completed", "interrupted", "raised", "cancelled", "timeout"]

#: kind -> its fields. `parent` is the call id (or ids joined by /) of the agent tool call inside
#: which the event happened, empty in the outermost run. `unheard` names lifecycle hooks that the
#: release does not have.
FIELDS: dict[str, tuple[Field, ...]] = {
    "run_started": _required(agent=str) + _optional(input=(Items, ()), unheard=_NAMES),
    "model_called": _required(agent=str) + _PARENT + _optional(
        input=(Items, ()), instructions=_TEXT, tools=_NAMES, handoffs=_NAMES, output_type=_TEXT,
        settings=(dict[str, Any], {}), previous_response_id=_TEXT, conversation_id=_TEXT,
        streamed=_FLAG),
    "context_given": _required(to=ContextTaker, name=str) + _PARENT + _optional(
        call=_TEXT, replaced=_FLAG, changed=_FLAG),
    "input_filtered": _required(agent=str) + _PARENT + _optional(
        given=(Items, ()), given_instructions=_TEXT, input=(Items, ()), instructions=_TEXT,
        error=(dict[str, str], {})),
    "model_responded": _required(agent=str, response_id=str) + _PARENT + _optional(
        output=(Items, ()), usage=(dict[str, int], {})),
    "model_failed": _required(agent=str, error=dict[str, str]) + _PARENT,
    "tool_started": _required(tool=str, call=str) + _PARENT + _optional(arguments=(str, "{}"),
                                                                       server=_TEXT,
                                                                       beside=(Count, 0)),
    "tool_finished": _required(tool=str, call=str, output=str) + _PARENT,
    "tool_failed": _required(tool=str, call=str, error=dict[str, str]) + _PARENT,
    "tool_cancelled": _required(tool=str, call=str) + _PARENT,
    "guardrail_checked": _required(
        guardrail=str, stage=Literal["input", "output", "tool_input", "tool_output"]) + _PARENT
        + _optional(agent=_TEXT, call=_TEXT, tripped=_FLAG, behavior=_TEXT,
                    error=(dict[str, str], {})),
    "server_asked": _required(server=str, op=Literal["list", "connect", "cleanup"]) + _PARENT
        + _optional(tools=_NAMES, error=(dict[str, str], {})),
    "handoff": _required(from_=str, to=str) + _PARENT + _optional(payload=_TEXT),
    "hook": _required(scope=Literal["run", "agent"], on=str, agent=str) + _PARENT + _optional(
        tool=_TEXT, call=_TEXT, other=_TEXT, output=_TEXT),
    "stream_event": _required(type=Literal["raw", "item", "agent"], name=str) + _optional(
        item=(OneItem, None), count=(Count, 1), text=_TEXT),
    "session_read": _optional(op=(Literal["get", "observe"], "get"), limit=(Count, None),
                              items=(Items, ())),
    "session_written": _optional(op=(Literal["add", "pop", "clear"], "add"), items=(Items, ())),
    "session_failed": _required(error=dict[str, str]) + _optional(items=(Items, ())),
    "input_staged": _optional(items=(Items, ())),
    "interruption": _required(call=str, tool=str) + _optional(agent=_TEXT, arguments=(str, "{}")),
    "decision": _required(call=str, approve=bool) + _optional(always=_FLAG, message=_TEXT),
    "state_saved": _required(branch=str, via=Literal["memory", "json", "string"])
        + _optional(pending=_NAMES),
    "state_restored": _required(branch=str, via=Literal["memory", "json", "string"])
        + _optional(pending=_NAMES, changed=_NAMES, error=(dict[str, str], {})),
    "span_started": _required(span=Count, type=str) + _optional(parent=(Count, None), name=_TEXT),
    "span_finished": _required(span=Count, type=str) + _optional(
        parent=(Count, None), name=_TEXT, error=_TEXT, late=_FLAG, holds=_NAMES),
    "claim": _required(text=str) + _optional(agent=_TEXT),
    "said": _required(text=str) + _optional(agent=_TEXT),
    "memory_read": _required(key=str) + _optional(value=_TEXT),
    "memory_written": _required(key=str) + _optional(value=_TEXT),
    "usage": _optional(requests=(Count, 0), input=(Count, 0), output=(Count, 0), total=(Count, 0),
                       cached=(Count, 0), reasoning=(Count, 0), entries=(Count, None)),
    "result": _required(last_agent=str) + _optional(
        final_output=(str, None), new_items=(tuple[NewItem, ...], ()),
        history=(Items, ()), responses=(tuple[Items, ...], ()), guardrails=_NAMES, amiss=_NAMES),
    "raised": _required(error=dict[str, str]) + _optional(
        new_items=(tuple[NewItem, ...], None), responses=(tuple[Items, ...], None),
        last_agent=_TEXT, guardrails=(tuple[str, ...], None)),
    "call_returned": _required(value=str),
    "task_leaked": _required(name=str),
    "run_finished": _required(outcome=RunOutcome),
}

KINDS = tuple(FIELDS)


def make(kind: str, **fields: Any) -> Event:
    """An event with every declared field present; a trailing underscore is not part of a name.

    Raises:
        TypeError: the kind has no such field, or a required one is missing.
    """
    given = {name.rstrip("_"): value for name, value in fields.items()}
    event: Event = {"kind": kind}
    for field in FIELDS[kind]:
        if field.name in given:
            event[field.name] = given.pop(field.name)
        elif field.required:
            raise TypeError(f"event {kind} needs {field.name}")
        else:
            event[field.name] = field.default
    if given:
        raise TypeError(f"event {kind} has no field {', '.join(given)}")
    return event
