# /// script
# requires-python = ">=3.10"
# dependencies = [
#   "agentrunproof", "openai-agents==0.24.0",
#   "aiosqlite", "cryptography", "fakeredis", "redis", "sqlalchemy[asyncio]",
#   "openai-agents-session==0.1.0", "openai-agents-context-compaction==0.3.0",
#   "citadeldb-openai-agents==2.7.0",
# ]
# [tool.uv.sources]
# agentrunproof = { path = "..", editable = true }
# ///
"""Runs the session suite on all of `session_backends`, in an environment of its own.

    uv run scripts/check_sessions.py [NAME]...

Prints a table of backends and what each fails, in Markdown. Exit 1 if one fails other than
declared there, or passes what is declared to fail.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter

import session_backends as backends

from agentrunproof.suites.session import Result, run


def main(names: list[str]) -> int:
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    logging.disable()  # sessions that are made to fail say so
    print("| backend | PASS | known to fail | UNTESTABLE |\n|---|---|---|---|")
    failed: dict[str, list[Result]] = {}
    for name in names or [*backends.OWN, *backends.OTHERS]:
        results = list(run(getattr(backends, name)))
        print(_row(name, results), flush=True)
        failed[name] = [result for result in results if result.fails]
    for name, results in failed.items():
        for result in results:
            print(f"{name}: {result.case.name}: {result.code}: {result.detail}", file=sys.stderr)
    return int(any(failed.values()))


def _row(name: str, results: list[Result]) -> str:
    counts = Counter(result.verdict for result in results)
    cells = (name.replace("_", " "), str(counts["PASS"]),
             *(", ".join(f"`{result.case.name}`" for result in results
                         if result.verdict == verdict and not result.fails)
               for verdict in ("FAIL", "UNTESTABLE")))
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
