"""Write the locks in ``requirements/``: one for each release that the history matrix needs.

    python scripts/update_requirements.py [RELEASE ...]

A lock names the wheels that the dependencies of the release's own days resolve to on Linux x86_64
and CPython 3.12, each by the SHA-256 of the one that was installed. Locks that are there stay,
unless their release is named.
"""

from __future__ import annotations

import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from run_history_matrix import LOCKS, PYTHON, ROWS

from agentrunproof.errors import AgentRunProofError
from agentrunproof.lab import environments, history, locks, releases
from agentrunproof.record import store


def main(named: list[str]) -> int:
    LOCKS.mkdir(exist_ok=True)
    needed = {column.sdk for column in history.needed(history.load(ROWS), PYTHON)}
    there = {path.stem for path in LOCKS.glob("*.txt")}
    for stale in sorted(there - needed):
        (LOCKS / locks.file_name(stale)).unlink()
        print(f"{stale}: no longer needed")
    wanted = sorted(set(named) or needed - there, key=releases.parse)
    with tempfile.TemporaryDirectory(prefix="agentrunproof-") as cache:
        os.environ["AGENTRUNPROOF_CACHE"] = cache  # what is cached may be of another day
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(_write, wanted))
    print(f"{sum(done)} locks written, {len(needed)} releases needed")
    return 0 if all(done) else 1


def _write(sdk: str) -> bool:
    try:
        lock = locks.of_environment(environments.isolated(sdk, PYTHON))
    except AgentRunProofError as error:
        print(f"{sdk}: {error}", file=sys.stderr)
        return False
    store.write(LOCKS / locks.file_name(sdk), lock.text().encode("ascii"))
    print(f"{sdk}: {len(lock.wheels)} wheels", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
