"""Reading the file that a user names as a trace: no more of it than memory can hold as JSON."""

from __future__ import annotations

from pathlib import Path

from agentrunproof.errors import RecordError

#: as users type them
FORMATS = ("auto, run, runopsy, atif, swe-agent, openhands, who-and-when, openai-agents, "
           "langsmith, otlp, langfuse, openai-chat, openai-responses or anthropic-messages")
RUN_HELP = "Of several runs in the file, the id of the one to take."


def read(path: Path) -> bytes:
    """The bytes of a recorded run, or of another tool's trace, which must be smaller: it is held
    as parsed JSON, a run is not.

    Raises:
        RecordError: ``IMPORT_TOO_LARGE``; what `record.store.read` says.
    """
    from agentrunproof.importers.source import MAX_BYTES
    from agentrunproof.record import store
    from agentrunproof.record.run_writer import SCHEMA
    from agentrunproof.runs import folder

    try:
        return store.read(path, max_bytes=MAX_BYTES)
    except RecordError as error:
        if error.code != "RECORD_TOO_LARGE":
            raise
    with path.open("rb") as file:
        is_run = SCHEMA.encode() in file.read(4096)
    if is_run:
        return store.read(path, max_bytes=folder.MAX_BYTES)
    raise RecordError("IMPORT_TOO_LARGE", f"{path}: {path.stat().st_size} bytes, and no trace of "
                      f"more than {MAX_BYTES} is read", "export fewer runs at once; of JSON lines, "
                      "the first of them will do")
