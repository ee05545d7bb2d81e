"""Write the table of SDK releases and the digests of their files.

    python scripts/update_sdk_releases.py ENVIRONMENT ...

Each argument is a virtual environment (or a ``site-packages`` folder) with openai-agents in it.
Releases that the table already holds stay; one that comes out otherwise than it stands there is
an error. The digest is the one that `agentrunproof.sdk.compat.sdk_files_digest` makes from the
files themselves, here made from the wheel's own RECORD.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "src/agentrunproof/record/sdk_releases.json"


def main(places: list[str]) -> int:
    known: dict[str, str] = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    for place in places:
        records = list(Path(place).glob("**/openai_agents-*.dist-info/RECORD"))
        if len(records) != 1:
            print(f"{place}: {len(records)} installed releases found, expected one")
            return 2
        version = records[0].parent.name.removeprefix("openai_agents-").removesuffix(".dist-info")
        digest = files_digest(records[0].read_text())
        if known.setdefault(version, digest) != digest:
            print(f"{place}: the files of {version} are not those of the table")
            return 1
    ordered = dict(sorted(known.items(), key=lambda pair: [int(n) for n in pair[0].split(".")]))
    TABLE.write_text(json.dumps(ordered, indent=1) + "\n")
    print(f"{len(ordered)} releases in {TABLE.name}")
    return 0


def files_digest(record: str) -> str:
    """SHA-256 over the sorted RECORD lines of the package's Python files."""
    lines = sorted(line for line in record.splitlines()
                   if line.startswith("agents/") and ".py,sha256=" in line)
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
