"""Labelled runs: of each its steps, and at which one people say that it started to go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from agentrunproof.errors import RecordError
from agentrunproof.localize import chat, runopsy
from agentrunproof.record.localization import Step

PACKAGED = "runopsy_bench"


@dataclass(frozen=True)
class Case:
    """One labelled run.

    Args:
        name: its id within its set.
        steps: what happened.
        onset: number of the step at which it started to go wrong; None: it did not.
        agent: who made the mistake, if that is labelled.
        detectable: whether the set says that it can be seen in the trace.
        failed: whether the set says of the run that it failed, as sets of failures do.
    """

    name: str
    steps: tuple[Step, ...]
    onset: int | None
    agent: str = ""
    detectable: bool = True
    failed: bool = False


def packaged() -> bytes:
    """The content of the labelled set that comes with the package (see its notice)."""
    return resources.files("agentrunproof.localize").joinpath(
        f"data/{PACKAGED}.jsonl").read_bytes()


def read(data: bytes, name: str) -> tuple[Case, ...]:
    """The cases in a file: a JSON list or table, or JSON lines, each of a known form.

    Args:
        data: the file's content.
        name: its name, for messages.

    Raises:
        RecordError: ``DATASET_SYNTAX``, ``DATASET_FORMAT``, ``DATASET_LABEL``,
            ``DATASET_EMPTY``.
    """
    cases = []
    for place, value in _values(data, name):
        form = next((read for tells, read in _FORMS if isinstance(value, dict) and tells(value)),
                    None)
        if form is None:
            raise RecordError("DATASET_FORMAT", f"{place}: no labelled run of a known form",
                              "known: steps with onset, messages, Who&When, runopsy_bench")
        try:
            case = form(value)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise RecordError("DATASET_FORMAT", f"{place}: not as its form has it: "
                              f"{type(problem).__name__}: {problem}"[:200]) from None
        numbers = {step.number for step in case.steps}
        if case.onset is not None and case.onset not in numbers:
            raise RecordError("DATASET_LABEL", f"{place}: the onset is step {case.onset}, which "
                              "the run does not have", "are its labels counted from 0?")
        cases.append(case)
    if not cases:
        raise RecordError("DATASET_EMPTY", f"{name}: holds no labelled run")
    return tuple(cases)


def _values(data: bytes, name: str) -> Iterator[tuple[str, Any]]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise RecordError("DATASET_SYNTAX", f"{name}: not UTF-8 text") from None
    try:
        whole = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield f"{name}:{number}", _line(line, f"{name}:{number}")
    else:
        for number, value in enumerate(whole if isinstance(whole, list) else [whole], 1):
            yield f"{name}: case {number}", value


def _line(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        raise RecordError("DATASET_SYNTAX", f"{place}: not JSON") from None


def _of_steps(value: dict[str, Any]) -> Case:
    messages = [
        chat.Message(_author(step), str(step.get("text") or ""),
                     tuple((str(tool), str(arguments)) for tool, arguments in
                           step.get("calls") or ()))
        for step in value["steps"]]
    return Case(str(value.get("id", "")), chat.steps(messages), value["onset"],
                str(value.get("agent") or ""), failed=value["onset"] is not None)


def _author(step: dict[str, Any]) -> str:
    """Who wrote a message: what kind it is may say to whom as well."""
    agent, kind = str(step["agent"]), str(step.get("kind", ""))
    return kind if kind.startswith(f"{agent} (") else agent


def _of_messages(value: dict[str, Any]) -> Case:
    return Case(str(value.get("id", "")), chat.of_openai(value["messages"]), value["onset"],
                failed=value["onset"] is not None)


def _of_who_and_when(value: dict[str, Any]) -> Case:
    """Who&When in its own form; the mistake's step is counted from 0."""
    messages = [chat.Message(str(entry.get("name") or entry["role"]),
                             str(entry.get("content") or "")) for entry in value["history"]]
    return Case(str(value.get("question_ID", "")), chat.steps(messages),
                int(value["mistake_step"]), str(value.get("mistake_agent") or ""), failed=True)


def _of_runopsy(value: dict[str, Any]) -> Case:
    return Case(str(value["name"]), runopsy.steps(value["events"]), value["onset_step"],
                detectable=bool(value["deterministically_detectable"]))


#: how a form is told, and how it is read
_FORMS: tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[dict[str, Any]], Case]], ...] = (
    (lambda value: "steps" in value and "onset" in value, _of_steps),
    (lambda value: "messages" in value and "onset" in value, _of_messages),
    (lambda value: "history" in value and "mistake_step" in value, _of_who_and_when),
    (lambda value: "events" in value and "onset_step" in value, _of_runopsy),
)
