"""Write the states that the probe ``paused`` reads: one for each version of their schema.

    python scripts/write_paused_states.py RELEASE ...

Each release, oldest first, pauses the run of the probe in an environment of its own; of releases
that write one version of the schema, the first is taken. What is there already is written anew.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from agentrunproof.lab import environments

PYTHON = "3.12"
PROBES = Path(__file__).parents[1] / "src" / "agentrunproof" / "suites" / "probes"
ASK = (f"import sys; sys.path.insert(0, {str(PROBES.parents[2])!r}); import asyncio;"
       "from agentrunproof.suites.probes import paused; print(asyncio.run(paused.written()))")


def main(releases: list[str]) -> None:
    lines: dict[str, str] = {}
    for release in releases:
        python = environments.isolated(release, PYTHON).python
        text = subprocess.run([python, "-I", "-c", ASK], check=True, capture_output=True).stdout
        state = json.loads(text)
        line = json.dumps({"release": release, "state": state}, separators=(",", ":"))
        lines.setdefault(state["$schemaVersion"], line)
    (PROBES / "paused_states.jsonl").write_text("".join(f"{x}\n" for x in lines.values()), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
