"""ATIF 1.x: the Agent Trajectory Interchange Format of Harbor.

https://www.harborframework.com/docs/agents/trajectory-format
"""

from __future__ import annotations

from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.importers import parts, several
from agentrunproof.importers.draft import Draft, ModelStep, ToolStep
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found, tables, twice
from agentrunproof.importers.spans import nanoseconds
from agentrunproof.importers.turns import Turns, said

Json = dict[str, Any]


def _read(source: Source, named: bool) -> Draft:
    runs: dict[str, tuple[Json, str]] = {}
    for number, document in enumerate(source.documents, 1):
        value = document.value
        if not isinstance(value, dict) or \
                not str(value.get("schema_version", "")).startswith("ATIF"):
            raise NotThisFormat(f"no schema_version ATIF-v1..., but {found(value)}")
        id = str(value.get("session_id") or value.get("trajectory_id") or number)
        if id in runs:
            raise RecordError("IMPORT_DUPLICATE", f"{document.place}: session {id:.60} stands "
                              "twice", "export the trace again, once")
        runs[id] = value, document.place
    id, (value, place) = several.choose(source, runs)
    draft = Draft(source.name, run=id, fields=said(value, "steps"))
    _Reading(draft, value, place).take(_steps(value, place, draft))
    return draft


def _steps(value: Json, place: str, draft: Draft) -> list[Json]:
    """The steps in the order of their numbers."""
    steps = value.get("steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise RecordError("IMPORT_SHAPE", f"{place}: steps: expected a list of tables, found "
                          f"{found(steps)}", "export the trace again")
    numbers = [step.get("step_id") for step in steps]
    if not all(type(number) is int for number in numbers):
        return steps
    again = twice(numbers)
    if again is not None:
        raise RecordError("IMPORT_DUPLICATE", f"{place}: step_id {again} stands twice",
                          "export the trace again")
    if numbers != sorted(numbers):
        draft.notes.append("steps do not stand in the order of step_id: sorted")
    return sorted(steps, key=lambda step: int(step["step_id"]))


class _Reading:
    """Takes the steps of one trajectory."""

    def __init__(self, draft: Draft, value: Json, place: str) -> None:
        agent = value.get("agent")
        about: Json = agent if isinstance(agent, dict) else {}
        tools = about.get("tool_definitions")
        self._draft = draft
        self._place = place
        self._agent = str(about.get("name") or "")
        self._model = about.get("model_name")
        self._turns = Turns(draft, **({"tools": tools} if isinstance(tools, list) else {}))

    def take(self, steps: list[Json]) -> None:
        for number, step in enumerate(steps):
            at = nanoseconds(step.get("timestamp"), f"{self._place}: steps[{number}]")
            content = _content(step.get("message"))
            source = step.get("source")
            if source in ("user", "system"):
                self._turns.said(source, content)
                self._draft.left.update(f"{source} step {key}" for key in said(
                    step, "step_id", "timestamp", "source", "message"))
            elif source == "agent":
                self._answer(step, content, at)
            else:
                self._draft.left[f"step of source {source!s:.40}"] += 1

    def _answer(self, step: Json, content: Any, at: int | None) -> None:
        calls = [parts.tool_call(call.get("tool_call_id"), call.get("function_name"),
                                 call.get("arguments")) for call in tables(step.get("tool_calls"))]
        message = {"role": "assistant", "content": content,
                   **({"tool_calls": calls} if calls else {})}
        if step.get("reasoning_content"):
            message["reasoning_content"] = step["reasoning_content"]
        model = step.get("model_name") or self._model
        by = self._turns.answered(message, at=at, agent=self._agent, kept=said(
            step, "timestamp", "source", "message", "reasoning_content", "tool_calls",
            "model_name", "observation"), **({"model": model} if model else {}))
        self._results(step, by, at)

    def _results(self, step: Json, by: ModelStep, at: int | None) -> None:
        """Call the tools that an answer asked for, and give back what the observation says."""
        made: dict[str, ToolStep] = {}
        for call, asked in zip(tables(step.get("tool_calls")), by.asks(), strict=True):
            made[asked["id"]] = self._turns.called(
                asked["name"], asked["arguments"], id=asked["id"], at=at, agent=self._agent, by=by,
                kept=said({"step_id": step.get("step_id"), **call}, "tool_call_id",
                          "function_name", "arguments"))
        observation = step.get("observation")
        for result in tables(observation.get("results") if isinstance(observation, dict) else ()):
            tool = made.get(str(result.get("source_call_id") or ""))
            content = _content(result.get("content"))
            if tool is None:  # of an action that was no tool call, or of the system
                self._turns.said("user", content)
                continue
            self._turns.gave(tool, content, at=at)
            tool.kept |= said(result, "source_call_id", "content")
            if _failed(result):
                tool.error = {"type": "tool error", "message": parts.text_of(content)}


def _failed(result: Json) -> bool:
    """Whether a result says that the call failed; ATIF leaves that to ``extra``."""
    extra = result.get("extra")
    inner: Any = extra if isinstance(extra, dict) else {}
    metadata = inner.get("tool_result_metadata")
    raw = metadata.get("raw_tool_result") if isinstance(metadata, dict) else None
    return any(isinstance(one, dict) and one.get("is_error") is True
               for one in (inner, metadata, raw))


def _content(value: Any) -> Any:
    """A message: a text, or a list of content parts."""
    return "" if value is None else value


ATIF = Format("atif", "a trajectory with schema_version ATIF-v1...", _read)
