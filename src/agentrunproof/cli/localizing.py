"""The commands that name the step at which a run started to go wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits, traces
from agentrunproof.cli.output import Progress, lines, note, paint, table
from agentrunproof.errors import AgentRunProofError, RecordError

if TYPE_CHECKING:
    from agentrunproof.localize.datasets import Case
    from agentrunproof.record.localization import Step
    from agentrunproof.record.run import Run
    from agentrunproof.record.told_run import ToldRun


def localize(
    file: Annotated[str, typer.Argument(
        metavar="FILE", help="A recorded run (or last, or its name), a trace of another tool, or a "
        "certificate.")],
    failed: Annotated[bool, typer.Option(
        "--failed", help="The run failed, whatever it says: rank its steps. Without, a failure "
        "must be seen that the run did not get over.")] = False,
    format: Annotated[str, typer.Option(
        "--from", metavar="FORMAT", help=f"The trace's format: {traces.FORMATS}.")] = "auto",
    run: Annotated[str, typer.Option("--run", metavar="ID", help=traces.RUN_HELP)] = "",
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="FILE", help="Write the record there, for check-localization.")]
    = None,
    page: Annotated[Path | None, typer.Option(
        "--html", metavar="FILE", help="Write it as a page to look at: one file, no network, no "
        "script.")] = None,
    skip_bad_lines: Annotated[bool, typer.Option(
        "--skip-bad-lines", help="Leave lines that cannot be read out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record.")] = False,
) -> int:
    """Name the step at which a run started to go wrong, and say why it is suspected."""
    from agentrunproof import __version__
    from agentrunproof.localize import ranking, recording
    from agentrunproof.localize.trace import Trace
    from agentrunproof.record import store
    from agentrunproof.record.localization import FORM
    from agentrunproof.report import localization as report
    from agentrunproof.report import localization_page

    _check_targets(file, out, page)
    name, read_as, steps, notes = _steps(file, format, skip_bad_lines, run)
    for told in notes:
        note(f"note: {told}")
    if not as_json or page is not None:
        result = ranking.localize(Trace(steps, failed=failed))
        status = result.status
        if page is not None:
            text = localization_page.render(result, steps, name=name, format=read_as,
                                            words=traces.words(file, run), failed=failed)
            store.write(page, text.encode("utf-8"))
            page.chmod(0o600)  # as the run itself, of which it quotes
            note(f"written: {page}")
        if not as_json:
            lines(report.lines(result, steps, traces.words(file, run), paint()))
    if as_json or out is not None:
        record = recording.record(steps, name=name, format=read_as, version=__version__,
                                  failed=failed)
        status = record.status
        if out is not None:
            store.write(out, FORM.to_bytes(record))
        if as_json:
            table(FORM.to_json(record))
    return exits.OK if status == "ONSET" else exits.NOTHING


def _check_targets(file: str, *targets: Path | None) -> None:
    """Refuse what cannot be written, or is the run itself, before anything is done.

    Raises:
        RecordError: ``LOCALIZE_TARGET``, or what `record.store.check_target` says.
    """
    from agentrunproof.record import store

    taken = {Path(file).resolve()}
    for target in targets:
        if target is None:
            continue
        store.check_target(target)
        if target.resolve() in taken:
            raise RecordError("LOCALIZE_TARGET", f"{target}: that is the run itself, or is written "
                              "already", "name another file")
        taken.add(target.resolve())


def check_localization(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A localization record.")],
    trace: Annotated[str | None, typer.Option(
        "--trace", metavar="FILE", help="The run it was made from: needed if the record does not "
        "embed its steps, compared with them if it does.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Derive a localization again from the steps in it: findings, scores and answer."""
    from agentrunproof.checker import localization as checker
    from agentrunproof.record import store
    from agentrunproof.shape import encode

    steps = _steps(trace, "auto", False)[2] if trace is not None else None
    judgement = checker.check(store.read(file), steps)
    if as_json:
        table(encode({key: value for key, value in vars(judgement).items() if key != "checks"}))
    elif judgement.valid:
        lines([f"{paint()('VALID', 'VALID')} {judgement.id} {judgement.verdict}"])
    else:
        hint = f" ({judgement.hint})" if judgement.hint else ""
        lines([f"{paint()('INVALID', 'INVALID')} {judgement.code}: {judgement.message}{hint}"])
    return exits.OK if judgement.valid else exits.UNUSABLE


def bench_localize(
    dataset: Annotated[list[Path] | None, typer.Option(
        "--dataset", metavar="PATH", help="A file of labelled runs, or the folder of a set: "
        "Who&When, AgentRx, TRAIL, runopsy_bench, steps or messages with their onset; default: the "
        "set in the package. May be given again.")] = None,
    compare: Annotated[bool, typer.Option(
        "--compare", help="Beside ours, the simple strategies and chance.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Score the onset that localize names against labels: exact steps, nothing nearer."""
    from agentrunproof.cli import labelled
    from agentrunproof.localize import datasets
    from agentrunproof.report import localize_bench as report
    from agentrunproof.report import text

    found: list[dict[str, Any]] = []
    progress = Progress()
    for path in dataset or (None,):
        name = path.name or str(path) if path else datasets.PACKAGED
        read = datasets.read_all(labelled.files(path) if path else {name: datasets.packaged()},
                                 partial(progress.step, name))
        for part, of in _parts(read.cases):
            scores = _scores(of, compare)
            progress.clear()
            wrong = sum(case.onset is not None for case in of)
            found.append({"dataset": name, "part": part, "runs": len(of), "went_wrong": wrong,
                          "not_scored": [vars(one) for one in read.left],
                          "scores": [one.to_json() for one in scores]})
            if not as_json:
                lines(report.lines(f"{name}, {part}: {wrong} went wrong, {len(of) - wrong} "
                                   "healthy", scores))
        if not as_json:
            lines(report.left(read.left, read.notes))
    if as_json:
        table(found)
    else:
        lines(text.wrap(report.LEGEND, ""))
    return exits.OK


def _scores(cases: list[Case], compare: bool) -> list[Any]:
    from agentrunproof.localize import scoring
    from agentrunproof.localize.strategies import OURS, STRATEGIES

    found = [scoring.score(name, strategy, cases) for name, strategy in STRATEGIES.items()
             if compare or name == OURS]
    return [*found[:-1], scoring.chance(cases), found[-1]]


def _parts(cases: tuple[Case, ...]) -> list[tuple[str, list[Case]]]:
    """All runs; where the set says that some cannot be detected, first those that can."""
    detectable = [case for case in cases if case.detectable]
    whole = [("all", list(cases))]
    return whole if len(detectable) == len(cases) else [("detectable only", detectable), *whole]


def _steps(word: str, format: str, skip_bad: bool, run_id: str = ""
           ) -> tuple[str, str, tuple[Step, ...], tuple[str, ...]]:
    """Name, format, steps and notes of the run that a user means.

    Raises:
        RecordError: it cannot be read, or there is no step in it.
    """
    from agentrunproof.localize.steps import of_run
    from agentrunproof.runs import folder

    path = Path(word)
    if not path.exists() and format == "auto":
        path = folder.find(word)
    data = traces.read(path)
    certificate = _of_certificate(data, word) if format == "auto" else None
    if certificate is not None:
        name, steps, notes = certificate
        read_as = "certificate"
    else:
        run, read_as, notes = _run(data, word, format, skip_bad, run_id)
        name, steps = run.name, of_run(run)
    if not any(step.kind in ("answer", "handoff", "tool") for step in steps):
        raise RecordError("LOCALIZE_EMPTY", f"{word}: there is no step in it: neither a model nor "
                          "a tool was called", "record or export the run with its calls")
    return name, read_as, steps, notes


def _run(data: bytes, name: str, format: str, skip_bad: bool, run_id: str
         ) -> tuple[Run | ToldRun, str, tuple[str, ...]]:
    """A recorded run, or what a trace of another tool tells; its format, and notes."""
    from agentrunproof.importers import detect, draft
    from agentrunproof.record.run import Run

    read_as, found = detect.understand(data, name, format, skip_bad=skip_bad, run=run_id)
    return found if isinstance(found, Run) else draft.told(found, imported_from=read_as), \
        read_as, tuple(found.notes)


def _of_certificate(data: bytes, name: str
                    ) -> tuple[str, tuple[Step, ...], tuple[str, ...]] | None:
    """The steps of a certificate: of the first mode, its phases one after the other."""
    from agentrunproof import canonical
    from agentrunproof.localize.steps import of_events
    from agentrunproof.record import certificate

    if b'"agentrunproof/certificate/' not in data[-4096:] + data[:4096]:
        return None
    try:
        found = certificate.from_json(canonical.parse(data))
    except AgentRunProofError as error:
        raise RecordError(error.code, f"{name}: {error.message}", error.hint) from None
    seen = found.observation
    mode = seen.modes[0] if seen.modes else ""
    runs = seen.in_mode(mode)
    events = [event for run in runs for event in run.events]
    notes = (f"of the certificate's modes, {mode} is looked at",) if len(seen.modes) > 1 else ()
    return found.scenario, of_events(events), notes
