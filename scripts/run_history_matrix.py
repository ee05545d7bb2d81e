"""Run the rows of ``history/`` on the releases around their boundaries and record what they show.

    python scripts/run_history_matrix.py [--rows WORD ...] [--out build/history]
    python scripts/run_history_matrix.py --canonical --out evidence/history

A row shows its bug when its check fails with its code on the first and the last bad release,
passes on the first fixed one and does not fail so on the release before the first bad one. Each
release gets one environment and one worker for all its scenarios.

By default this is a rehearsal: environments come from the cache, and what is written has no bundle.
With ``--canonical`` all rows are run, from a clean checkout, on Linux x86_64 and CPython, in new
environments made of the locks in ``requirements/``; the marker of the bundle is written last.

Exit status 1 if a row does not hold, 2 if it could not be run.
"""

from __future__ import annotations

import argparse
import functools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agentrunproof.checker.bundle import CERTIFICATES
from agentrunproof.checker.members import name_of
from agentrunproof.errors import AgentRunProofError, LabError
from agentrunproof.lab import evidence, executors, history, locks
from agentrunproof.lab.columns import Job, Result, run_column
from agentrunproof.plan import catalog
from agentrunproof.record import history as histories
from agentrunproof.record.matrix import Column

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "history"
LOCKS = ROOT / "requirements"
PYTHON = "3.12"


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    started = time.monotonic()
    try:
        commit = evidence.clean_commit(ROOT) if options.canonical else None
        rows = history.load(ROWS, options.rows)
        wanted = history.needed(rows, options.python)
        with tempfile.TemporaryDirectory(prefix="agentrunproof-") as folder:
            fresh = locks.Locked(LOCKS, Path(folder))
            work = functools.partial(run_column, provide=fresh) if commit else run_column
            results = _run(wanted, executors.Local(options.jobs, work))
            made = _record(rows, options, results, commit, Path(folder))
    except AgentRunProofError as error:
        print(f"error: {error} [{error.code}]", file=sys.stderr)
        return 2
    broken = [_tell(bug) for bug in made.rows]
    kinds = Counter(bug.catcher for bug in made.rows)
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds))
    print(f"{broken.count(False)} of {len(broken)} rows hold ({told}), on {len(wanted)} releases "
          f"in {time.monotonic() - started:.0f} s: {options.out / evidence.RECORD}")
    return 1 if any(broken) else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", nargs="+", default=[], metavar="WORD", help="rows with one of "
                        "these in scenario or link")
    parser.add_argument("--python", default=PYTHON)
    parser.add_argument("--jobs", type=int, default=executors.JOBS, metavar="N")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "history", metavar="DIR")
    parser.add_argument("--canonical", action="store_true", help="make evidence")
    options = parser.parse_args(words)
    if options.canonical and (options.rows or options.python != PYTHON):
        parser.error(f"evidence is of all rows, on Python {PYTHON}")
    return options


def _run(wanted: dict[Column, set[str]], executor: executors.Local) -> dict[Column, Result]:
    tasks = [(Job({id: catalog.load(id) for id in sorted(ids)}), column)
             for column, ids in sorted(wanted.items(), key=lambda pair: pair[0].order)]
    results: dict[Column, Result] = {}
    for column, result in executor.run(tasks, lambda line: None):
        if isinstance(result, Exception):
            raise result
        results[column] = result
        print(f"[{len(results)}/{len(tasks)}] {column.key}: {len(wanted[column])} scenarios",
              file=sys.stderr, flush=True)
    return results


def _record(rows: Sequence[history.Declared], options: argparse.Namespace,
            results: dict[Column, Result], commit: str | None, environments: Path
            ) -> histories.History:
    """Write certificates, record and, for evidence in which all rows hold, the bundle."""
    for column, result in results.items():
        for scenario, error in result.errors.items():
            print(f"{scenario} on {column.key}: {error}", file=sys.stderr)
    made = history.build(rows, options.python, {
        (scenario, column): finding for column, result in results.items()
        for scenario, finding in result.findings().items()})
    members = {CERTIFICATES + name_of(column, scenario): data
               for column, result in results.items()
               for scenario, data in result.certificates.items()}
    members[evidence.RECORD] = histories.FORM.to_bytes(made)
    whole = None
    if commit is not None and not any(map(histories.broken, made.rows)):
        if evidence.clean_commit(ROOT) != commit:
            raise LabError("CHECKOUT_CHANGED", "another commit was checked out meanwhile")
        producers = [envelope.producer for result in results.values()
                     for envelope in result.envelopes().values()]
        where = evidence.conditions(producers, [environments / column.key for column in results])
        whole = evidence.describe(commit, where, LOCKS, [column.sdk for column in results],
                                  members)
    evidence.replace(options.out, members, whole)
    return made


def _tell(bug: histories.Bug) -> bool:
    """Print a row; whether it does not hold."""
    problem = histories.broken(bug)
    print(f"{'no ' if problem else 'yes'}  {bug.scenario}  {bug.check}:{bug.code}  "
          f"{bug.first_bad.sdk}..{bug.last_bad.sdk} -> {bug.first_fixed.sdk}  "
          f"{bug.bug or ''}  {problem}".rstrip())
    return bool(problem)


if __name__ == "__main__":
    sys.exit(main())
