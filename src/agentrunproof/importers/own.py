"""Our own runs: read, checked, and written again in their shortest form."""

from __future__ import annotations

from agentrunproof.importers.source import Source
from agentrunproof.record import run_reader
from agentrunproof.record.run import Run
from agentrunproof.record.run_writer import RunWriter

NAME = "run"
LOOKS_FOR = "lines with seq and kind, or item, or list"
#: what the writer makes anew
_MADE = ("seq", "kind", "call", "dialect", "body", "lists", "items", "reply", "decision", "clock",
         "schema", "name", "outcome")


def why_not(source: Source) -> str:
    """Why a file is no run of ours; empty if it is."""
    first = source.documents[0].value
    if isinstance(first, dict) and (("kind" in first and "seq" in first)
                                    or {"item", "value"} <= first.keys()
                                    or {"list", "items"} <= first.keys()):
        return ""
    return "its first line is no event (seq, kind)"


def read(source: Source, *, skip_bad: bool) -> Run:
    """The run.

    Raises:
        RecordError: what `record.run_reader.read` says.
    """
    return run_reader.read(source.data, source.name, skip_bad=skip_bad)


def to_bytes(run: Run) -> bytes:
    """The same run, written anew: each content once, lists as growths, numbers without gaps.

    Raises:
        RecordError: ``RUN_LOST``: a request stood in lines that were left out.
    """
    lines: list[bytes] = []
    writer = RunWriter(lines.append)
    calls = {call.id: call for call in run.calls()}
    for event in run.events():
        rest = {key: value for key, value in event.items() if key not in _MADE}
        clock = event.get("clock")
        match event["kind"]:
            case "run_started":
                writer.start(event["name"], clock=clock, **rest)
            case "model_called":
                call = calls[event["call"]]
                writer.model_called(call.id, call.dialect, run.body(call), clock=clock, **rest)
            case "model_responded" if "reply" in event:
                writer.model_responded(event["call"], event["reply"], clock=clock, **rest)
            case "run_finished":
                writer.finish(event["outcome"], clock=clock, **rest)
            case kind:
                as_is = {key: value for key, value in event.items()
                         if key not in ("seq", "kind", "clock")}
                writer.event(kind, clock=clock, **as_is)
    return b"".join(lines)
