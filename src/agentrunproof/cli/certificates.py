"""Commands about certificates: check them, compare two."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, paint, table
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.record.certificate import Certificate

STDIN = "-"


def check_certificate(
    files: Annotated[list[str], typer.Argument(
        metavar="FILE...", help="Certificates, or records of why and fix; - is standard "
        "input.")],
    integrity_only: Annotated[bool, typer.Option(
        "--integrity-only", help="Exit 0 for every valid certificate, whatever its verdict.")
    ] = False,
    reproduced: Annotated[bool, typer.Option(
        "--reproduced", help="Refuse what this version has not observed itself: another plan than "
        "the packaged ones, another SDK than the certified ones.")] = False,
    any_observation: Annotated[bool, typer.Option(
        "--any-observation", help="Accept of a packaged scenario what this version has observed "
        "otherwise: the SDK ran over other libraries.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Judge certificates and records of why and fix again, from their bytes alone, without SDK."""
    if reproduced and any_observation:
        raise typer.BadParameter("--reproduced and --any-observation exclude each other")
    asked = True if reproduced else False if any_observation else None
    rows = [_check(file, asked) for file in files]
    if as_json:
        table(rows)
    for row in [] if as_json else rows:
        lines(_row_lines(row, f"{row['file']}: " if len(rows) > 1 else ""))
    return exits.worst(_exit_code(row, integrity_only) for row in rows)


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A certificate.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another of the same plan.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Show where two certificates of one plan part: the first event, and the checks."""
    from agentrunproof.report import difference

    found = difference.compare(load(a), load(b))
    if as_json:
        table(found.to_json())
    else:
        lines(difference.lines(found, a, b))
    return exits.VIOLATION if found else exits.OK


def load(file: str) -> Certificate:
    """Read a certificate that the checker finds authentic.

    Raises:
        RecordError: it is unreadable or invalid.
    """
    from agentrunproof import canonical
    from agentrunproof.checker import check
    from agentrunproof.record import certificate

    data = _read(file)
    judgement = check(data)
    if not judgement.valid:
        raise RecordError(judgement.code, f"{file}: {judgement.message}", judgement.hint)
    return certificate.from_json(canonical.parse(data))


def _check(file: str, reproduced: bool | None) -> dict[str, Any]:
    """The judgement of one file as a table."""
    from agentrunproof.checker import kinds
    from agentrunproof.checker.judgement import refused
    from agentrunproof.shape import encode

    try:
        judgement = kinds.check(_read(file), reproduced=reproduced)
    except RecordError as error:
        judgement = refused(error)
    table = {field: value for field, value in vars(judgement).items() if field != "checks"}
    return {"file": file, **encode(table), "checks": encode(judgement.checks)}


def _read(file: str) -> bytes:
    from agentrunproof.canonical import MAX_BYTES
    from agentrunproof.record import store

    if file != STDIN:
        return store.read(Path(file))
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RecordError("RECORD_TOO_LARGE", f"standard input: more than {MAX_BYTES} bytes")
    return data


def _exit_code(row: dict[str, Any], integrity_only: bool) -> int:
    if not row["valid"]:
        return exits.UNUSABLE
    return exits.OK if integrity_only else exits.of_verdict(row["verdict"])


def _row_lines(row: dict[str, Any], prefix: str) -> list[str]:
    colour = paint()
    if not row["valid"]:
        hint = f" ({row['hint']})" if row["hint"] else ""
        return [f"{prefix}{colour('INVALID', 'INVALID')} {row['code']}: {row['message']}{hint}"]
    verdict = colour(row["verdict"], row["verdict"])
    return [f"{prefix}{colour('VALID', 'VALID')} {row['id']} {verdict}",
            *(f"  note: {note}" for note in row["notes"])]
