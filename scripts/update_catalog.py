"""Write ``scenarios/index.json`` from the plan files.

Usage: ``python scripts/update_catalog.py [--check]``. With ``--check`` nothing is written and
the exit code is 1 when the index is stale. Digests of earlier revisions are kept, so that a
certificate of an old revision can still be recognised.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentrunproof import canonical
from agentrunproof.errors import PlanError
from agentrunproof.plan.loader import load_file

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"


def build(folder: Path, old: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """The index of the plan files in `folder`, keeping the digests of revisions in `old`."""
    index: dict[str, dict[str, object]] = {}
    for path in sorted(folder.glob("*/*.toml")):
        id, plan = load_file(path)
        if plan.area != path.parent.name:
            raise PlanError("CATALOG_AREA", f"{path}: area {plan.area!r} in folder "
                                            f"{path.parent.name!r}", "make them the same")
        if id in index:
            raise PlanError("CATALOG_DUPLICATE", f"{path}: a second plan with the id {id}")
        digests = old.get(id, {}).get("digests", {})
        assert isinstance(digests, dict)
        digests = {**digests, str(plan.revision): canonical.digest(plan.to_json())}
        index[id] = {"area": plan.area, "title": plan.title, "revision": plan.revision,
                     "digests": dict(sorted(digests.items(), key=lambda pair: int(pair[0])))}
    return index


def main(arguments: list[str]) -> int:
    path = SCENARIOS / "index.json"
    before = path.read_text(encoding="utf-8") if path.exists() else "{}"
    try:
        index = build(SCENARIOS, json.loads(before))
    except PlanError as error:
        print(error, file=sys.stderr)
        return 2
    after = json.dumps(index, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if arguments == ["--check"]:
        if after != before:
            print("scenarios/index.json is stale: run scripts/update_catalog.py", file=sys.stderr)
        return int(after != before)
    path.write_text(after, encoding="utf-8")
    print(f"{len(index)} scenarios")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
