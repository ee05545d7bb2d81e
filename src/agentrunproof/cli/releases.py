"""``releases``: what is known of the SDK's releases, and what is here."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentrunproof import machine
from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, table


def releases(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """List the SDK releases: known, installed, with environments in the cache, certified."""
    from agentrunproof.lab import environments
    from agentrunproof.lab import releases as lab
    from agentrunproof.record import sdk_releases

    cached = environments.cached()
    here = environments.installed()
    rows: list[dict[str, Any]] = [
        {"version": release.version, "uploaded": release.uploaded,
         "requires_python": release.requires_python,
         "label": "certified" if release.version in sdk_releases.known() else "untested",
         "installed": release.version == here, "cached": sorted(cached.get(release.version, ()))}
        for release in lab.known().values()]
    if as_json:
        table(rows)
        return exits.OK
    lines(_line(row) for row in rows)
    lines(["", f"{len(rows)} releases, {sum(row['label'] == 'certified' for row in rows)} "
           f"certified, {sum(bool(row['cached']) for row in rows)} with environments in "
           f"{machine.cache_folder()}"])
    return exits.OK


def _line(row: dict[str, Any]) -> str:
    here = ["installed"] * row["installed"] + [f"Python {one}" for one in row["cached"]]
    return f"{row['version']:<8} {row['uploaded'][:10]}  {row['label']:<9}  " \
           f"{', '.join(here)}".rstrip()
