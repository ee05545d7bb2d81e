"""Our own runs: read, checked, and written again in their shortest form."""

from __future__ import annotations

from agentrunproof.record import json_lines
from agentrunproof.record.run import Run
from agentrunproof.record.run_writer import RunWriter

NAME = "run"
_KEYS_WITHIN = 4096
#: what the writer makes anew
_MADE = ("seq", "kind", "call", "dialect", "body", "lists", "items", "reply", "decision", "clock",
         "schema", "name", "outcome")


#: what a file that is none of ours lacks
WHY_NOT = "its first line is no event (seq, kind)"


def is_one(data: bytes) -> bool:
    """Whether a file is a run of ours, by its first line."""
    begin = len(data) - len(data.lstrip(b" \t\r\n"))
    if not any(key in data[begin:begin + _KEYS_WITHIN] for key in (b'"seq"', b'"item"', b'"list"')):
        return False  # the first line of others may be all of a large file
    end = data.find(b"\n", begin)
    try:
        first = json_lines.load(data[begin:end if end >= 0 else len(data)])
    except ValueError:
        return False
    return is_line(first)


def is_line(value: object) -> bool:
    """Whether a JSON value is a line of a run file: an event, an item or a list."""
    return isinstance(value, dict) and any(
        keys <= value.keys() for keys in ({"seq", "kind"}, {"item", "value"}, {"list", "items"}))


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
