"""What a value of a labelled data set is: a trace, a label, or both; and by what labels count.

Each set counts in its own way: the message in ``history``, ``steps`` or ``messages`` **from 0**
(Who&When, our own form), the step's ``index`` **from 1, the system prompt being 1** (AgentRx), the
event's ``sequence`` (runopsy), the id of a span (TRAIL). The importers keep that as the source of
what they read (`localize.steps.with_sources`), so that nothing is counted again here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentrunproof.importers import agentrx, trail
from agentrunproof.importers.source import tables, unwrapped

Json = dict[str, Any]

_TAU = "tau_retail_"  # stands before the ids of trajectories, and not of their annotations


@dataclass(frozen=True)
class Label:
    """What a set says of one run.

    Args:
        key: the field of a step's source that tells which step is meant.
        wanted: the values of it that are labelled as wrong; of several, the earliest step of the
            run is its onset. Empty: the run is healthy.
        agent: who made the mistake, if that is labelled.
        detectable: whether the set says that it can be seen in the trace.
        failed: whether the set says of the run that it failed, as sets of failures do.
        problem: why the label cannot be used; empty if it can.
    """

    key: str
    wanted: tuple[Any, ...] = ()
    agent: str = ""
    detectable: bool = True
    failed: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Part:
    """A trace, a label, or both of one run.

    Args:
        id: by which a trace and its label find each other.
        trace: what an importer reads; None: this is only a label.
        label: None: this is only a trace.
    """

    id: str
    trace: Any = None
    label: Label | None = None


def part(value: Any, stem: str) -> Part | None:
    """What a value is; None if it is of no known form.

    Args:
        value: a value of JSON.
        stem: the name of its file, by which some sets tell their runs apart.
    """
    if not isinstance(value, dict):
        return None
    return next((found for form in _FORMS if (found := form(value, stem)) is not None), None)


def _whole(value: Any) -> int | None:
    """A whole number, or one that is written as a text."""
    if type(value) is int:
        return value
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _one(key: str, name: str, value: Any, **more: Any) -> Label:
    """The label that is one whole number."""
    number = _whole(value)
    if number is None:
        said = "is missing" if value in (None, "") else f"is no whole number: {value!r:.40}"
        return Label(key, problem=f"{name} {said}")
    return Label(key, (number,), **more)


def _of_runopsy(value: Json, stem: str) -> Part | None:
    if not isinstance(value.get("events"), list) or "onset_step" not in value:
        return None
    about: Json = {"detectable": bool(value.get("deterministically_detectable", True))}
    onset = value["onset_step"]
    return Part(str(value.get("name") or stem), value, Label("sequence", **about)
                if onset is None else _one("sequence", "onset_step", onset, **about))


def _of_ours(value: Json, stem: str) -> Part | None:
    if "onset" not in value or not any(isinstance(value.get(key), list)
                                       for key in ("steps", "messages")):
        return None
    about: Json = {"agent": str(value.get("agent") or "")}
    return Part(str(value.get("id") or stem), value, Label("index", **about)
                if value["onset"] is None else
                _one("index", "onset", value["onset"], failed=True, **about))


def _of_who_and_when(value: Json, stem: str) -> Part | None:
    if not isinstance(value.get("history"), list) or not (
            {"mistake_step", "mistake_agent", "question_ID"} & value.keys()):
        return None
    if value.get("is_correct", value.get("is_corrected")) is True \
            and value.get("mistake_step") in (None, ""):
        label = Label("index")
    else:
        label = _one("index", "mistake_step", value.get("mistake_step"), failed=True,
                     agent=str(value.get("mistake_agent") or ""))
    return Part(str(value.get("question_ID") or stem), value, label)


def _of_agentrx(value: Json, stem: str) -> Part | None:
    is_trace = bool(agentrx.steps_key(value))
    is_label = isinstance(value.get("failures"), list) and "trajectory_id" in value
    if not is_trace and not is_label:
        return None
    id = str(value.get("trajectory_id", value.get("task_id", stem))).removeprefix(_TAU)
    return Part(id, value if is_trace else None, _root_cause(value) if is_label else None)


def _root_cause(value: Json) -> Label:
    """The failure that is the root cause of the others, counted from 1."""
    cause = value.get("root_cause")
    wanted = value.get("root_cause_failure_id",
                       cause.get("failure_id") if isinstance(cause, dict) else None)
    failures = tables(value["failures"])
    root = next((one for one in failures if str(one.get("failure_id")) == str(wanted)), None)
    if root is None:
        if not failures and wanted is None:
            return Label("index")
        return Label("index", problem=f"the root cause, failure {wanted!s:.40}, is none of its "
                     "failures")
    return _one("index", "step_number", root.get("step_number"), failed=True,
                agent=str(root.get("failed_agent") or ""))


def _of_trail(value: Json, stem: str) -> Part | None:
    trace = trail.trace_of(value)
    labels = unwrapped(value.get("labels", value if trace is None else None))
    errors = labels.get("errors") if isinstance(labels, dict) else None
    if trace is None and (not isinstance(errors, list) or (
            errors and not all("location" in one for one in tables(errors)))):
        return None
    id = (trace or value).get("trace_id") or stem
    if not isinstance(errors, list):
        return Part(str(id), trace)
    wanted = tuple(str(one.get("location") or "") for one in tables(errors))
    return Part(str(id), trace, Label("span", wanted, failed=bool(wanted)))


#: in the order in which they are tried
_FORMS: tuple[Callable[[Json, str], Part | None], ...] = (
    _of_runopsy, _of_agentrx, _of_ours, _of_who_and_when, _of_trail)
