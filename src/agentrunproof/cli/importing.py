"""The command that reads traces of other tools."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits, traces
from agentrunproof.cli.output import lines, note, table
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.importers.detect import Imported


def import_trace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The trace.")],
    format: Annotated[str, typer.Option(
        "--from", metavar="FORMAT", help=f"Its format: {traces.FORMATS}.")] = "auto",
    run: Annotated[str, typer.Option(
        "--run", metavar="ID", help=traces.RUN_HELP)] = "",
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="RUN.jsonl", help="Write the run there; else among the recorded "
        "runs of this folder.")] = None,
    skip_bad_lines: Annotated[bool, typer.Option(
        "--skip-bad-lines", help="Leave lines that cannot be read out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Read a trace of another tool into a run, and say what was understood and what was left."""
    from agentrunproof.importers import detect
    from agentrunproof.record import store

    if output is not None:
        store.check_target(output)
        if output.exists() and file.exists() and output.samefile(file):
            raise RecordError("TARGET_IS_SOURCE", f"{output}: is the trace itself",
                              "name another file for the run")
    imported = detect.read(traces.read(file), str(file), format, skip_bad=skip_bad_lines, run=run)
    written = _write(imported, output)
    if as_json:
        table({**_summary(imported), "file": str(file), "run": str(written)})
        return exits.OK
    for told in imported.notes:
        note(f"note: {told}")
    lines(_lines(imported, written))
    return exits.OK


def _write(imported: Imported, output: Path | None) -> Path:
    from agentrunproof.record import store
    from agentrunproof.runs import file as run_file
    from agentrunproof.runs import folder

    if output is not None:
        store.write(output, imported.data, mode=0o600)  # as recorded runs: they hold private data
        return output
    try:
        return run_file.write(imported.name, imported.data)
    except OSError as problem:
        raise RecordError("RUNS_FOLDER", f"{folder.default()}: {(problem.strerror or '').lower()}",
                          f"name the run with -o, or a folder in {folder.VARIABLE}") from None


def _summary(imported: Imported) -> dict[str, Any]:
    return {"format": imported.format, "name": imported.name, "understood": {
        "model_calls": imported.model_calls, "tool_calls": imported.tool_calls,
        "messages": imported.messages, "inferred_model_calls": imported.inferred,
        "unanswered_model_calls": imported.unanswered, "other": dict(imported.other)},
        "kept": dict(imported.kept), "left": dict(imported.left), "notes": list(imported.notes)}


def _lines(imported: Imported, written: Path) -> list[str]:
    calls = _count(imported.model_calls, "model call")
    besides = [f"{number} {words}" for number, words in (
        (imported.inferred, "inferred from the conversation"),
        (imported.unanswered, "without a reply")) if number]
    aside = f" ({', '.join(besides)})" if besides else ""
    found = [f"read as     {imported.format}",
             f"understood  {calls}{aside}, "
             f"{_count(imported.tool_calls, 'tool call')}, "
             f"{_count(imported.messages, 'message')}"]
    for title, counted in (("other", imported.other), ("kept as is", imported.kept)):
        if counted:
            found.append(f"{title:<12}{_counted(counted)}")
    found.append(f"left        {_counted(imported.left) or 'nothing'}")
    return [*found, f"written     {written}"]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _counted(counted: Counter[str]) -> str:
    return ", ".join(f"{name} x{number}" if number > 1 else name
                     for name, number in sorted(counted.items()))
