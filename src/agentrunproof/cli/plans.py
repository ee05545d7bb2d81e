"""From what a user names on the command line to plans."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agentrunproof.errors import PlanError
from agentrunproof.plan import catalog
from agentrunproof.plan.model import Plan


@dataclass(frozen=True)
class Named:
    """A plan as the user named it: by id, or by its file."""

    name: str
    id: str
    plan: Plan
    folder: Path | None = None


def resolve(name: str) -> Named:
    """The plan of a packaged scenario's id, or of a plan file.

    Raises:
        PlanError: there is no such scenario or file, or the file holds no plan.
    """
    if not is_file(name):
        return Named(name, name, catalog.load(name))
    from agentrunproof.plan import loader

    path = Path(name)
    id, plan = loader.load_file(path)
    return Named(name, id, plan, path.absolute().parent)


def resolve_all(names: Iterable[str]) -> list[Named]:
    """The named plans in order, each named once.

    Raises:
        PlanError: as `resolve`, or two of them have one id.
    """
    found: dict[str, Named] = {}
    for name in dict.fromkeys(names):
        named = resolve(name)
        if named.id in found:
            raise PlanError("PLAN_TWICE", f"{found[named.id].name} and {name} have one id, "
                            f"{named.id}", "probe them one by one")
        found[named.id] = named
    return list(found.values())


def import_folders(chosen: Iterable[Named]) -> list[str]:
    """Where a plan file's ``python:`` references are looked for: beside it, and right here."""
    folders = [one.folder for one in chosen if one.folder is not None]
    return [str(folder) for folder in dict.fromkeys([*folders, Path.cwd()])]


def is_file(name: str) -> bool:
    """Whether an argument names a file rather than a packaged scenario."""
    if name in catalog.summaries():
        return False
    return name.endswith((".toml", ".json")) or os.sep in name or "/" in name \
        or os.path.exists(name)


def complete(incomplete: str) -> list[str]:
    """Ids that start with what was typed, for shell completion."""
    return [id for id in catalog.ids() if id.startswith(incomplete)]
