"""Attack the checker with forged certificates and count what it lets through.

    python scripts/attack_checker.py FOLDER [--fields N] [--forgeries N] [--seed N] [--json]

FOLDER holds authentic certificates (``agentrunproof probe --all --out FOLDER``). Two attacks:

* *fields*: at every JSON path of every certificate, single-field mutations (delete, null, other
  type, edited, empty and prolonged strings, numbers one off, list items dropped, repeated and
  swapped, added keys), plan digest and id computed anew;
* *forgeries*: the coordinated kinds of ``scripts/forgeries.py``.

An accepted forgery counts as accepted whatever its verdict; how many of the accepted say PASS, how
many say the same of every check as the authentic record did, and how many pass
``check-certificate``, which holds known observations against them, is counted besides. Exit status
0 when at least 99.9% of the fields and 99% of the forgeries are rejected by the latter.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentrunproof import canonical
from agentrunproof.checker import check
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import certificate
from agentrunproof.record.document import id_of

sys.path.insert(0, str(Path(__file__).parent))
import forgeries  # noqa: F401  # registers the kinds
import forging

Path_ = tuple[Any, ...]


def main() -> int:
    options = _options()
    files = sorted(options.folder.glob("**/*.json"))
    authentic = [data for data in (file.read_bytes() for file in files)
                 if check(data).valid]
    print(f"{len(authentic)} of {len(files)} certificates are valid", file=sys.stderr)
    chance = random.Random(options.seed)
    report = {"certificates": len(authentic),
              "fields": _attack(_fields(authentic, options.fields, chance)),
              "forgeries": _attack(_forgeries(authentic, options.forgeries, chance))}
    print(json.dumps(report, indent=1) if options.json else _text(report))
    enough = (report["fields"]["rate_reproduced"] >= 99.9
              and report["forgeries"]["rate_reproduced"] >= 99.0)
    return 0 if enough else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fields", type=int, default=30_000, help="at most so many mutations")
    parser.add_argument("--forgeries", type=int, default=8_000, help="at most so many forgeries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _attack(attempts: Iterator[tuple[str, str, bytes, bool]]) -> dict[str, Any]:
    """Check each attempt (kind, place, bytes, whether it keeps the checks) and count by kind."""
    made: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    reproduced = passing = kept = 0
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    survivors: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, place, data, keeps_checks in attempts:
        made[kind] += 1
        judgement = check(data)
        if judgement.valid:
            accepted[kind] += 1
            survivors[kind][place] += 1
            passing += judgement.verdict == "PASS"
            kept += keeps_checks
            reproduced += check(data, reproduced=None).valid
        else:
            reasons[kind][judgement.code] += 1
    total, through = sum(made.values()), sum(accepted.values())
    return {"made": total, "accepted": through, "accepted_as_pass": passing,
            "accepted_with_checks_kept": kept, "rate_checks_kept": _rate(kept, total),
            "accepted_reproduced": reproduced, "rate": _rate(through, total),
            "rate_reproduced": _rate(reproduced, total),
            "kinds": {kind: {"made": made[kind], "accepted": accepted[kind],
                             "codes": dict(reasons[kind].most_common(4)),
                             "survivors": dict(survivors[kind].most_common(12))}
                      for kind in made}}


def _rate(accepted: int, made: int) -> float:
    """Percentage rejected."""
    return round(100 * (1 - accepted / made), 3)


def _forgeries(authentic: list[bytes], limit: int, chance: random.Random
               ) -> Iterator[tuple[str, str, bytes, bool]]:
    """At most `limit` forgeries, spread over kinds and certificates."""
    known = set(authentic)
    certificates = [certificate.from_json(canonical.parse(data)) for data in authentic]
    share = -(-limit // len(forging.KINDS))
    for kind in forging.KINDS:
        chance.shuffle(certificates)
        rounds = [(made, forging.forge(made, kind)) for made in certificates]
        left = share
        while rounds and left:
            made, forged = rounds.pop(0)
            one = next(forged, None)
            if one is None:
                continue
            rounds.append((made, forged))
            try:
                written = certificate.to_bytes(one)
            except AgentRunProofError:
                continue
            if written not in known:
                known.add(written)
                left -= 1
                yield (kind, f"{made.scenario} on {made.producer.sdk.version}", written,
                       one.checks == made.checks)


def _fields(authentic: list[bytes], limit: int, chance: random.Random
            ) -> Iterator[tuple[str, str, bytes, bool]]:
    places = [(n, path) for n, data in enumerate(authentic)
              for path in _paths(canonical.parse(data))]
    chance.shuffle(places)
    made = 0
    for n, path in places:
        value = canonical.parse(authentic[n])
        for kind, mutant in _mutants(value, path):
            if made == limit:
                return
            try:
                data = canonical.dumps(_resealed(mutant)) + b"\n"
            except AgentRunProofError:
                continue
            if data != authentic[n]:  # a mutated digest is made right again by sealing
                made += 1
                yield kind, _pattern(path), data, True


def _paths(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    pairs = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, list) else ())
    for key, item in pairs:
        yield from _paths(item, (*path, key))


def _mutants(value: Any, path: Path_) -> Iterator[tuple[str, Any]]:
    """Each mutation of the value at `path`, as (kind, whole record)."""
    old = _at(value, path)
    for kind, new in _changes(old):
        if path and not canonical.same(new, old):
            yield kind, _with(value, path, new)
    if path:
        yield "deleted", _without(value, path)
    if isinstance(_at(value, path[:-1]) if path else None, list):
        for kind in ("repeated", "swapped"):
            changed = copy.deepcopy(value)
            holder, at = _at(changed, path[:-1]), path[-1]
            if kind == "repeated":
                holder.insert(at, copy.deepcopy(holder[at]))
            elif at + 1 < len(holder) and not canonical.same(holder[at], holder[at + 1]):
                holder[at], holder[at + 1] = holder[at + 1], holder[at]
            else:
                continue
            yield kind, changed


def _changes(old: Any) -> Iterator[tuple[str, Any]]:
    yield "null", None
    yield "other type", [old] if not isinstance(old, list) else "list"
    if isinstance(old, bool):
        yield "turned", not old
    elif isinstance(old, int):
        yield "one more", old + 1
        yield "one less", old - 1
        yield "other type", str(old)
    elif isinstance(old, str):
        yield "edited", old + "x"
        yield "edited", ("y" if old[:1] != "y" else "z") + old[1:]
        yield "emptied", ""
        yield "line feed", old + "\n"
        yield "other type", 1
    elif isinstance(old, list):
        yield "emptied", []
        yield "appended", [*old, 0]
        yield "appended", [*old, {}]
        yield "appended", [*old, "x"]
    elif isinstance(old, dict):
        yield "emptied", {}
        yield "added key", old | {"extra": "x"}
        yield "added key", old | {"name": "x"}


def _at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: Path_, new: Any) -> Any:
    changed = copy.deepcopy(value)
    _at(changed, path[:-1])[path[-1]] = new
    return changed


def _without(value: Any, path: Path_) -> Any:
    changed = copy.deepcopy(value)
    del _at(changed, path[:-1])[path[-1]]
    return changed


def _resealed(value: Any) -> Any:
    """The record with plan digest and id computed anew, where there is still a place for them."""
    if not isinstance(value, dict):
        return value
    subject = value.get("subject")
    if isinstance(subject, dict) and "plan" in subject and "plan" in value:
        value["subject"] = subject | {"plan": canonical.digest(value["plan"])}
    return value | {"id": id_of(value)}


def _pattern(path: Path_) -> str:
    return "".join("[]" if isinstance(key, int) else f".{key}" for key in path)


def _text(report: dict[str, Any]) -> str:
    lines = [f"{report['certificates']} authentic certificates"]
    for name in ("fields", "forgeries"):
        attack = report[name]
        lines.append(f"\n{name}: {attack['made']} made, {attack['accepted']} accepted, "
                     f"{attack['rate']}% rejected; {attack['accepted_as_pass']} of the accepted "
                     f"say PASS, {attack['accepted_with_checks_kept']} have all checks as they "
                     f"were; with known observations {attack['accepted_reproduced']} accepted, "
                     f"{attack['rate_reproduced']}% rejected")
        for kind, row in attack["kinds"].items():
            codes = ", ".join(f"{code} {count}" for code, count in row["codes"].items())
            lines.append(f"  {kind:32} {row['made']:6} made {row['accepted']:5} accepted   {codes}")
            lines += [f"      {count:4} at {place}" for place, count in row["survivors"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
