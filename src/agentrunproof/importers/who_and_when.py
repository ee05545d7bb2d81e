"""Who&When, and labelled steps or messages: talks with labels of where they went wrong.

The labels are kept, and nothing is concluded from them but that the run failed.
"""

from __future__ import annotations

from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts, several, talk
from agentrunproof.importers.draft import Draft
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables
from agentrunproof.importers.turns import said

Json = dict[str, Any]

_LABELS = {"mistake_step", "mistake_agent", "question_ID", "onset", "agent"}


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, tuple[Json, str, str]] = {}
    for document in source.documents:
        values = document.value if isinstance(document.value, list) else [document.value]
        for value in values:
            key = _key(value)
            id = str(value.get("id") or value.get("question_ID") or len(runs) + 1)
            if id in runs:
                raise RecordError("IMPORT_DUPLICATE", f"{document.place}: run {id:.60} stands "
                                  "twice", "export the trace again, once")
            runs[id] = value, key, document.place
    if not runs:
        raise NotThisFormat("an empty list")
    id, (value, key, place) = several.choose(source, runs)
    draft = Draft(source.name, run=id, fields=said(value, key, "system_prompt"),
                  outcome=_outcome(value))
    draft.error = "labelled as failed" if draft.outcome == "failed" else ""
    prompts = value.get("system_prompt")
    talk.take(draft, [_entry(one, number, f"{place}: {key}") for number, one in
                      enumerate(value[key])], prompts if isinstance(prompts, dict) else None)
    return draft


def _key(value: Any) -> str:
    """Where a run has its messages."""
    if isinstance(value, dict):
        for key, labels, author in (
                ("history", _LABELS, ("name", "role")), ("steps", _LABELS, ("agent",)),
                ("messages", {"onset"}, ("role",))):
            listed = value.get(key)
            if labels & value.keys() and isinstance(listed, list) and listed \
                    and isinstance(listed[0], dict) \
                    and any(name in listed[0] for name in author) and "source" not in listed[0]:
                return key
    raise NotThisFormat("no history (content, role or name), steps (agent, text) or messages with "
                        f"a label, but {found(value)}")


def _outcome(value: Json) -> str | None:
    """What the labels say of how the run ended."""
    right = value.get("is_correct", value.get("is_corrected"))
    if right is True or ("onset" in value and value["onset"] is None):
        return "completed"
    labelled = value.get("mistake_step", value.get("onset"))
    return "failed" if labelled is not None or right is False else None


def _entry(raw: Any, number: int, place: str) -> talk.Entry:
    if not isinstance(raw, dict):
        raise RecordError("IMPORT_SHAPE", f"{place}[{number}]: expected a message, found "
                          f"{found(raw)}", "each message is a table")
    calls = [("", str(call[0]), call[1]) for call in raw.get("calls") or ()
             if isinstance(call, list) and len(call) == 2]
    for call in tables(raw.get("tool_calls")):
        function = call.get("function")
        about: Json = function if isinstance(function, dict) else call
        calls.append((str(call.get("id") or ""), str(about.get("name")), about.get("arguments")))
    return talk.Entry(
        _author(raw), parts.text_of(raw.get("content", raw.get("text")) or ""), tuple(calls),
        str(raw.get("tool_call_id") or ""),
        {"index": number, **said(raw, "content", "text", "role", "name", "agent", "kind", "calls",
                                 "tool_calls", "tool_call_id")})


def _author(raw: Json) -> str:
    """Who wrote a message: what kind it is may say to whom as well."""
    agent, kind = str(raw.get("agent") or ""), str(raw.get("kind") or "")
    if agent:
        return kind if kind.startswith(f"{agent} (") else agent
    if raw.get("role") == "tool":  # its name is that of the tool
        return "tool"
    return str(raw.get("name") or raw.get("role") or "agent")


WHO_AND_WHEN = Format("who-and-when", "a history (content, role or name), steps (agent, text) or "
                      "messages with a label such as mistake_step, onset", _read)
