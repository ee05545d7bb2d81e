"""Commands about matrices that exist: ``merge``, ``check-matrix``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import exits
from agentrunproof.cli.output import Progress, lines, paint, table
from agentrunproof.cli.verdicts import Verdicts
from agentrunproof.errors import AgentRunProofError, RecordError

if TYPE_CHECKING:
    from agentrunproof.checker.judgement import Judgement
    from agentrunproof.lab.jury import Jury
    from agentrunproof.record.matrix import Matrix


class Form(str, Enum):
    """How a merged matrix is shown."""

    text = "text"
    markdown = "markdown"


def merge(
    parts: Annotated[list[Path], typer.Argument(metavar="PART...", help="Matrices of shards.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The whole.")],
    shown: Annotated[Form, typer.Option("--format", help="What is printed.")] = Form.text,
    against: Annotated[Path | None, typer.Option(
        metavar="OLD.json", help="Show what changed since that matrix.")] = None,
    known: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Failures of yours that are known, beside the packaged ones.")] = None,
) -> int:
    """Make one matrix of the shards of one, in whatever order they come."""
    from agentrunproof.record import layout, store
    from agentrunproof.record import matrix as records

    old = read(against) if against is not None else None
    verdicts = Verdicts.knowing(known)
    whole = layout.merge([read(part) for part in parts])
    store.write(out, records.to_bytes(whole))
    verdicts.tell_stale(whole)
    verdicts.show(whole, old, markdown=shown is Form.markdown)
    lines([f"record: {out}"] if shown is Form.text else [])
    return verdicts.exit(whole)


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

    beside = file.parent / "columns"  # not there if nothing but commands was run
    members = members_in(folders or ([beside] if beside.is_dir() else []))
    with jury_of(members, reproduced=reproduced) as jury:
        judgement = checker.check(store.read(file), members,
                                  lambda name: store.read(members[name]), extra=extra,
                                  reproduced=reproduced, assess=jury)
    return tell(file, judgement, as_json)


def tell(path: Path, judgement: Judgement, as_json: bool) -> int:
    """Print what the checker says of a record of many certificates; the exit code."""
    if as_json:
        table({"file": str(path), "valid": judgement.valid, "code": judgement.code,
               "message": judgement.message, "hint": judgement.hint, "id": judgement.id,
               "notes": list(judgement.notes)})
    elif judgement.valid:
        lines([f"{paint()('VALID', 'VALID')} {judgement.id}",
               *(f"  note: {note}" for note in judgement.notes)])
    else:
        hint = f" ({judgement.hint})" if judgement.hint else ""
        lines([f"{paint()('INVALID', 'INVALID')} {judgement.code}: {judgement.message}{hint}"])
    return exits.OK if judgement.valid else exits.UNUSABLE


@contextmanager
def jury_of(members: dict[str, Path], *, reproduced: bool = False) -> Iterator[Jury]:
    """Checks certificates on several cores and says how far it is."""
    from agentrunproof.lab.jury import Jury

    progress = Progress()
    try:
        yield Jury(members, reproduced=reproduced,
                   tick=lambda done, total: progress.step("certificates", f"{done} of {total}"))
    finally:
        progress.clear()


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


def members_in(folders: list[Path]) -> dict[str, Path]:
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
