"""Known failures of the newest release: a folder with their rows, plans, certificates and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from agentrunproof import canonical, shape
from agentrunproof.errors import PlanError, ShapeError
from agentrunproof.lab import releases
from agentrunproof.plan.loader import load_file, read_toml
from agentrunproof.plan.model import Plan
from agentrunproof.record.open_failures import Declared, Measured, Open

FILE = "open.toml"
STABILITY = "stability.json"


def load(folder: Path) -> Declared:
    """The rows of a folder.

    Raises:
        PlanError: ``OPEN_ROWS`` for a file that is not of that form, ``OPEN_RELEASE`` for a
            release that does not exist, or ``OPEN_BASELESS`` for a row that contradicts nothing.
    """
    path = folder / FILE
    try:
        declared: Declared = shape.decode(Declared, read_toml(path))
    except ShapeError as error:
        raise PlanError("OPEN_ROWS", f"{path}: {error.message}", error.hint) from error
    for row in declared.rows:
        unknown = {row.since, row.passes or row.since} - releases.known().keys()
        if unknown:
            raise PlanError("OPEN_RELEASE", f"{path}: {row.id}: there is no release "
                            f"{min(unknown)}")
        if not row.is_founded:
            raise PlanError("OPEN_BASELESS", f"{path}: {row.id}: contradicts nothing",
                            "quote a promise with its url, or name a relation; or set it aside")
    return declared


def measured(folder: Path) -> Measured:
    """What came of running the rows of a folder."""
    found: Measured = shape.decode(
        Measured, canonical.parse((folder / STABILITY).read_bytes()), STABILITY)
    return found


def plans(folder: Path, rows: Iterable[Open]) -> Mapping[str, Plan]:
    """The plans of rows, by id."""
    return dict(load_file(folder / "plans" / f"{row.id}.toml") for row in rows)


def reproducer(folder: Path, row: Open) -> Path:
    """The standalone test of a row."""
    return folder / "reproducers" / f"test_{row.id.replace('-', '_')}.py"


def certificate(folder: Path, row: Open) -> Path:
    """The certificate of a row."""
    return folder / "certificates" / f"{row.id}.json"
