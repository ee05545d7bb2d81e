"""Reading the files that a user names as a labelled set, or as a conversation of many files."""

from __future__ import annotations

import json
from pathlib import Path

from agentrunproof.errors import RecordError

_SET = ("*.json", "*.jsonl", "*.parquet")


def files(path: Path) -> dict[str, bytes]:
    """The content of a file, or of all files of a set in a folder, by their names.

    Raises:
        RecordError: ``DATASET_EMPTY``: the folder holds none; what `record.store.read` says.
    """
    from agentrunproof.record import store
    from agentrunproof.runs import folder

    if not path.is_dir():
        return {str(path): store.read(path, max_bytes=folder.MAX_BYTES)}
    found = sorted(one for pattern in _SET for one in path.rglob(pattern) if one.is_file())
    if not found:
        raise RecordError("DATASET_EMPTY", f"{path}: a folder without {', '.join(_SET)}",
                          "name the folder that holds the set's files")
    return {one.relative_to(path).as_posix(): store.read(one, max_bytes=folder.MAX_BYTES)
            for one in found}


def conversation(path: Path) -> bytes:
    """The events of an OpenHands conversation, a folder of one file each, as JSON lines; with
    its ``base_state.json``, if that is there. Empty if the folder is no such.

    Raises:
        RecordError: ``IMPORT_SYNTAX``: a file is no JSON; ``IMPORT_TOO_LARGE``; what
            `record.store.read` says.
    """
    from agentrunproof.importers.source import MAX_BYTES
    from agentrunproof.record import store

    events = sorted(path.glob("event-*.json")) or sorted(path.glob("events/event-*.json"))
    if not events:
        return b""
    lines, size = [], 0
    for one in [*sorted(events[0].parent.parent.glob("base_state.json")), *events]:
        try:
            lines.append(json.dumps(json.loads(store.read(one, max_bytes=MAX_BYTES))).encode())
        except ValueError as problem:
            raise RecordError("IMPORT_SYNTAX", f"{one}: not JSON: {problem!s:.80}",
                              "export the conversation again") from None
        size += len(lines[-1])
        if size > MAX_BYTES:
            raise RecordError("IMPORT_TOO_LARGE", f"{path}: its events are more than {MAX_BYTES} "
                              "bytes", "leave the last of them out")
    return b"\n".join(lines) + b"\n"
