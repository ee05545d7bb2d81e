"""``matrix``: plans, or a command, over many SDK releases."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from agentrunproof.cli import exits, matrices, plans
from agentrunproof.cli.output import Progress, lines, note, table
from agentrunproof.cli.verdicts import Verdicts
from agentrunproof.errors import PlanError

if TYPE_CHECKING:
    from agentrunproof.lab.columns import Job
    from agentrunproof.lab.folder import Folder
    from agentrunproof.lab.sweep import Swept
    from agentrunproof.record.matrix import Column, Matrix

#: Where a sweep is kept, unless told otherwise.
FOLDER = Path("build") / "matrix"

#: The page that ``--format html`` writes there.
PAGE = "index.html"

#: Releases, unless told otherwise: the last patch of every minor version.
RELEASES = "minors"

#: Logs of failed commands that are named.
_TOLD = 8


class Format(str, Enum):
    """How a matrix is shown."""

    text = "text"
    json = "json"
    markdown = "markdown"
    html = "html"


class Cells(str, Enum):
    """How the cells of a fan-out are listed."""

    json = "json"


class WithCommand(typer.core.TyperCommand):
    """A command whose words after ``--`` are somebody else's command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put what follows the first ``--`` into ``ctx.obj`` and parse the rest."""
        cut = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[cut + 1:])
        if cut == len(args) - 1:
            raise PlanError("COMMAND_EMPTY", "no command follows --", "write: -- pytest -q")
        return super().parse_args(ctx, args[:cut])


def matrix(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(
        metavar="[SCENARIO_OR_FILE]...", autocompletion=plans.complete,
        help="Scenario ids and plan files; or give -- COMMAND.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All packaged scenarios.")] = False,
    sdk: Annotated[str, typer.Option(
        metavar="SPEC", help="all, minors, latest, certified, releases and ranges; "
        "separated by commas.")] = RELEASES,
    python: Annotated[str | None, typer.Option(
        metavar="LIST", help="Pythons, such as 3.10,3.13.")] = None,
    pins: Annotated[list[str] | None, typer.Option(
        "--with", metavar="NAME=LIST", help="Versions of a dependency of the SDK: lowest, latest "
        "or numbers (repeatable).")] = None,
    jobs: Annotated[int, typer.Option(
        min=1, max=256, metavar="N", help="Environments at work at once.")] = 2,
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="DIR", help="Where record and certificates go.")] = FOLDER,
    shown: Annotated[Format, typer.Option("--format", help="What is printed.")] = Format.text,
    against: Annotated[Path | None, typer.Option(
        metavar="OLD.json", help="Show what changed since that matrix.")] = None,
    known: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Failures of yours that are known, beside the packaged ones.")] = None,
    cells: Annotated[Cells | None, typer.Option(
        help="Print the environments for a CI fan-out and run nothing.")] = None,
    shard: Annotated[str | None, typer.Option(
        metavar="K/N", help="Run only the K-th of N parts of the columns.")] = None,
    executor: Annotated[str | None, typer.Option(
        metavar="URI", help="local, or dask://HOST:PORT.")] = None,
    install: Annotated[list[str] | None, typer.Option(
        metavar="REQUIREMENT", help="Needed by COMMAND besides pytest (repeatable).")] = None,
    allow_python: Annotated[bool, typer.Option(
        "--allow-python", help="Let plans run the Python that they name.")] = False,
) -> int:
    """Run scenarios, or a command (-- COMMAND), on many SDK releases and lay out the verdicts."""
    from agentrunproof.lab import environments, executors, selection, sweep
    from agentrunproof.lab.folder import Folder

    columns = selection.columns_of(sdk, python or environments.running(), pins or [])
    if shard is not None:
        columns = selection.shard_of(columns, shard)
    if cells is not None:
        lines([json.dumps(_cells(columns))])  # on one line, as GITHUB_OUTPUT takes it
        return exits.OK
    job = job_of(names or [], everything, context.obj, install or [], allow_python)
    old = matrices.read(against) if against is not None else None
    folder = Folder(out)
    view = _View(job, names or [], Verdicts.knowing(known))
    try:
        swept = sweep.sweep(folder, job, columns, executors.of_uri(executor, jobs),
                            say=view.progress.say, tick=view.tick, warn=view.warn)
    except KeyboardInterrupt:
        view.progress.clear()
        note(f"what is done is kept in {out}; the same command goes on from there")
        raise
    view.progress.clear()
    view.show(swept, folder, shown, old)
    return view.verdicts.exit(swept.matrix)


def job_of(names: list[str], everything: bool, command: tuple[str, ...], install: list[str],
           allow_python: bool) -> Job:
    """What is to be run in every column.

    Raises:
        PlanError: nothing, or plans and a command, or what `plans.resolve_all` says.
    """
    from agentrunproof.lab import commands, probe
    from agentrunproof.lab.columns import Job
    from agentrunproof.plan import catalog

    if sum((bool(names), everything, bool(command))) != 1:
        raise PlanError("PLAN_NONE", "name scenarios or plan files, or give --all, or -- COMMAND",
                        "one of them")
    if command:
        return Job(command=commands.Command(command, str(Path.cwd()), tuple(install)))
    if install:
        raise PlanError("PLAN_INSTALL", "--install is for a command", "add -- COMMAND")
    chosen = plans.resolve_all(catalog.ids() if everything else names)
    wanted = {one.id: one.plan for one in chosen}
    probe.refuse(wanted, allow_python)
    return Job(wanted, options=probe.Options(
        allow_python=allow_python, path=plans.import_folders(chosen)))


@dataclass
class _View:
    """What the user sees of a sweep."""

    job: Job
    names: list[str]
    verdicts: Verdicts

    def __post_init__(self) -> None:
        self.progress = Progress()

    def tick(self, finished: int, total: int, column: Column) -> None:
        """A column is done: a passing line on a terminal, a lasting one in a log."""
        message = f"[{finished}/{total}] {column.key}"
        if sys.stderr.isatty():
            self.progress.say(message)
        else:
            note(message)

    def warn(self, message: str) -> None:
        self.progress.clear()
        note(f"warning: {message}")

    def show(self, swept: Swept, folder: Folder, shown: Format, old: Matrix | None) -> None:
        made = swept.matrix
        if shown is Format.json:
            table(self._table(swept, folder, old))
            return
        self.verdicts.tell_stale(made)
        if shown is Format.html:
            self._write_page(swept, folder)
            return
        self.verdicts.show(made, old, markdown=shown is Format.markdown)
        told = [*_error_lines(swept), *_log_lines(made, folder)]
        lines([*told, f"record: {folder.record}"] if shown is Format.text else [])

    def _write_page(self, swept: Swept, folder: Folder) -> None:
        from agentrunproof.record import store
        from agentrunproof.report import page

        target = folder.path / PAGE
        command = self.job.command
        background = page.Background(
            self.verdicts.expected, self.verdicts.reason, folder.failures(swept.matrix),
            self.job.plans,
            {place: f"{error} [{error.code}]" for place, error in swept.errors.items()},
            {plans.resolve(name).id: name for name in self.names},
            command.install if command else ())
        store.write(target, page.render(swept.matrix, background).encode("utf-8"))
        lines([f"written: {target}"])

    def _table(self, swept: Swept, folder: Folder, old: Matrix | None) -> dict[str, Any]:
        from agentrunproof.record import matrix as records
        from agentrunproof.report import changes
        from agentrunproof.report.tables import error_table

        found = {"matrix": records.to_json(swept.matrix), "record": str(folder.record),
                 "reused": swept.reused,
                 "stale": [str(one) for one in self.verdicts.stale(swept.matrix)],
                 "errors": [{"scenario": scenario, "column": column.key, **error_table(error)}
                            for (scenario, column), error in swept.errors.items()]}
        if old is not None:
            found["changes"] = [one.to_json() for one in changes.compare(old, swept.matrix)]
        return found


def _cells(columns: tuple[Column, ...]) -> dict[str, Any]:
    """For ``strategy.matrix`` of GitHub Actions; `with` holds options of ours."""
    return {"include": [{"sdk": column.sdk, "python": column.python,
                         "with": " ".join(f"--with {pin}" for pin in column.pins)}
                        for column in columns]}


def _error_lines(swept: Swept) -> list[str]:
    """Errors by code: what the first of each says, and in how many cells there are more."""
    met: dict[str, list[str]] = {}
    for (scenario, column), error in swept.errors.items():
        met.setdefault(error.code, []).append(f"{scenario} on {column.key}: {error}")
    return [f"E {code} {words[0]}" + (f" (and {len(words) - 1} more)" if words[1:] else "")
            for code, words in met.items()]


def _log_lines(made: Matrix, folder: Folder) -> list[str]:
    """Where the output of failed commands stands."""
    from agentrunproof.lab.folder import COLUMNS, LOG

    failed = [column for row in made.plans if row.command
              for column, cell in zip(made.columns, row.cells, strict=True)
              if cell.verdict == "FAIL"]
    return [f"F {column.sdk}: {folder.path / COLUMNS / column.key / LOG}"
            for column in failed[:_TOLD]]
