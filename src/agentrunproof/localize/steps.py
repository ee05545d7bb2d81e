"""Steps of a run's events: of recorded and imported runs, and of the runs in a certificate.

A trace that says in so many words what people said (``said``, of imported conversations) is
taken at its word: then no request is searched for that, and each message is one step.

Facts of a step, by name: ``operation`` and ``age`` (seconds) of memory; ``to`` and ``missing`` of
a handoff; ``support`` of a claim; ``finish`` of an answer; ``outcome`` of an end; ``ends``
(``unknown``: the format has no end) of a start; ``lost``: how many events before it are missing;
``input_digest``, ``output_digest`` where a trace holds digests only; ``source`` of an imported
run: what the trace itself calls it, such as ``span 7c1f``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from agentrunproof.localize.trace import clip
from agentrunproof.record.localization import Step, StepKind, StepStatus
from agentrunproof.record.run import Call, Run
from agentrunproof.record.told_run import ToldRun

#: What users and systems say stands in requests, each of which repeats what was said before. So
#: many requests are looked into; of longer runs only the first, which holds the task.
_REQUESTS = 100
_EXIT_CODE = re.compile(r"\s*exit ?code:? *(-?\d+)", re.I)
_FINISHED = {"stop", "tool_calls", "function_call", "end_turn", "tool_use", "completed",
             "stop_sequence"}
_SYSTEMS = ("system", "developer")
#: What a trace calls its parts by: an id of its own, or a place in its list, from 0.
_NAMES = ("span", "observation_id", "step_id", "event_id", "id", "index")
Json = Mapping[str, Any]


def of_run(run: Run | ToldRun) -> tuple[Step, ...]:
    """The steps of a recorded or imported run, numbered from 1 in the order of their starts."""
    return tuple(step for step, _ in with_sources(run))


def with_sources(run: Run | ToldRun) -> tuple[tuple[Step, Json], ...]:
    """The steps of a run, each with what the trace that it was imported from says of it besides:
    the ``source`` of its event, such as the ``index`` of a message; empty if there is none."""
    calls = run.calls()
    looked = calls if len(calls) <= _REQUESTS else calls[:1]
    reading = _Reading(lambda call: _inputs(run, call), {call.id: call for call in looked})
    for event in run.events():
        reading.take(event)
    return tuple((_step(row, source), source) for row, source in
                 zip(reading.rows, reading.sources, strict=True))


def _step(row: dict[str, Any], source: Json) -> Step:
    """A step, with what the trace itself calls it."""
    name = next((name for name in _NAMES if name in source), None)
    if name is not None:
        row["facts"] = {**row.get("facts", {}), "source": f"{name} {source[name]!s:.80}"}
    return Step(**row)


def of_events(events: Iterable[Json]) -> tuple[Step, ...]:
    """The steps of events (see `record.events`) that stand in order, without their requests."""
    reading = _Reading(None, {})
    for event in events:
        reading.take(event)
    return tuple(Step(**row) for row in reading.rows)


def _inputs(run: Run | ToldRun, call: Call) -> list[tuple[str, str]]:
    """What people say in a request, its system prompt included."""
    body = run.body(call)
    said = [("system", _text(body[key])) for key in ("system", "instructions") if body.get(key)]
    messages = body.get("messages", body.get("input"))
    for message in messages if isinstance(messages, list) else [messages]:
        if isinstance(message, str):
            said.append(("user", message))
        elif isinstance(message, dict) and message.get("role") in ("user", "system", "developer"):
            text = _text(message.get("content"))
            if text:
                said.append((str(message.get("name") or message["role"]), text))
    return said


class _Reading:
    """Takes events one by one; a call's end completes the step of its start.

    Args:
        inputs: what people said in a request: of each message the role and the text.
        asking: the requests, by their ids, that are looked into for that.
    """

    def __init__(self, inputs: Callable[[Call], list[tuple[str, str]]] | None,
                 asking: Mapping[str, Call]) -> None:
        self.rows: list[dict[str, Any]] = []  # fields of steps: later events complete them
        self.sources: list[Json] = []  # and of each the source
        self._inputs = inputs
        self._asking = asking
        self._open: dict[str, int] = {}
        self._calls: dict[str, int] = {}  # answers by the ids of their requests
        self._asked: dict[str, int] = {}  # and by the ids that the model gave its tool calls
        self._said = 0
        self._told = False  # what people said stands in events of its own
        self._spoke: int | None = None  # the number of the step that spoke last, if that is told
        self._prompts: set[str] = set()
        #: what agents and tools said: where a request repeats it as a user's, no user said it
        self._outputs: set[str] = set()
        self._seq = -1

    def take(self, event: Json) -> None:
        """Take the next event; kinds that say nothing about what went wrong are passed over."""
        seq = event.get("seq", self._seq + 1)
        missing = seq - self._seq - 1
        before = len(self.rows)
        reader = self._READERS.get(event["kind"])
        if reader is not None:
            reader(self, event)
        self._seq = seq
        if missing > 0 and len(self.rows) > before:
            self.rows[before].setdefault("facts", {})["lost"] = str(missing)

    def _add(self, kind: StepKind, event: Json, **fields: Any) -> int:
        self.rows.append({"number": len(self.rows) + 1, "kind": kind,
                          "agent": str(event.get("agent") or ""), **fields})
        self.sources.append(_table(event, "source"))
        if self._told and kind in ("input", "answer", "handoff"):
            self._spoke = len(self.rows)
        return len(self.rows) - 1

    def _started(self, event: Json) -> None:
        self._told = bool(event.get("said"))
        ends = "name" in event and ("imported_from" not in event or bool(event.get("ends")))
        self._add("start", event, input=clip("\n".join(map(_text, event.get("input") or ()))),
                  facts={} if ends else {"ends": "unknown"})

    def _model_called(self, event: Json) -> None:
        call = str(event.get("call", ""))
        if self._inputs is not None and call in self._asking and not self._told:
            self._hear([(who, clip(text)) for who, text in self._inputs(self._asking[call])])
        to = str(event.get("to") or "")
        self._open[f"m {call}"] = at = self._add(
            "handoff" if to else "answer", event, call=call, status="open",
            **({"facts": {"to": to}} if to else {}))
        if call:
            self._calls[call] = at

    def _hear(self, inputs: list[tuple[str, str]]) -> None:
        """Add what a request says that none before said: prompts of systems, and what users add
        to what they said before."""
        for who, text in inputs:
            if who in _SYSTEMS and text not in self._prompts:
                self._prompts.add(text)
                self._add("input", {"agent": who}, input=text)
        said = [(who, text) for who, text in inputs
                if who not in _SYSTEMS and text not in self._outputs]
        for who, text in said[self._said:]:
            self._add("input", {"agent": who}, input=text)
        self._said = max(self._said, len(said))

    def _model_responded(self, event: Json) -> None:
        at = self._open.pop(f"m {event.get('call', '')}", None)
        if at is None:
            return
        texts, calls = _decided(event)
        for id, _, _ in calls:
            self._asked[id] = at
        made = "".join(f"\n{tool}({arguments})" for _, tool, arguments in calls)
        finish = _finish(event.get("reply"))
        cut = bool(event.get("partial")) or (finish != "" and finish not in _FINISHED)
        self._outputs.add(clip(texts))
        self.rows[at].update(output=clip(texts + made), status="cut" if cut else "ok")
        if cut:
            self.rows[at].setdefault("facts", {})["finish"] = finish or "broken off"

    def _model_failed(self, event: Json) -> None:
        at = self._open.pop(f"m {event.get('call', '')}", None)
        if at is not None:
            self.rows[at].update(status=_failure(event), error=_error(event))

    def _tool_started(self, event: Json) -> None:
        call = str(event["call"])
        asked_by = self._open_number(event)
        self._open[f"t {call}"] = self._add(
            "tool", event, tool=str(event["tool"]), call=call, status="open", asked_by=asked_by,
            input=clip(_text(event.get("arguments"))),
            changes={str(key): _text(value) for key, value in _table(event, "changes").items()},
            facts={str(key): _text(value) for key, value in _table(event, "facts").items()})

    def _open_number(self, event: Json) -> int | None:
        """The number of the answer that asked for a tool call; where the trace tells who spoke and
        not who asked, whoever spoke last."""
        given = event.get("tool_call_id") or event["call"]
        at = self._calls.get(str(event.get("asked_by")), self._asked.get(str(given)))
        return self._spoke if at is None else int(self.rows[at]["number"])

    def _tool_finished(self, event: Json) -> None:
        at = self._open.pop(f"t {event['call']}", None)
        if at is not None:
            output = clip(_text(event.get("output")))
            self._outputs.add(output)
            code = _exit_code(event.get("output"), output)
            self.rows[at].update(output=output,
                                     status="error" if code else "ok",
                                     error=f"exited with {code}" if code else "")

    def _tool_failed(self, event: Json) -> None:
        at = self._open.pop(f"t {event['call']}", None)
        if at is not None:
            self.rows[at].update(error=_error(event), status=_failure(event))

    def _tool_cancelled(self, event: Json) -> None:
        at = self._open.pop(f"t {event['call']}", None)
        if at is not None:
            self.rows[at].update(status="cancelled")

    def _guardrail(self, event: Json) -> None:
        tripped = bool(event.get("tripped"))
        self._add("guardrail", event, tool=str(event["guardrail"]),
                  status="blocked" if tripped else "ok")

    def _was_said(self, event: Json) -> None:
        self._add("input", event, input=clip(str(event["text"])))

    def _handoff(self, event: Json) -> None:
        facts = {"to": str(event.get("to", ""))}
        if self.rows and self.rows[-1]["kind"] == "handoff" and self.rows[-1].get("call") \
                and self.rows[-1]["facts"] == facts:
            return  # the answer before was just that
        if event.get("missing"):
            facts["missing"] = ", ".join(map(str, event["missing"]))
        self._add("handoff", {**event, "agent": event.get("from", event.get("agent"))},
                  facts=facts)

    def _claim(self, event: Json) -> None:
        support = event.get("support")
        self._add("claim", event, output=clip(str(event["text"])),
                  facts={"support": str(support)} if support else {})

    def _memory_read(self, event: Json) -> None:
        age = event.get("age")
        self._add("memory", event, tool=str(event["key"]), output=clip(_text(event.get("value"))),
                  facts={"operation": "read", **({"age": str(age)} if age is not None else {})})

    def _memory_written(self, event: Json) -> None:
        self._add("memory", event, tool=str(event["key"]), input=clip(_text(event.get("value"))),
                  facts={"operation": "write"})

    def _finished(self, event: Json) -> None:
        outcome = str(event["outcome"])
        self._add("end", event, facts={"outcome": outcome}, error=_error(event))

    _READERS: ClassVar[dict[str, Callable[[_Reading, Json], None]]] = {
        "run_started": _started, "model_called": _model_called,
        "model_responded": _model_responded, "model_failed": _model_failed,
        "tool_started": _tool_started, "tool_finished": _tool_finished,
        "tool_failed": _tool_failed, "tool_cancelled": _tool_cancelled,
        "guardrail_checked": _guardrail, "handoff": _handoff, "claim": _claim,
        "said": _was_said,
        "memory_read": _memory_read, "memory_written": _memory_written,
        "run_finished": _finished}


def _decided(event: Json) -> tuple[str, list[tuple[str, str, str]]]:
    """What a model answered: the text, and of each tool call its id, tool and arguments."""
    decision = event.get("decision")
    if isinstance(decision, dict):
        return str(decision.get("text") or ""), [
            (str(call.get("id")), str(call.get("name")), _text(call.get("arguments")))
            for call in decision.get("tool_calls") or ()]
    items = [item for item in event.get("output") or () if isinstance(item, dict)]
    return "".join(_text(item.get("content")) for item in items), [
        (str(item.get("call_id")), str(item.get("name")), _text(item.get("arguments")))
        for item in items if item.get("type") == "function_call"]


def _finish(reply: Any) -> str:
    """Why a reply ended, in the words of its API; empty if it does not say."""
    if not isinstance(reply, dict):
        return ""
    choices = reply.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return str(choices[0].get("finish_reason") or "")
    return str(reply.get("stop_reason") or (
        reply.get("status") if reply.get("object") == "response" else "") or "")


def _exit_code(value: Any, text: str) -> str:
    """The exit code that a result reports, if it is not 0."""
    if text[:1] == "{" and not isinstance(value, dict):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
    if isinstance(value, dict):
        code = next((value[key] for key in ("exit_code", "exitCode", "returncode")
                     if isinstance(value.get(key), int)), 0)
        return str(code) if code else ""
    match = _EXIT_CODE.match(text)
    return match[1] if match and match[1] != "0" else ""


def _table(event: Json, name: str) -> Json:
    """A table that an event may have; an empty one if it has none."""
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def _failure(event: Json) -> StepStatus:
    """How a call failed: its error's type may say that it was blocked or cancelled."""
    kind = _table(event, "error").get("type")
    if kind == "blocked" or kind == "cancelled":
        return "blocked" if kind == "blocked" else "cancelled"
    return "timeout" if re.search(r"time(?:d[ _]?)?out", _error(event), re.I) else "error"


def _error(event: Json) -> str:
    error = event.get("error")
    if not isinstance(error, dict):
        return str(error or "")
    return ": ".join(str(error[key]) for key in ("type", "message") if error.get(key))


def _text(value: Any) -> str:
    """A value as text: content parts by what they say, other tables as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        texts = [part["text"] for part in value if isinstance(part.get("text"), str)]
        if texts:
            return "\n".join(texts)
    if isinstance(value, dict) and isinstance(value.get("content"), str):
        return str(value["content"])
    return json.dumps(value, ensure_ascii=False)
