"""Commands about published evidence: ``check-history-matrix``, ``check-bundle``, ``check-sums``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentrunproof.cli import matrices
from agentrunproof.errors import RecordError


def check_history_matrix(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A history matrix.")],
    folder: Annotated[Path | None, typer.Option(
        "--certificates", metavar="DIR", help="Where its certificates are; by default in "
        "certificates/ beside it.")] = None,
    reproduced: Annotated[bool, typer.Option(
        "--reproduced", help="Refuse certificates of what this version has not observed itself.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Judge a history matrix again from its certificates: does each row show its bug?"""
    from agentrunproof.checker import history as checker
    from agentrunproof.checker.bundle import CERTIFICATES
    from agentrunproof.lab import evidence
    from agentrunproof.record import store

    data = store.read(file)
    place = _folder(folder or file.parent / CERTIFICATES, "name it with --certificates")
    members = {name: place / name for name in evidence.files_in(place)}
    with matrices.jury_of(members, reproduced=reproduced) as jury:
        judgement = checker.check(data, members, lambda name: store.read(members[name]),
                                  reproduced=reproduced, assess=jury)
    return matrices.tell(file, judgement, as_json)


def check_bundle(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with a bundle.json.")],
    locks: Annotated[Path | None, typer.Option(
        "--locks", metavar="DIR", help="The locks its environments were made of.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Judge a bundle of evidence: every file of it, what they show, and how they were made."""
    from agentrunproof.checker import bundle as checker
    from agentrunproof.lab import evidence
    from agentrunproof.lab.locks import file_name
    from agentrunproof.record import store

    names = evidence.files_in(_folder(folder))
    certificates = {name.removeprefix(checker.CERTIFICATES): folder / name for name in names
                    if name.startswith(checker.CERTIFICATES)}
    with matrices.jury_of(certificates) as jury:
        judgement = checker.check(
            names, lambda name: store.read(folder / name),
            (lambda sdk: store.read(locks / file_name(sdk))) if locks is not None else None, jury)
    return matrices.tell(folder, judgement, as_json)


def check_sums(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A list such as SHA256SUMS.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Hold SHA256SUMS against the folders beside it, of which it must name every file."""
    from agentrunproof import canonical
    from agentrunproof.attest import sums
    from agentrunproof.checker.judgement import Judgement, refused
    from agentrunproof.lab import evidence
    from agentrunproof.record import store

    data = store.read(file)
    for folder in sums.COVERED:
        _folder(file.parent / folder)
    try:
        named = sums.check(data.decode("utf-8", "replace"), sums.COVERED,
                           evidence.covered(file.parent),
                           lambda name: evidence.checksum(file.parent / name))
        judgement = Judgement(valid=True, code="OK", id=canonical.digest_bytes(data),
                              notes=(f"{named} files in {', '.join(sums.COVERED)}",))
    except RecordError as problem:
        judgement = refused(problem)
    return matrices.tell(file, judgement, as_json)


def _folder(path: Path, hint: str = "check the path") -> Path:
    if not path.is_dir():
        raise RecordError("FOLDER_NOT_FOUND", f"{path}: no such folder", hint)
    return path
