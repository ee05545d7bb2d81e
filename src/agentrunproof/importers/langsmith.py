"""LangSmith: runs of its export and API, flat or with their children inside.

https://docs.langchain.com/langsmith/run-data-format
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from agentrunproof.importers import parts
from agentrunproof.importers.conventions import error_of, numbers, tool_step
from agentrunproof.importers.draft import ModelStep, SpanStep, Step
from agentrunproof.importers.form import NotThisFormat
from agentrunproof.importers.source import Source, found, tables
from agentrunproof.importers.spans import Span, check_ids, nanoseconds

Json = dict[str, Any]

NAME = "LangSmith"
_TYPE = "langsmith.run_type"
_ROLES = {"human": "user", "ai": "assistant", "aimessagechunk": "assistant"}
_KNOWN = ("id", "trace_id", "parent_run_id", "name", "run_type", "start_time", "end_time", "inputs",
          "outputs", "error", "extra", "child_runs")


def claims(span: Span) -> bool:
    """Whether a span is a run of this kind."""
    return _TYPE in span.attributes


def read(span: Span, left: Counter[str]) -> Step:
    """The step that a run tells of."""
    kind = str(span.take(_TYPE))
    if kind == "llm":
        return _model(span, left)
    if kind == "tool":
        return _tool(span)
    return SpanStep(type=kind, name=span.name, error=span.error)


def of_source(source: Source) -> tuple[list[Span], Json]:
    """The runs of a file as spans.

    Raises:
        NotThisFormat: it holds none.
        RecordError: ``IMPORT_SHAPE``, ``IMPORT_DUPLICATE``.
    """
    spans = [_span(raw, parent, document.place) for document in source.documents
             for raw, parent in _raws(document.value, "")]
    if not spans:
        raise NotThisFormat("no runs in it")
    check_ids(spans)
    roots = [span for span in spans if not span.parent]
    return spans, {"name": roots[0].name} if roots else {}


def _raws(value: Any, parent: str) -> Iterator[tuple[Json, str]]:
    """The runs in a value, each with its parent's id if it stands inside of that."""
    if isinstance(value, dict) and isinstance(value.get("runs"), list):
        value = value["runs"]
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict) or "run_type" not in one or "start_time" not in one:
            raise NotThisFormat(f"no run with run_type and start_time, but {found(one)}")
        yield one, parent
        if isinstance(one.get("child_runs"), list):
            yield from _raws(one["child_runs"], str(one.get("id") or ""))


def _span(raw: Json, parent: str, place: str) -> Span:
    attributes = {key: raw[key] for key in ("inputs", "outputs", "extra")
                  if raw.get(key) not in (None, {})}
    return Span(
        id=str(raw.get("id") or ""),
        parent=str(raw.get("parent_run_id") or parent or _parent(raw.get("dotted_order"))),
        trace=str(raw.get("trace_id") or ""), name=str(raw.get("name") or ""),
        start=_time(raw.get("start_time"), place), end=_time(raw.get("end_time"), place),
        attributes={_TYPE: str(raw["run_type"]), **attributes}, events=[],
        error=str(raw.get("error") or ("error" if raw.get("status") == "error" else "")),
        rest={key: one for key, one in raw.items()
              if key not in _KNOWN and one not in (None, [], {}, "")}, place=place)


def _parent(order: Any) -> str:
    """The id of the run above, where exports say it only in the run's place in its trace: of each
    run on the way the time, ``Z`` and the id."""
    way = order.split(".") if isinstance(order, str) else []
    return str(way[-2].partition("Z")[2]) if len(way) > 1 else ""


def _time(value: Any, place: str) -> int | None:
    """ISO 8601, or milliseconds since 1970 as the JavaScript library writes them."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * 1_000_000)
    return nanoseconds(value, place)


def _model(span: Span, left: Counter[str]) -> ModelStep:
    inputs, outputs = _table(span.take("inputs")), _table(span.take("outputs"))
    extra = _table(span.take("extra"))
    given = inputs.pop("messages", None)
    if isinstance(given, list) and given and isinstance(given[0], list):  # a batch of one
        if len(given) > 1:
            left["further prompt of a batch"] += len(given) - 1
        given = given[0]
    prompts = inputs.pop("prompts", None)
    if given is None:
        given = [{"role": "user", "content": one} for one in prompts or ()
                 if isinstance(one, str)]
    invocation = _table(extra.pop("invocation_params", None))
    body = numbers({key: one for key, one in {**inputs, **invocation}.items()
                    if not key.startswith("_")})
    body["messages"] = [_message(one) for one in tables(given)]
    if "model" not in body and "model_name" in body:
        body["model"] = body.pop("model_name")
    if extra:
        span.rest = {**span.rest, "extra": extra}
    metadata = _table(extra.get("metadata"))
    return ModelStep(agent=str(metadata.get("lc_agent_name") or metadata.get("langgraph_node")
                               or ""), body=body, reply=_reply(outputs), error=error_of(span))


def _reply(outputs: Json) -> Json | None:
    """The reply in chat form, of LangChain's generations, or as an API gave it."""
    if not outputs:
        return None
    if isinstance(outputs.get("choices"), list):
        return outputs
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, dict):
        message = generations.get("message")
        made = _message(message) if isinstance(message, dict) else {
            "role": "assistant", "content": generations.get("text")}
        finish = _table(generations.get("generation_info")).get("finish_reason")
        return {"choices": [{"index": 0, "message": made,
                             **({"finish_reason": finish} if finish else {})}]}
    listed = tables(outputs.get("messages"))
    inner = outputs.get("message", outputs.get("output", listed[-1] if listed else outputs))
    made = _message(inner) if isinstance(inner, dict) else {
        "role": "assistant", "content": parts.text_of(inner)}
    return parts.chat_reply([made])


def _message(raw: Json) -> Json:
    """A message of LangChain's, in whichever way it is written down, as a chat message."""
    inner = _table(raw.get("kwargs")) or _table(raw.get("data")) or raw
    kind = inner.get("role") or inner.get("type") or raw.get("type")
    if kind in (None, "constructor") and isinstance(raw.get("id"), list) and raw["id"]:
        kind = str(raw["id"][-1]).removesuffix("Message").removesuffix("MessageChunk")
    role = str(kind or "user").lower()
    more = _table(inner.get("additional_kwargs"))
    calls = tables(more.get("tool_calls")) or [
        one if "function" in one else parts.tool_call(one.get("id"), one.get("name"),
                                                      one.get("args"))
        for one in tables(inner.get("tool_calls"))]
    message = {"role": _ROLES.get(role, role), "content": inner.get("content"),
               **({"tool_calls": calls} if calls else {})}
    for key in ("tool_call_id", "name"):
        if inner.get(key):
            message[key] = inner[key]
    return message


def _tool(span: Span) -> Step:
    inputs, outputs = span.take("inputs"), span.take("outputs")
    arguments = inputs["input"] if isinstance(inputs, dict) and set(inputs) == {"input"} else inputs
    output = outputs["output"] if isinstance(outputs, dict) and set(outputs) == {"output"} \
        else outputs
    message = _table(_table(output).get("kwargs")) or _table(output)
    id = message.get("tool_call_id")
    if id and message.get("status") == "error" and not span.error:
        span.error = parts.text_of(message.get("content") or "error")
    step = tool_step(span, span.name, arguments, message.get("content") if id else output, id)
    step.done = step.done or span.end is not None
    return step


def _table(value: Any) -> Json:
    return dict(value) if isinstance(value, dict) else {}
