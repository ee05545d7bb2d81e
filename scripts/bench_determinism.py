"""Run every packaged scenario many times and compare the certificates byte by byte.

    python scripts/bench_determinism.py [--runs 20] [--python PATH ...] [SCENARIO ...]

Each run has another hash seed, another working folder, and, every other time, busy processes
beside it. With ``--python`` the scenarios are also run by other interpreters that have this
package; those certificates must be the same but for the recorded Python version.
Exit status 1 if any certificate differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BUSY = "while True: sum(range(10000))"


def certificates(python: str, scenarios: list[str], seed: int) -> dict[str, bytes]:
    """The certificate files of one run, by scenario."""
    environment = dict(os.environ, PYTHONHASHSEED=str(seed))
    with tempfile.TemporaryDirectory(prefix=f"run-{seed}-") as folder:
        load = [subprocess.Popen([python, "-c", BUSY]) for _ in range(2 * (seed % 2))]
        try:
            subprocess.run([python, "-m", "agentrunproof", "probe", *scenarios, "--out", "certs"],
                           cwd=folder, env=environment, check=False,
                           stdout=subprocess.DEVNULL)
        finally:
            for process in load:
                process.kill()
                process.wait()
        return {path.stem: path.read_bytes() for path in Path(folder, "certs").glob("*.json")}


def without_python(data: bytes) -> bytes:
    """The record without the Python version and the id that depends on it."""
    value = json.loads(data)
    del value["id"], value["producer"]["python"]
    return json.dumps(value, sort_keys=True).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", default=["--all"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--python", action="append", default=[])
    options = parser.parse_args()
    first = certificates(sys.executable, options.scenarios, 0)
    assert first, "no certificate was written"
    differing: set[str] = set()
    for seed in range(1, options.runs):
        found = certificates(sys.executable, options.scenarios, seed)
        differing |= {id for id in first.keys() | found.keys() if first.get(id) != found.get(id)}
        print(f"run {seed + 1} of {options.runs}: {len(found)} certificates, "
              f"{len(differing)} differ so far", flush=True)
    for python in options.python:
        found = certificates(python, options.scenarios, 7)
        other = {id for id in first.keys() | found.keys() if id not in first or id not in found
                 or without_python(first[id]) != without_python(found[id])}
        print(f"{python}: {len(found)} certificates, differing but for Python: {sorted(other)}")
        differing |= other
    digest = hashlib.sha256(b"".join(first[id] for id in sorted(first))).hexdigest()
    print(f"{len(first)} certificates, all runs together sha256:{digest}")
    print("differing:", ", ".join(sorted(differing)) or "none")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
