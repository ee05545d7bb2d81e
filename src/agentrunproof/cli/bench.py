"""`bench`: how well this tool does what it says, measured on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import localizing
from agentrunproof.cli.output import Progress, lines, table

if TYPE_CHECKING:
    from agentrunproof.bench.why import Score

app = typer.Typer(help="Measure this tool on generated cases.", rich_markup_mode=None)

_HEAD = (f"{'kind':22} {'cases':>5} {'head':>5} {'exact':>5} {'false':>5} {'open':>4} "
         f"{'calls':>6} {'most':>4} {'ms/call':>8}")


app.command("localize")(localizing.bench_localize)


@app.callback()
def bench() -> None:
    """Measure this tool on generated cases."""


@app.command("why")
def bench_why(
    kinds: Annotated[list[str] | None, typer.Argument(
        help="Kinds of cases, * and ? allowed; all usual ones without.",
        show_default=False)] = None,
    cases: Annotated[Path | None, typer.Option(
        help="A Python file of cases (SUITE, make) in place of our own.")] = None,
    most: Annotated[int | None, typer.Option(
        "-n", min=1, help="Cases of each kind at most; of our own 20 if not given.")] = None,
    first: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    budget: Annotated[int, typer.Option(min=1, help="Model calls for each case.")] = 300,
    peer: Annotated[bool | None, typer.Option(
        "--peer/--no-peer", show_default=False,
        help="Have runtape explain the same cases; if not given, where it is installed.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How well `why` finds planted causes: no model is asked, a rule stands for it.

    head: cases whose headline names a planted sentence; exact: all planted sentences and nothing
    else; false: cases without a cause where one was claimed; open: the budget ran out; calls: of
    the model, on average, and at most; ms/call: CPU time of each, without the model's own.
    """
    from agentrunproof.bench import cases as files
    from agentrunproof.bench import conversations, why
    from agentrunproof.bench import peer as peers

    known = files.read(cases) if cases else conversations.kinds(most or 20)
    wanted = why.chosen(known, kinds or ())
    if peer and not peers.installed():
        raise files.BenchError("PEER_MISSING", "runtape is not installed here",
                             "leave --peer out, or install it beside agentrunproof")
    compared = peers.installed() if peer is None else peer
    rows = []
    if not json:
        lines([_HEAD])
    with _progress() as progress:
        for name, kind in wanted.items():
            ours, theirs = why.Score(), why.Score()
            for result in why.measured({name: kind}, most=most, first=first, budget=budget):
                progress.step(name, f"seed {result.seed}")
                ours += result.score
                case = kind.make(result.seed) if compared else None
                if case and peers.can_ask(case):
                    theirs += peers.measure(case, cases, name, result.seed)
            progress.clear()
            rows.append((name, ours, theirs))
            if not json:
                lines(_rows(*rows[-1]))
    ours = sum((row[1] for row in rows), why.Score())
    theirs = sum((row[2] for row in rows), why.Score())
    if json:
        table({"first": first, "budget": budget, "kinds": [
            {"kind": name, **a.json(), "runtape": b.json() if b.cases else None}
            for name, a, b in rows], "all": ours.json()})
    else:
        lines(_rows("all", ours, theirs))


@contextmanager
def _progress() -> Iterator[Progress]:
    progress = Progress()
    try:
        yield progress
    finally:
        progress.clear()


def _rows(name: str, ours: Score, theirs: Score) -> list[str]:
    rows = [_row(name, ours)]
    if theirs.cases:
        rows.append(_row("  runtape", theirs))
    return rows


def _row(name: str, score: Score) -> str:
    planted = (f"{score.headline:5d} {score.exact:5d}" if score.planted else f"{'-':>5} {'-':>5}")
    cost = f"{1000 * score.seconds / score.calls:8.2f}" if score.seconds else f"{'-':>8}"
    return (f"{name:22.22} {score.cases:5d} {planted} {score.false:5d} {score.unanswered:4d} "
            f"{score.calls / score.cases:6.1f} {score.most:4d} {cost}")
