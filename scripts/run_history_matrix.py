"""Run the rows of ``history/`` on the releases around their boundaries.

    python scripts/run_history_matrix.py [--rows WORD] [--python 3.12]

A row holds when its check fails with its code on `last_bad` and passes (or does not apply) on
`first_fixed`. Each release gets one isolated environment and one worker for all its scenarios.
Exit status 1 if a row does not hold. This is a rehearsal: it leaves no record behind.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from agentrunproof.errors import AgentRunProofError
from agentrunproof.lab.probe import Options, probe
from agentrunproof.plan import catalog
from agentrunproof.plan.loader import read_toml
from agentrunproof.record.matrix import version_order

FOLDER = Path(__file__).parent.parent / "history"

#: (scenario, release) -> codes of the checks that failed there, or None where it was not judged.
Codes = dict[tuple[str, str], dict[str, str] | None]


def rows(word: str) -> list[dict[str, Any]]:
    """The rows whose scenario or upstream link has `word` in it."""
    found = [row for file in sorted(FOLDER.glob("*.toml")) for row in read_toml(file)["rows"]]
    return [row for row in found if word in row["scenario"] + row["upstream"]]


def run(release: str, scenarios: set[str], python: str) -> Codes:
    """Codes of the failing checks of these scenarios on one release."""
    plans = {id: catalog.load(id) for id in sorted(scenarios)}
    found: Codes = {(id, release): None for id in plans}
    for outcome in probe(plans, Options(sdk=release, python=python)):
        if outcome.certificate is not None and not outcome.certificate.observation.missing:
            found[outcome.scenario, release] = {
                result.check: result.code for result in outcome.certificate.checks
                if result.verdict == "FAIL"}
    return found


def holds(row: dict[str, Any], codes: Codes) -> str:
    """Nothing if the row holds, else what was seen instead."""
    bad = codes[row["scenario"], row["last_bad"]]
    good = codes[row["scenario"], row["first_fixed"]]
    if bad is None or bad.get(row["check"]) != row["code"]:
        return f"{row['last_bad']} gives {bad}"
    if good is None or row["check"] in good:
        return f"{row['first_fixed']} gives {good}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="", metavar="WORD")
    parser.add_argument("--python", default="3.12")
    options = parser.parse_args()
    chosen = rows(options.rows)
    wanted: dict[str, set[str]] = defaultdict(set)
    for row in chosen:
        for release in (row["last_bad"], row["first_fixed"]):
            wanted[release].add(row["scenario"])
    codes: Codes = {}
    started = time.monotonic()
    for release in sorted(wanted, key=version_order):
        try:
            codes |= run(release, wanted[release], options.python)
        except AgentRunProofError as error:
            print(f"{release}: {error}", file=sys.stderr)
            codes |= {(id, release): None for id in wanted[release]}
        print(f"{release}: {len(wanted[release])} scenarios", file=sys.stderr, flush=True)
    broken = 0
    for row in chosen:
        seen = holds(row, codes)
        broken += bool(seen)
        print(f"{'no ' if seen else 'yes'}  {row['scenario']}  {row['check']}:{row['code']}  "
              f"{row['last_bad']} -> {row['first_fixed']}  {seen}")
    universal = sum(row["universal"] for row in chosen)
    print(f"{len(chosen) - broken} of {len(chosen)} rows hold ({universal} universal), on "
          f"{len(wanted)} releases in {time.monotonic() - started:.0f} s")
    return 1 if broken or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
