"""``fix``: which change of its request keeps a model from deciding so again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import ablations, asking, changes, exits, fix_job, strength, written_tests
from agentrunproof.cli.output import Progress, flush, lines, note, paint

if TYPE_CHECKING:
    from agentrunproof.cli.asking import Chosen
    from agentrunproof.record.fix import Fix


def fix(
    run: Annotated[str, typer.Argument(metavar="RUN", help=asking.RUN_HELP)],
    target: Annotated[str, typer.Argument(metavar="TARGET", help=asking.TARGET_HELP)],
    call: asking.CallOption = None,
    add_system: changes.AddSystemOption = None,
    system_file: changes.SystemFileOption = None,
    replace: changes.ReplaceOption = None,
    drop: changes.DropOption = None,
    only_own: Annotated[bool, typer.Option(
        "--only-own", help="Try nothing but your own changes.")] = False,
    no_source: Annotated[bool, typer.Option(
        "--no-source", help="Don't look for the cause, and don't try without it.")] = False,
    finding: Annotated[Path | None, typer.Option(
        metavar="FILE", help="The record of a why that found the cause; else one of the same "
        "request is used, or made.")] = None,
    runs: strength.RunsOption = None,
    tolerate: strength.TolerateOption = strength.TOLERATED,
    budget: Annotated[int, typer.Option(
        min=1, metavar="N", help="Model calls at most, those of why too.")] = fix_job.BUDGET,
    write_test: Annotated[Path | None, typer.Option(
        "--write-test", metavar="FILE", help="Write tests that keep it fixed: test_SOMETHING.py."),
    ] = None,
    agent: written_tests.AgentOption = None,
    effect: written_tests.EffectOption = None,
    redact: written_tests.RedactOption = None,
    overwrite: written_tests.OverwriteOption = False,
    model: asking.ModelOption = None,
    base_url: asking.BaseUrlOption = None,
    key_variable: asking.KeyVariableOption = None,
    deterministic: asking.DeterministicOption = None,
    workers: asking.WorkersOption = None,
    executor: asking.ExecutorOption = None,
    run_id: asking.RunOption = "",
    skip_bad_lines: asking.SkipBadLinesOption = False,
    dry: Annotated[bool, typer.Option(
        "--dry", help="Only show what would be tried; no model is called.")] = False,
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="FILE", help="Write the record to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the record itself.")] = False,
) -> int:
    """Measure on fresh reruns which change keeps a model from deciding so, and write tests."""
    asked = fix_job.Asked(changes.each(add_system, system_file, replace, drop), only_own,
                          not (no_source or only_own), finding, budget,
                          strength.of(runs, tolerate))
    if only_own and not asked.own:
        raise typer.BadParameter("--only-own: there is no --add-system, --system-file, --replace "
                                 "or --drop")
    chosen = asking.chosen(run, target, call, skip_bad=skip_bad_lines, run=run_id)
    options = asking.Options(model=model, base_url=base_url, key_variable=key_variable,
                             deterministic=deterministic, workers=workers, executor=executor)
    tests = None if write_test is None else written_tests.prepared(
        written_tests.Wanted(write_test, agent, effect, redact, overwrite), chosen, options)
    if dry:
        lines(fix_job.plan(chosen, asked))
        return exits.OK
    place = ablations.prepared(out, "fixes")
    progress = Progress()
    with asking.asker(options, progress, cached=True) as reruns_of:
        job = fix_job.Job(chosen, reruns_of(chosen), asked, progress)
        job.run()
    record = job.record()
    _tell(record, place, chosen, as_json)
    if job.problem is not None:
        raise job.problem
    if tests is not None:
        _write(tests, record)
    return exits.of_verdict(record.status)


def _tell(record: Fix, place: Path, chosen: Chosen, as_json: bool) -> None:
    """Print the record and keep it."""
    from agentrunproof.record.fix import FORM
    from agentrunproof.report import fix as report

    data = FORM.to_bytes(record)
    lines([data.decode().rstrip("\n")] if as_json else report.lines(record, paint()))
    flush()  # before anything can go wrong with the file
    note(f"written: {ablations.write(place, data, chosen)}")


def _write(tests: written_tests.Tests, record: Fix) -> None:
    """Write the tests that a record bears out."""
    best = record.candidates[0]
    written = [tests.file()]
    if best.verdict == "PASS":
        written.insert(0, tests.live(
            best.change, runs=record.runs, tolerance=Fraction(record.tolerance),
            deterministic=record.deterministic,
            measured=f"Unchanged, {record.base.hits} of {record.base.runs} fresh reruns decided "
            f"so; with the fix below, {best.rate.hits} of {best.rate.runs}."))
    else:
        note("note: no fix passes, so that no test of the live model is written")
    guard = tests.guard()
    if guard is None:
        note("note: the decision calls no tool, so that there is no guard to test")
    else:
        written.append(guard)
    for path in written:
        note(f"written: {path}")
