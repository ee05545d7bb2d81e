"""Importing a file: which format it is of, and the run that it becomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import PurePath

from agentrunproof.errors import RecordError
from agentrunproof.importers import (
    agentrx,
    atif,
    exchanges,
    foreign,
    linking,
    mini_swe_agent,
    openhands,
    openhands_v1,
    otlp,
    own,
    runopsy,
    source,
    swe_agent,
    trail,
    who_and_when,
)
from agentrunproof.importers.draft import (
    Draft,
    EventStep,
    SpanStep,
    Step,
    messages,
    to_bytes,
)
from agentrunproof.importers.form import Format, NotThisFormat
from agentrunproof.importers.source import Source, found
from agentrunproof.record import run_reader
from agentrunproof.record.run import Run
from agentrunproof.shape import nearest

#: in the order in which they are tried
_FORMATS: tuple[Format, ...] = (
    runopsy.RUNOPSY, atif.ATIF, swe_agent.SWE_AGENT, mini_swe_agent.MINI_SWE_AGENT,
    openhands.OPENHANDS, openhands_v1.OPENHANDS_V1, agentrx.AGENTRX, who_and_when.WHO_AND_WHEN,
    otlp.AGENTS_SDK, otlp.LANGSMITH, trail.TRAIL, otlp.OTLP, otlp.LANGFUSE,
    exchanges.RESPONSES, exchanges.MESSAGES, exchanges.CHAT)
FORMATS = (own.NAME, *(one.name for one in _FORMATS))
AUTO = "auto"


@dataclass(frozen=True)
class Imported:
    """What became of a file.

    Args:
        format: the format it was read as.
        name: what the run is called.
        data: the run file.
        model_calls: how many requests to models were understood.
        inferred: how many of them stand in the trace only as the history of later ones.
        unanswered: how many have neither reply nor error.
        tool_calls: how many tool calls.
        messages: how many different messages.
        other: other events by type, such as spans.
        kept: what is kept as it stands, uninterpreted, by name.
        left: what was not taken over, by name.
        notes: what a user must be told.
    """

    format: str
    name: str
    data: bytes
    model_calls: int
    inferred: int
    unanswered: int
    tool_calls: int
    messages: int
    other: Counter[str]
    kept: Counter[str]
    left: Counter[str]
    notes: tuple[str, ...]


def read(data: bytes, name: str, format: str = AUTO, *, skip_bad: bool = False,
         run: str = "") -> Imported:
    """Read a trace into a run file; what `understand` says holds here, too."""
    chosen, found = understand(data, name, format, skip_bad=skip_bad, run=run)
    return _of_run(found) if isinstance(found, Run) else _of_draft(found, chosen)


def understand(data: bytes, name: str, format: str = AUTO, *, skip_bad: bool = False,
               run: str = "") -> tuple[str, Run | Draft]:
    """Its format, and the run that a trace tells of: of ours as it is, else not yet written.

    Args:
        data: the file's content.
        name: its name, for messages.
        format: one of `FORMATS`, or ``auto``.
        skip_bad: leave lines that can't be read out, and say so.
        run: the id of the run to take, of several in the file.

    Raises:
        RecordError: ``IMPORT_RUN``: the file holds several runs, or none of that id;
            ``IMPORT_FORMAT``: it is of no known format, or not of the one named (the
            message says what was looked for); what `source.read` says; ``IMPORT_SHAPE`` and
            ``IMPORT_DUPLICATE``: something in it is wrong.
    """
    if format not in (AUTO, *FORMATS):
        raise RecordError("IMPORT_FORMAT", f"there is no format {format!r:.40}",
                          nearest(format, FORMATS) or "formats: " + ", ".join(FORMATS))
    if format == own.NAME or (format == AUTO and own.is_one(data)):
        return own.NAME, run_reader.read(data, name, skip_bad=skip_bad, run=run)
    read_source = replace(source.read(data, name, skip_bad=skip_bad), run=run)
    chosen, draft = _detect(read_source) if format == AUTO else _named(read_source, format)
    if not draft.steps:
        raise RecordError("IMPORT_EMPTY", f"{name}: {chosen}: there is neither a model call "
                          "nor a tool call in it", "export the trace with its messages")
    _check_run(run, draft.run, name, chosen)
    draft.notes = [*read_source.notes, *draft.notes]
    linking.link(draft)
    if draft.name == name:
        draft.name = PurePath(name).name
    return chosen, draft


def _check_run(wanted: str, run: str, name: str, format: str) -> None:
    """Refuse the id of a run in a file that has none."""
    if wanted and run != wanted:
        raise RecordError("IMPORT_RUN", f"{name}: {format} has no ids of runs in it, so there is "
                          f"no run {wanted!r:.60}", "leave --run out")


def _named(source: Source, format: str) -> tuple[str, Draft]:
    one = next(one for one in _FORMATS if one.name == format)
    draft = _attempt(one, source, True)
    if isinstance(draft, Draft):
        return format, draft
    raise RecordError("IMPORT_FORMAT", f"{source.name}: not {format}: {draft}",
                      f"looked for {one.looks_for}; --from auto tries all formats")


def _attempt(one: Format, source: Source, named: bool) -> Draft | str:
    """What a format reads, or why the file is not of it."""
    try:
        return one.read(source, named)
    except NotThisFormat as reason:
        return str(reason)


def _detect(source: Source) -> tuple[str, Draft]:
    reasons = {own.NAME: own.WHY_NOT}
    for one in _FORMATS:
        draft = _attempt(one, source, False)
        if isinstance(draft, Draft):
            return one.name, draft
        reasons[one.name] = draft
    value = source.documents[0].value
    known = foreign.name_of(value)
    if known:
        raise RecordError("IMPORT_FORMAT", f"{source.name}: this is {known}, which is not read",
                          "formats: " + ", ".join(FORMATS))
    raise RecordError(
        "IMPORT_FORMAT", f"{source.name}: no known format of traces; it holds {_found(source)}; "
        + "; ".join(f"{names}: {reason.removesuffix(f', but {found(value)}')}"
                    for names, reason in _together(reasons)),
        _nearest(set(value) if isinstance(value, dict) else set())
        or "--from names one of " + ", ".join(FORMATS))


def _found(read: Source) -> str:
    count = len(read.documents)
    return (f"{count} lines, first " if count > 1 else "") + found(read.documents[0].value)


def _together(reasons: dict[str, str]) -> list[tuple[str, str]]:
    """The reasons, formats with the same reason together."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [(", ".join(same), reason) for reason, same in names.items()]


def _nearest(words: set[str]) -> str:
    """A word in the file that is nearly one that a format has."""
    for known, name in (("resourceSpans", "otlp"), ("observations", "langfuse"),
                        ("messages", "openai-chat")):
        for word in sorted(words):
            if word != known and nearest(word, [known]):
                return f"nearest: {name}, with {known!r} in place of {word!r:.40}"
    return ""


def _of_run(run: Run) -> Imported:
    kinds = Counter(str(event["kind"]) for event in run.events())
    calls = run.calls()
    data = own.to_bytes(run)
    again = run_reader.read(data, run.file)
    seen = sum(1 for line in data.split(b"\n") if line.startswith(b'{"item"'))
    known = ("run_started", "run_finished", "model_called", "model_responded", "model_failed",
             "tool_started", "tool_finished", "tool_failed")
    return Imported(own.NAME, again.name, data, len(calls), 0,
                    sum(1 for call in calls if call.state == "open"), kinds["tool_started"], seen,
                    Counter({kind: n for kind, n in kinds.items() if kind not in known}),
                    Counter(), Counter(), run.notes)


def _of_draft(draft: Draft, format: str) -> Imported:
    data = to_bytes(draft, imported_from=format)
    models = draft.models()
    kept: Counter[str] = Counter()
    for step in draft.steps:
        kept.update(_kept_names(step))
    kept.update({f"run: {key}": 1 for key in draft.fields})
    return Imported(
        format, draft.name, data, len(models), sum(1 for step in models if step.inferred),
        sum(1 for step in models if step.reply is None and step.error is None),
        len(draft.tools()), messages(draft),
        Counter(step.type if isinstance(step, SpanStep) else step.kind for step in draft.steps
                if isinstance(step, SpanStep | EventStep)), kept,
        draft.left, tuple(draft.notes))


def _kept_names(step: Step) -> list[str]:
    names = list(step.kept.get("attributes", {}))
    return [*names, *(key for key in step.kept
                      if key not in ("attributes", "span", "trace", "name", "index"))]
