"""``view``: a recorded run as a page in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import ablations, asking, exits, runs
from agentrunproof.cli.output import lines, note
from agentrunproof.errors import AgentRunProofError, RecordError

if TYPE_CHECKING:
    from agentrunproof.record.ablation import Ablation
    from agentrunproof.record.run import Run


def view(
    run: Annotated[str, typer.Argument(
        metavar="[RUN]", help="A file; or a recorded run: last, its name or how that begins.")
    ] = "last",
    out: Annotated[Path | None, typer.Option(
        "-o", "--out", metavar="FILE", help="The page; beside the run unless told otherwise.")
    ] = None,
    findings: Annotated[list[Path] | None, typer.Option(
        "--finding", metavar="RECORD", help="What `why --out` wrote about it (repeatable); what "
        "`why` keeps by itself is found.")] = None,
    no_open: Annotated[bool, typer.Option(
        "--no-open", help="Write the page only.")] = False,
    skip_bad_lines: asking.SkipBadLinesOption = False,
) -> int:
    """Show a recorded run in the browser, with what `why` found about it."""
    from agentrunproof.record import store
    from agentrunproof.report import run_page

    recorded = runs.load(run, skip_bad=skip_bad_lines)
    for told in recorded.notes:
        note(f"note: {told}")
    source = Path(recorded.file)
    path = out or source.with_suffix(".view.html")
    store.check_target(path)
    if path.resolve() == source.resolve():
        raise RecordError("VIEW_TARGET", f"--out {path}: that is the run itself",
                          "name another file")
    found = [*_kept(recorded), *(_named(recorded, one) for one in findings or ())]
    store.write(path, run_page.render(recorded, found).encode("utf-8", "backslashreplace"))
    path.chmod(0o600)  # as the run itself, all of which it holds
    lines([str(path)])
    if not no_open:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            note("note: no browser could be opened; open the file yourself")
    return exits.OK


def _kept(run: Run) -> Iterator[tuple[str, Ablation]]:
    """What ``why`` kept about a run, each with the id of the call, the latest last."""
    from agentrunproof.rerun.reruns import digest_of
    from agentrunproof.runs import folder

    stem = Path(run.file).stem
    kept = folder.default() / "ablations"
    paths = [path for path in kept.glob("*.json") if path.name.startswith(f"{stem}-")]
    for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns):
        try:
            call = run.call(path.stem[len(stem) + 1:].rpartition("-")[0])
            record = ablations.load(path)
            digest = digest_of(run.body(call))
        except AgentRunProofError as error:
            note(f"note: {path.name} is left out: {error.message}")
            continue
        if record.subject.digest == digest:  # else it is about another file of that name
            yield call.id, record


def _named(run: Run, path: Path) -> tuple[str, Ablation]:
    """A record that the user names, with the id of the call that it is about."""
    from agentrunproof.rerun.reruns import digest_of

    record = ablations.load(path)
    for call in reversed(run.calls()):
        if digest_of(run.body(call)) == record.subject.digest:
            return call.id, record
    raise RecordError("FINDING_OTHER", f"{path}: explains no request of {run.file}",
                      "name the run that it was made of")
