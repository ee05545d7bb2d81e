"""Run the violations of ``evidence/open/`` on the newest release, and write what comes of it.

    python scripts/run_open.py [--rows WORD ...] [--runs 20]
    python scripts/run_open.py --page     # after a change of words in open.toml
    python scripts/update_sums.py

Every plan is run so many times, each time in new processes, and so is its reproducer. Written are
the certificates, ``stability.json`` and ``docs/open.md``. With ``--rows`` nothing is written.

Exit status 1 if a row of kind ``bug`` does not fail in every run with the same certificate and the
assertion of its reproducer, if one of kind ``race`` never fails, or if the reproducer fails on the
release of which the row says that it passes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentrunproof import canonical, shape
from agentrunproof.lab import environments, open_failures, probe
from agentrunproof.plan.model import Plan
from agentrunproof.record import certificate as records
from agentrunproof.record import store
from agentrunproof.record.open_failures import Declared, Measured, Open, Stability
from agentrunproof.report.open_failures import page

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "evidence" / "open"
PAGE = ROOT / "docs" / "open.md"
RUNS = 20
PATIENCE = 300.0

#: Runs the test of a file so many times and prints how often it ended with its assertion.
_REPEAT = """
import runpy, sys
(test,) = [value for name, value in runpy.run_path(sys.argv[1]).items()
           if name.startswith("test_")]
failed = 0
for _ in range(int(sys.argv[2])):
    try:
        test()
    except AssertionError:
        failed += 1
print(failed)
"""


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    started = time.monotonic()
    declared = open_failures.load(FOLDER)
    if options.page:
        _write_page(declared, open_failures.measured(FOLDER))
        return 0
    rows = [row for row in declared.rows if not options.rows
            or any(word in row.id for word in options.rows)]
    seen, found = _probed(declared, rows, options.runs)
    broken = [_tell(row, seen[row.id], options.runs) for row in rows]
    print(f"{broken.count(False)} of {len(rows)} rows hold, in {options.runs} runs each, in "
          f"{time.monotonic() - started:.0f} s")
    if not options.rows:
        _write(declared, rows, found, Measured(
            sdk=declared.sdk, python=declared.python, runs=options.runs, rows=seen))
    return 1 if any(broken) else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", nargs="+", default=[], metavar="WORD", help="rows with one of "
                        "these in their id; nothing is written then")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page again")
    return parser.parse_args(words)


def _probed(declared: Declared, rows: Sequence[Open], runs: int
            ) -> tuple[dict[str, Stability], dict[str, bytes]]:
    """How stable each row is, and a certificate that shows it."""
    environment = environments.isolated(declared.sdk, declared.python)
    plans = open_failures.plans(FOLDER, rows)
    certificates: dict[str, Counter[bytes]] = {row.id: Counter() for row in rows}
    for n in range(runs):
        for row, data in _one_run(environment, plans, rows):
            certificates[row.id][data] += 1
        print(f"[{n + 1}/{runs}] plans", file=sys.stderr, flush=True)
    seen = {}
    for n, row in enumerate(rows):
        made = certificates[row.id]
        seen[row.id] = Stability(
            failed=made.total(), certificates=len(made),
            reproduced=_reproduced(environment.python, row, runs))
        print(f"[{n + 1}/{len(rows)}] reproducers", file=sys.stderr, flush=True)
    return seen, {id: min(made) for id, made in certificates.items() if made}


def _one_run(environment: environments.Environment, plans: Mapping[str, Plan],
             rows: Sequence[Open]) -> Iterator[tuple[Open, bytes]]:
    """Rows that fail as declared, with their certificates."""
    by_id = {row.id: row for row in rows}
    for outcome in probe.probe_in(environment, plans, probe.Options()):
        row, made = by_id[outcome.scenario], outcome.certificate
        if made is not None and row.holds(made):
            yield row, canonical.dumps(records.to_json(made))


def _reproduced(python: Path, row: Open, runs: int) -> int:
    """In how many runs the reproducer ends with its assertion; none if it ends otherwise."""
    path = open_failures.reproducer(FOLDER, row)
    done = subprocess.run([str(python), "-I", "-X", "utf8", "-c", _REPEAT, str(path), str(runs)],
                          capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL)
    said = done.stdout.split()
    if done.returncode or not said:
        print(f"{path.name}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return 0
    return int(said[-1])


def _tell(row: Open, seen: Stability, runs: int) -> bool:
    """Print a row; whether it does not hold."""
    good = row.passes is None or _passes(row)
    whole = seen == Stability(failed=runs, certificates=1, reproduced=runs)
    holds = good and (whole if row.kind == "bug" else bool(seen.failed and seen.reproduced))
    print(f"{'yes' if holds else 'no '}  {row.id}  {row.check}:{row.code}  failed {seen.failed}, "
          f"certificates {seen.certificates}, reproduced {seen.reproduced}"
          f"{'' if good else f', its reproducer does not pass on {row.passes}'}")
    return not holds


def _passes(row: Open) -> bool:
    """Whether the reproducer passes on the release of which the row says so."""
    assert row.passes is not None
    python = environments.isolated(row.passes, "3.12").python
    done = subprocess.run([str(python), "-I", "-X", "utf8",
                           str(open_failures.reproducer(FOLDER, row))],
                          capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    return done.returncode == 0


def _write(declared: Declared, rows: Sequence[Open], found: Mapping[str, bytes],
           measured: Measured) -> None:
    (FOLDER / "certificates").mkdir(exist_ok=True)
    for path in (FOLDER / "certificates").iterdir():
        path.unlink()
    for row in rows:
        if row.id in found:
            store.write(open_failures.certificate(FOLDER, row), found[row.id])
    store.write(FOLDER / open_failures.STABILITY, canonical.dumps(shape.encode(measured)))
    _write_page(declared, measured)


def _write_page(declared: Declared, measured: Measured) -> None:
    plans = open_failures.plans(FOLDER, declared.rows)
    PAGE.write_text(page(declared, plans, measured), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
