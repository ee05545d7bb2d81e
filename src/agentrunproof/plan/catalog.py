"""The packaged scenarios: plan files found by id, and an index of every revision's digest.

The index (``index.json`` beside the area folders, written by ``scripts/update_catalog.py``) lets
one list the scenarios without reading a plan, and lets the checker tell whether a plan that
claims a packaged id and revision is that plan.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from agentrunproof.errors import PlanError
from agentrunproof.plan.model import Plan, ScenarioId
from agentrunproof.shape import Digest, Name, Positive, decode, nearest

INDEX = "index.json"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What the index says of a scenario; `digests` has one for each revision, old ones too."""

    area: Name
    title: str
    revision: Positive
    digests: dict[str, Digest] = field(default_factory=dict)


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where the scenarios are: in the installed package, or at the top of a checkout.

    Raises:
        PlanError: neither is there; the installation is incomplete.
    """
    package = Path(__file__).resolve().parent.parent
    for place in (package / "scenarios", package.parent.parent / "scenarios"):
        if (place / INDEX).is_file():
            return place
    raise PlanError("CATALOG_MISSING", "the packaged scenarios are not installed",
                    "reinstall agentrunproof")


@lru_cache(maxsize=1)
def summaries() -> dict[str, Entry]:
    """The index: entries by scenario id, sorted by area and id."""
    path = folder() / INDEX
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise PlanError("CATALOG_BROKEN", f"{INDEX} of the packaged scenarios cannot be read",
                        "reinstall agentrunproof") from error
    entries: dict[str, Entry] = decode(dict[ScenarioId, Entry], value, INDEX)
    return dict(sorted(entries.items(), key=lambda pair: (pair[1].area, pair[0])))


def ids() -> tuple[str, ...]:
    """Ids of the packaged scenarios, sorted by area and id."""
    return tuple(summaries())


def path(id: str) -> Path:
    """The file of a packaged scenario.

    Raises:
        PlanError: no packaged scenario has this id; the hint names the nearest.
    """
    entry = summaries().get(id)
    if entry is None:
        raise PlanError("CATALOG_UNKNOWN", f"no packaged scenario has the id {id!r}",
                        nearest(id, ids()) or "list-scenarios shows them all")
    return folder() / entry.area / f"{id}.toml"


def load(id: str) -> Plan:
    """The plan of a packaged scenario.

    Raises:
        PlanError: the id is unknown, or the file is broken.
    """
    from agentrunproof.plan.loader import load_file  # listing needs no TOML parser

    return load_file(path(id))[1]


def known_digest(id: str, revision: int) -> str | None:
    """Digest of the plan packaged under this id and revision, if there is or was one."""
    entry = summaries().get(id)
    return entry.digests.get(str(revision)) if entry is not None else None


def id_of(digest: str) -> str | None:
    """The packaged scenario that has, in any revision, a plan of this digest."""
    return next((id for id, entry in summaries().items() if digest in entry.digests.values()),
                None)
