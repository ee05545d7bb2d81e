"""A recorded run as one self-contained HTML page (`report.html`).

A run of 1,000 calls repeats its conversation 1,000 times. In the page, as in the file, each message
stands once; a request is told as what it keeps of an earlier one and what it adds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agentrunproof import __version__
from agentrunproof.ablation.pieces import Context
from agentrunproof.errors import RecordError
from agentrunproof.record.ablation import Ablation, Claim, leaves_runs
from agentrunproof.record.run import Call, Event, Run
from agentrunproof.report import html, messages
from agentrunproof.report.messages import Block, Message, Path, compact
from agentrunproof.report.run import when

#: What was found about model calls: the id of the call, and the record.
Findings = Iterable[tuple[str, Ablation]]

#: A text beyond this many characters is shown without its middle.
MOST = 20_000

#: A span of one text of a request: the way to the text, the start and the end.
Span = tuple[Path, int, int]


def render(run: Run, findings: Findings = ()) -> str:
    """The page of a run.

    Args:
        run: the run.
        findings: about its model calls.

    Raises:
        RecordError: ``RUN_LOST``: a request that something was found about cannot be rebuilt.
    """
    return html.page("run_page", _Page(run, findings).table())


class _Page:
    """The data of a page while it is put together."""

    def __init__(self, run: Run, findings: Findings) -> None:
        self._run = run
        self._findings: dict[str, list[tuple[Ablation, dict[int, Span]]]] = {}
        for call, record in findings:
            self._findings.setdefault(call, []).append((record, _spans(run, call, record)))
        #: Texts with a mark in them are shown whole.
        self._marked = {path for found in self._findings.values() for _, spans in found
                        for path, _, _ in spans.values()}
        self._messages: list[dict[str, Any]] = []
        self._numbers: dict[Any, int] = {}
        self._toolsets: dict[tuple[int, ...], int] = {}
        self._latest: dict[tuple[str, str], tuple[int, list[int]]] = {}

    def table(self) -> dict[str, Any]:
        """Everything that the script of the page reads."""
        run = self._run
        rows, tools = _timeline(run.events())
        return {
            "name": run.name, "file": run.file.replace("\\", "/").rpartition("/")[2],
            "started": when(run), "state": run.state, "notes": run.notes, "version": __version__,
            "rows": rows, "tools": tools, "calls": [self._call(call) for call in run.calls()],
            "toolsets": list(self._toolsets), "messages": self._messages,
        }

    def _call(self, call: Call) -> dict[str, Any]:
        reply = self._run.reply(call)
        usage = reply.get("usage") if isinstance(reply, dict) else None
        told: dict[str, Any] = {
            "id": call.id, "agent": call.agent, "parent": call.parent, "dialect": call.dialect,
            "model": call.model, "decision": _decision(self._run.decision(call)),
            "error": _error(self._run.error(call)),
            "tokens": _tokens(usage if isinstance(usage, dict) else {}),
            "findings": [_finding(*one) for one in self._findings.get(call.id, ())]}
        try:
            return told | self._request(call)
        except RecordError as lost:
            return told | {"lost": lost.message}

    def _request(self, call: Call) -> dict[str, Any]:
        kept = self._run.request(call)
        told: dict[str, Any] = {"head": [], "rest": {}}
        for key, value in kept.body.items():
            if key in kept.items:
                value = self._run.content(kept.items[key], call)
            if key in ("system", "instructions", "input") and isinstance(value, str):
                told["head"].append([key, self._number((key, value), messages.head(key, value))])
            elif key == "system" and key in kept.lists:
                parts = [self._run.content(item, call) for item in kept.lists[key]]
                told["head"].append([key, self._number((key, str(parts)),
                                                       messages.head(key, parts))])
            elif key not in ("messages", "input", "tools", "model"):
                told["rest"][key] = _cut(compact(
                    [self._run.content(item, call) for item in kept.lists[key]]
                    if key in kept.lists else value))
        turns = next((key for key in ("messages", "input") if key in kept.lists), "")
        if turns:
            told |= self._turns(call, [self._message(item, call) for item in kept.lists[turns]])
        tools = tuple(self._tool(item, call) for item in kept.lists.get("tools", ()))
        return told | {"toolset": self._toolsets.setdefault(tools, len(self._toolsets))}

    def _turns(self, call: Call, turns: list[int]) -> dict[str, Any]:
        """The messages, as what the agent's request before has of them, and the rest."""
        before, earlier = self._latest.get((call.agent, call.parent), (None, []))
        same = next((n for n, (old, new) in enumerate(zip(earlier, turns, strict=False))
                     if old != new), min(len(earlier), len(turns)))
        self._latest[call.agent, call.parent] = (call.number - 1, turns)
        return {"before": before, "keep": same, "add": turns[same:]}

    def _message(self, item: int, call: Call) -> int:
        if item not in self._numbers:
            return self._number(item, messages.message(self._run.content(item, call)))
        return self._numbers[item]

    def _tool(self, item: int, call: Call) -> int:
        key = ("tool", item)
        if key not in self._numbers:
            name, blocks = messages.tool(self._run.content(item, call))
            return self._number(key, Message(name, blocks))
        return self._numbers[key]

    def _number(self, key: Any, message: Message) -> int:
        """The number of a message; told by the key that stands for it."""
        if key not in self._numbers:
            self._numbers[key] = len(self._messages)
            self._messages.append({"role": message.role,
                                   "blocks": [self._block(block) for block in message.blocks]})
        return self._numbers[key]

    def _block(self, block: Block) -> dict[str, Any]:
        marked = any(path[-len(block.path):] == block.path or not block.path
                     for path in self._marked)
        told = asdict(block) | {"text": block.text if marked else _cut(block.text)}
        return {key: value for key, value in told.items() if value}


def _timeline(events: Iterable[Event]) -> tuple[list[Any], list[dict[str, Any]]]:
    """Model calls and tool calls in their order, by number, with how long they took; and the tool
    calls themselves."""
    rows: list[Any] = []
    places: dict[tuple[str, str], int] = {}
    tools: list[dict[str, Any]] = []
    known: dict[str, dict[str, Any]] = {}
    count = 0
    for event in events:
        kind, id = event["kind"], event.get("call", "")
        took = event.get("clock", {}).get("took")
        if kind == "model_called":
            places["m", id] = len(rows)
            rows.append(["m", count, None])
            count += 1
        elif kind == "tool_started":
            places["t", id] = len(rows)
            rows.append(["t", len(tools), None])
            known[id] = {"id": id, "tool": event["tool"],
                         "arguments": _cut(compact(event.get("arguments", {}))),
                         **{key: event.get(key, "") for key in ("agent", "parent", "asked_by")}}
            tools.append(known[id])
        elif kind in ("tool_finished", "tool_failed"):
            known[id] |= {"error": _error(event.get("error")), "output": _cut(compact(
                event["output"])) if "output" in event else None}
        place = places.get((kind[0], id))
        if place is not None and _is_time(took):
            rows[place][2] = took
    return rows, tools


def _decision(decision: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if decision is None else {"text": _cut(decision["text"]), "tool_calls": [
        {"name": call["name"], "arguments": _cut(compact(call["arguments"]))}
        for call in decision["tool_calls"]]}


def _error(error: Mapping[str, Any] | None) -> dict[str, str] | None:
    return None if error is None else {key: str(error.get(key, "")) for key in ("type", "message")}


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < math.inf


def _spans(run: Run, call: str, record: Ablation) -> dict[int, Span]:
    """Where the leaves that a record quotes stand in the request."""
    asked = run.call(call)
    context = Context(run.body(asked), asked.dialect)
    return {quote.leaf: context.span(quote.leaf) for quote in record.quotes}


def _finding(record: Ablation, spans: Mapping[int, Span]) -> dict[str, Any]:
    texts = {quote.leaf: quote for quote in record.quotes}

    def quoted(leaves: str) -> dict[str, Any]:
        numbers = [n for low, high in leaves_runs(leaves) for n in range(low, high)]
        return {"quotes": [[texts[n].place, texts[n].text] for n in numbers if n in texts],
                "more": sum(n not in texts for n in numbers),
                "spans": [spans[n] for n in numbers if n in spans]}

    return {
        "target": record.target, "status": record.status, "calls": record.calls,
        "instead": _cut(record.instead), "complete": record.complete,
        "base": asdict(record.base), "deterministic": record.deterministic,
        "claims": [quoted(claim.leaves) | _rates(claim) for claim in record.claims],
        "required": [quoted(one.leaves) | {"reason": one.reason} for one in record.required],
    }


def _rates(claim: Claim) -> dict[str, Any]:
    return {"with": asdict(claim.with_), "without": asdict(claim.without), "e": claim.e,
            "verdict": claim.verdict}


def _tokens(usage: Mapping[str, Any]) -> Sequence[Any]:
    """Tokens read and written, if the reply told them."""
    read = usage.get("prompt_tokens", usage.get("input_tokens"))
    written = usage.get("completion_tokens", usage.get("output_tokens"))
    return [read, written] if isinstance(read, int) and isinstance(written, int) else []


def _cut(text: str) -> str:
    """A text without its middle, if it is very long."""
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return (f"{text[:half]}\n\n[{len(text) - MOST:,} characters are not shown here]\n\n"
            f"{text[-half:]}")
