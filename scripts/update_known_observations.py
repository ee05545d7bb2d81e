"""Write the digests of what packaged scenarios give on certified releases.

    python scripts/update_known_observations.py FOLDER ...

Each folder holds certificates of one or more releases, as ``agentrunproof probe --all --sdk
RELEASE --out FOLDER`` writes them. The table is made anew. Certificates that differ from each
other in the same cell are an error: a scenario gives the same observation every time, on every
Python.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.checker import known
from agentrunproof.plan import catalog
from agentrunproof.record import sdk_releases
from agentrunproof.record.certificate import read_envelope


def main(folders: list[str]) -> int:
    table: dict[str, dict[str, str]] = {}
    failed = 0
    for file in sorted(file for folder in folders for file in Path(folder).glob("**/*.json")):
        envelope = read_envelope(canonical.parse(file.read_bytes()))
        plan, sdk = envelope.subject.plan, envelope.producer.sdk
        if catalog.id_of(plan) is None or sdk_releases.known().get(sdk.version) != sdk.files:
            continue
        digest = known.observation_digest(envelope)
        if table.setdefault(plan, {}).setdefault(sdk.version, digest) != digest:
            print(f"{file}: another observation than elsewhere on {sdk.version}")
            failed = 1
    path = Path(known.__file__).parent / "known_observations.json"
    path.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")
    print(f"{sum(map(len, table.values()))} observations of {len(table)} plans")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
