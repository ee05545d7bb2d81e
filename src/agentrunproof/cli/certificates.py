"""Commands about certificates: check them, compare two."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits
from agentrunproof.cli.output import lines, paint, table
from agentrunproof.errors import AgentRunProofError, RecordError

if TYPE_CHECKING:
    from agentrunproof.record.certificate import Certificate

STDIN = "-"


def check_certificate(
    files: Annotated[list[str], typer.Argument(
        metavar="FILE...", help="Certificates; - is standard input.")],
    integrity_only: Annotated[bool, typer.Option(
        "--integrity-only", help="Exit 0 for every valid certificate, whatever its verdict.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Judge certificates again from their bytes alone, without the SDK."""
    codes = []
    rows = []
    for file in files:
        row = _check(file, integrity_only)
        codes.append(row.pop("exit"))
        rows.append(row)
        if not as_json:
            lines([_line(row, prefix=f"{file}: " if len(files) > 1 else "")])
    if as_json:
        table(rows)
    return exits.worst(codes)


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
        AgentRunProofError: it is unreadable or invalid.
    """
    from agentrunproof import canonical
    from agentrunproof.checker import check
    from agentrunproof.record import certificate

    data = _read(file)
    check(data)
    return certificate.from_json(canonical.parse(data))


def _check(file: str, integrity_only: bool) -> dict[str, Any]:
    """The judgement of one file as a table; `exit` is the exit code it asks for."""
    from agentrunproof.checker import check

    try:
        judgement = check(_read(file), integrity_only=integrity_only)
    except AgentRunProofError as error:
        return {"file": file, "valid": False, "code": error.code, "message": error.message,
                "hint": error.hint, "exit": exits.UNUSABLE}
    code = exits.OK if integrity_only else exits.of_verdict(judgement.verdict)
    return {"file": file, "valid": True, "id": judgement.id, "scenario": judgement.scenario,
            "verdict": judgement.verdict, "exit": code}


def _read(file: str) -> bytes:
    from agentrunproof.canonical import MAX_BYTES
    from agentrunproof.record import store

    if file != STDIN:
        return store.read(Path(file))
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RecordError("RECORD_TOO_LARGE", f"standard input: more than {MAX_BYTES} bytes")
    return data


def _line(row: dict[str, Any], prefix: str) -> str:
    colour = paint()
    if row["valid"]:
        verdict = row["verdict"]
        return f"{prefix}{colour('VALID', 'VALID')} {row['id']} {colour(verdict, verdict)}"
    hint = f" ({row['hint']})" if row["hint"] else ""
    return f"{prefix}{colour('INVALID', 'INVALID')} {row['code']}: {row['message']}{hint}"
