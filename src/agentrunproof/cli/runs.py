"""Commands about recorded runs: list them, show one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, note, table
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.record.run import Call, Run


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


def load(word: str, *, skip_bad: bool = False) -> Run:
    """The recorded run that a user means.

    Raises:
        RecordError: there is none, or it cannot be read.
    """
    from agentrunproof.runs import folder

    return folder.load(folder.find(word), skip_bad=skip_bad)


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
