"""Measure the command line as whole processes: CPU seconds (user + system), children included.

    python scripts/bench_figures.py [--runs 5] [--json]

Every figure is the median of several runs after one that is not counted. Ratios are taken run by
run against a bare ``import agents`` of the same interpreter, so a machine that changes its speed
meanwhile changes both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

TOOL = [sys.executable, "-m", "agentrunproof"]
BARE_IMPORT = [sys.executable, "-c", "import agents"]
BASIC = "basic-tool-session-parity"
JUNK_MB = 200


class Cost:
    """What one process cost: CPU and wall seconds, peak memory in MiB, exit status."""

    def __init__(self, command: Sequence[str]) -> None:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.wall = time.perf_counter() - started
        self.cpu = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss / 1024
        self.status = process.returncode


def median(command: Sequence[str], runs: int, expected: int = 0) -> dict[str, float]:
    """Median cost of a command that must end with the status `expected`."""
    costs = [Cost(command) for _ in range(runs + 1)][1:]
    assert all(cost.status == expected for cost in costs), (command, costs[0].status)
    return {"cpu_s": round(statistics.median(cost.cpu for cost in costs), 3),
            "wall_s": round(statistics.median(cost.wall for cost in costs), 3),
            "peak_mib": round(statistics.median(cost.peak for cost in costs), 1)}


def ratio(command: Sequence[str], runs: int) -> dict[str, float]:
    """Median CPU of a command over that of a bare import, pair by pair."""
    pairs = [(Cost(command), Cost(BARE_IMPORT)) for _ in range(runs + 1)][1:]
    assert all(a.status == 0 and b.status == 0 for a, b in pairs), command
    return {"cpu_s": round(statistics.median(a.cpu for a, _ in pairs), 3),
            "bare_import_cpu_s": round(statistics.median(b.cpu for _, b in pairs), 3),
            "ratio": round(statistics.median(a.cpu / b.cpu for a, b in pairs), 3)}


def figures(runs: int, folder: Path) -> dict[str, dict[str, float]]:
    certificate = folder / "basic.json"
    subprocess.run([*TOOL, "probe", BASIC, "--certificate", str(certificate)], check=True,
                   stdout=subprocess.DEVNULL)
    junk = folder / "junk.json"
    with junk.open("wb") as file:
        for _ in range(JUNK_MB):
            file.write(b"[" * 2**20)
    return {
        "check-certificate": median([*TOOL, "check-certificate", str(certificate)], runs),
        f"check-certificate, {JUNK_MB} MB of junk": median(
            [*TOOL, "check-certificate", str(junk)], runs, expected=2),
        "--help": median([*TOOL, "--help"], runs),
        "list-scenarios": median([*TOOL, "list-scenarios"], runs),
        f"probe {BASIC}": ratio([*TOOL, "probe", BASIC], runs),
        "probe --all": ratio([*TOOL, "probe", "--all"], runs),
        "certificate of the basic scenario": {"bytes": certificate.stat().st_size},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = figures(options.runs, Path(folder))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, values in found.items():
        print(f"{name:<42} " + "  ".join(f"{key} {value:g}" for key, value in values.items()))


if __name__ == "__main__":
    main()
