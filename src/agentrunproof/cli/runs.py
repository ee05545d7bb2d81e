"""Commands about recorded runs: list them, show one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits, traces
from agentrunproof.cli.output import lines, note, table
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.record.run import Call, Run

#: A first line is looked at up to here; one that is longer is an item of a run.
_FIRST_LINE = 2**20


def runs(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """List the recorded runs of this folder, the latest last."""
    from agentrunproof.runs import folder

    rows = [_row(path) for path in folder.files()]
    if as_json:
        table(rows)
    elif not rows:
        lines([f"no recorded runs in {folder.default()}"])
    else:
        lines(line for row in rows for line in _row_lines(row))
    return exits.OK


def show(
    run: Annotated[str, typer.Argument(
        metavar="RUN", help="A file; or a recorded run: last, its name or how that begins.")],
    call: Annotated[str | None, typer.Argument(
        metavar="[CALL]", help="A model call: its id, its number, or last.")] = None,
    skip_bad_lines: Annotated[bool, typer.Option(
        "--skip-bad-lines", help="Leave lines that cannot be read out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Show a recorded run, or one of its model calls with the whole request."""
    from agentrunproof.report import run as report

    recorded = load(run, skip_bad=skip_bad_lines)
    for told in recorded.notes:
        note(f"note: {told}")
    if call is None:
        if as_json:
            table({"file": recorded.file, "name": recorded.name, "state": recorded.state,
                   "notes": recorded.notes,
                   "calls": [_call_table(recorded, one) for one in recorded.calls()],
                   "events": list(recorded.events())})
        else:
            lines(report.run_lines(recorded))
        return exits.OK
    found = recorded.call(call)
    if as_json:
        table({**_call_table(recorded, found), "body": recorded.body(found),
               "reply": recorded.reply(found)})
    else:
        lines(report.call_lines(recorded, found))
    return exits.OK


def load(word: str, *, skip_bad: bool = False, run: str = "") -> Run:
    """The recorded run that a user means: one of ours, or another tool's trace.

    Args:
        word: the user's word for its file.
        skip_bad: leave lines that cannot be read out.
        run: which run to take, of several in the file.

    Raises:
        RecordError: there is none, or it cannot be read.
    """
    from agentrunproof.runs import folder

    return read(folder.find(word), skip_bad=skip_bad, run=run)


def read(path: Path, *, skip_bad: bool = False, run: str = "") -> Run:
    """The run in a file of ours or of another tool; `load` says what the rest means.

    Raises:
        RecordError: what `runs.folder.load` and `importers.detect.read` say.
    """
    from agentrunproof.record import run_reader
    from agentrunproof.runs import folder

    data = traces.read(path)
    if path.suffix == folder.SUFFIX and _begins_a_run(data):
        return run_reader.read(data, str(path), skip_bad=skip_bad, run=run)
    from agentrunproof.importers import detect

    imported = detect.read(data, str(path), skip_bad=skip_bad, run=run)
    made = run_reader.read(imported.data, str(path))
    made.notes = (*imported.notes, *made.notes)
    return made


def _begins_a_run(data: bytes) -> bool:
    """Whether the first line is one of a run, or none that can be read: then the reader of runs
    says why."""
    from agentrunproof.importers import own

    try:
        first = json.loads(data[:_FIRST_LINE].partition(b"\n")[0])
    except (ValueError, RecursionError):
        return True
    return own.is_line(first)


def _row(path: Path) -> dict[str, Any]:
    """What the list says of one file, also of one that cannot be read."""
    from agentrunproof.report.run import when
    from agentrunproof.runs import folder

    try:
        run = folder.load(path, skip_bad=True)
    except RecordError as error:
        return {"run": path.stem, "file": str(path), "error": error.message}
    return {"run": path.stem, "file": str(path), "name": run.name, "started": when(run),
            "state": run.state, "model_calls": len(run.calls()), "notes": run.notes}


def _call_table(run: Run, call: Call) -> dict[str, Any]:
    return {**vars(call), "decision": run.decision(call), "error": run.error(call)}


def _row_lines(row: dict[str, Any]) -> list[str]:
    if "error" in row:
        return [row["run"], f"  unreadable: {row['error']}"]
    calls = f"{row['model_calls']} model call{'s' if row['model_calls'] != 1 else ''}"
    return [row["run"], f"  {row['started']}  {row['state']}  {calls}"]
