"""Commands about matrices that exist: ``merge``, ``check-matrix``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, paint, table
from agentrunproof.errors import AgentRunProofError, RecordError

if TYPE_CHECKING:
    from agentrunproof.record.matrix import Matrix


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="PART...", help="Matrices of shards.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The whole.")],
) -> int:
    """Make one matrix of the shards of one, in whatever order they come."""
    from agentrunproof.record import layout, store
    from agentrunproof.record import matrix as records
    from agentrunproof.report import grid

    whole = layout.merge([read(part) for part in parts])
    store.write(out, records.to_bytes(whole))
    lines([grid.summary(whole), f"written: {out}"])
    return exits.OK


def check_matrix(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A matrix.")],
    folders: Annotated[list[Path] | None, typer.Option(
        "--certificates", metavar="DIR", help="Where its certificates are (repeatable); by "
        "default in columns/ beside it.")] = None,
    extra: Annotated[bool, typer.Option(
        "--allow-extra", help="Let certificates of no cell be there as well.")] = False,
    reproduced: Annotated[bool, typer.Option(
        "--reproduced", help="Refuse certificates of what this version has not observed itself.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Judge a matrix again from its certificates, without the SDK."""
    from agentrunproof.checker import matrix as checker
    from agentrunproof.record import store

    members = _members(folders or [file.parent / "columns"])
    judgement = checker.check(store.read(file), members, lambda name: store.read(members[name]),
                              extra=extra, reproduced=reproduced)
    if as_json:
        table({"file": str(file), "valid": judgement.valid, "code": judgement.code,
               "message": judgement.message, "hint": judgement.hint, "id": judgement.id,
               "notes": list(judgement.notes)})
    elif judgement.valid:
        lines([f"{paint()('VALID', 'VALID')} {judgement.id}",
               *(f"  note: {note}" for note in judgement.notes)])
    else:
        hint = f" ({judgement.hint})" if judgement.hint else ""
        lines([f"{paint()('INVALID', 'INVALID')} {judgement.code}: {judgement.message}{hint}"])
    return exits.OK if judgement.valid else exits.UNUSABLE


def read(path: Path) -> Matrix:
    """A matrix from its file; its form is checked, its truth is not.

    Raises:
        RecordError: with the file's name.
    """
    from agentrunproof import canonical
    from agentrunproof.record import matrix as records
    from agentrunproof.record import store

    data = store.read(path)
    try:
        return records.from_json(canonical.parse(data))
    except AgentRunProofError as error:
        raise RecordError(error.code, f"{path}: {error.message}", error.hint) from error


def _members(folders: list[Path]) -> dict[str, Path]:
    """The files of certificates, as ``<column>/<scenario>.json``.

    Raises:
        RecordError: a folder is not there, or two of them have one certificate.
    """
    from agentrunproof.lab.folder import STATE

    members: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise RecordError("CERTIFICATES_NOT_FOUND", f"{folder}: no such folder",
                              "name the folder with the certificates with --certificates")
        for path in sorted(folder.glob("**/*.json")):
            name = path.relative_to(folder).as_posix()
            if path.name == STATE and name.count("/") == 1:
                continue
            if name in members:
                raise RecordError("CERTIFICATE_TWICE", f"{name} is in {folder} and elsewhere too")
            members[name] = path
    return members
