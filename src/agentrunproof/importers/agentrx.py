"""AgentRx: its intermediate form (steps of substeps), and the tau-bench trajectories it numbers.

https://github.com/microsoft/AgentRx, https://huggingface.co/datasets/microsoft/AgentRx. Steps are
counted from 1, the system prompt is step 1; that number is kept as the ``index`` of what it says.
"""

from __future__ import annotations

import ast
import json
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts, several, talk
from agentrunproof.importers.draft import Draft
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables, twice, unwrapped
from agentrunproof.importers.turns import said
from agentrunproof.record import speakers

Json = dict[str, Any]

_SUBSTEP = ("role", "content", "tool_calls", "tool_call_id", "name")


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, tuple[Json, str]] = {}
    for document in source.documents:
        for value in document.value if isinstance(document.value, list) else [document.value]:
            key = steps_key(value)
            if not key:
                raise NotThisFormat("neither steps of substeps nor a traj whose messages have an "
                                    f"index, but {found(value)}")
            id = str(value.get("trajectory_id", value.get("task_id", len(runs) + 1)))
            if id in runs:
                raise RecordError("IMPORT_DUPLICATE", f"{document.place}: trajectory {id:.60} "
                                  "stands twice", "export the trace again, once")
            runs[id] = value, document.place
    if not runs:
        raise NotThisFormat("an empty list")
    id, (value, place) = several.choose(source, runs)
    key = steps_key(value)
    draft = Draft(source.name, run=id, fields=said(value, key), outcome=_outcome(value))
    draft.error = "labelled as failed" if draft.outcome == "failed" and key == "steps" else ""
    numbered = [_numbered(step, f"{place}: {key}[{at}]") for at, step in enumerate(value[key])]
    again = twice(number for number, _ in numbered)
    if again is not None:
        raise RecordError("IMPORT_DUPLICATE", f"{place}: step {again} stands twice",
                          "export the trace again, once")
    entries = [_entry(part, number, at, step if key == "steps" else {})
               for number, step in sorted(numbered, key=lambda one: one[0])
               for at, part in enumerate(_substeps(step, key, place, number))]
    if value.get("instruction") and not any(speakers.read(entry.author).kind == "person"
                                            for entry in entries):
        entries.insert(0, talk.Entry("user", parts.text_of(value["instruction"])))
    talk.take(draft, entries)
    return draft


def steps_key(value: Any) -> str:
    """Where a trajectory has its steps; empty if it is none."""
    if isinstance(value, dict):
        for key, tells in (("steps", "substeps"), ("traj", "index")):
            listed = value.get(key)
            if isinstance(listed, list) and listed and isinstance(listed[0], dict) \
                    and {tells, "index"} <= listed[0].keys():
                return key
    return ""


def _outcome(value: Json) -> str | None:
    """What is said of how the run ended: tau-bench's reward, or failures that are labelled."""
    if "reward" in value:
        return "completed" if value["reward"] else "failed"
    return "failed" if value.get("failures") else None


def _numbered(step: Any, place: str) -> tuple[int, Json]:
    if not isinstance(step, dict) or type(step.get("index")) is not int:
        raise RecordError("IMPORT_SHAPE", f"{place}: expected a step with a whole number as index, "
                          f"found {found(step)}", "export the trace again")
    return step["index"], step


def _substeps(step: Json, key: str, place: str, number: int) -> list[Json]:
    """The substeps of a step; some files hold the list as the text of it."""
    if key == "traj":
        return [step]
    value = step.get("substeps")
    if isinstance(value, str):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(value)
                break
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise RecordError("IMPORT_SHAPE", f"{place}: step {number}: substeps: expected a list of "
                          f"tables, found {found(value)}", "export the trace again")
    return value


def _entry(part: Json, number: int, at: int, step: Json) -> talk.Entry:
    content = part.get("content")
    given = tables(part.get("tool_calls")) or tables(unwrapped(content))
    calls = [(str(call.get("id") or ""), str(call["function"].get("name")),
              call["function"].get("arguments")) for call in given
             if isinstance(call.get("function"), dict)]
    text = "" if calls and not part.get("tool_calls") else parts.text_of(content or "")
    about = said(step, "index", "substeps") if not at else {}
    return talk.Entry(str(part.get("role") or "agent"), text, tuple(calls),
                      str(part.get("tool_call_id") or ""),
                      {"index": number, **about, **said(part, *_SUBSTEP, "index")})


AGENTRX = Format("agentrx", "steps of substeps (role, content), or a traj whose messages have an "
                 "index", _read)
