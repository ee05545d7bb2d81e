"""Reading the file that a user names as a trace: no more of it than memory can hold as JSON."""

from __future__ import annotations

from pathlib import Path

from agentrunproof.cli import labelled
from agentrunproof.errors import RecordError

#: as users type them
FORMATS = ("auto, run, runopsy, atif, swe-agent, mini-swe-agent, openhands, openhands-v1, agentrx, "
           "who-and-when, openai-agents, langsmith, trail, otlp, langfuse, openai-chat, "
           "openai-responses or anthropic-messages")
RUN_HELP = "Of several runs in the file, the id of the one to take."


def words(file: str, run: str) -> list[str]:
    """The words by which a user names a run, for commands to go on with: the file first."""
    return [file, *(["--run", run] if run else [])]


def read(path: Path) -> bytes:
    """The bytes of a recorded run, or of another tool's trace, which must be smaller: it is held
    as parsed JSON, a run is not. Of an OpenHands conversation, the folder may be named.

    Raises:
        RecordError: ``IMPORT_TOO_LARGE``; what `record.store.read` says.
    """
    from agentrunproof.importers.source import MAX_BYTES
    from agentrunproof.record import store
    from agentrunproof.record.run_writer import SCHEMA
    from agentrunproof.runs import folder

    if path.is_dir() and (events := labelled.conversation(path)):
        return events
    try:
        return store.read(path, max_bytes=MAX_BYTES)
    except RecordError as error:
        if error.code != "RECORD_TOO_LARGE":
            raise
    with path.open("rb") as file:
        is_run = SCHEMA.encode() in file.read(4096)
    if is_run:
        return store.read(path, max_bytes=folder.MAX_BYTES)
    raise RecordError("IMPORT_TOO_LARGE", f"{path}: {path.stat().st_size // 2**20} MiB, and no "
                      f"trace of more than {MAX_BYTES // 2**20} MiB is read", "export fewer runs "
                      "at once; of JSON lines, the first will do: head -n 100000 FILE")
