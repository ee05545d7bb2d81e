"""The changes of a request that a user asks for on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.record.fix import Change

AddSystemOption = Annotated[list[str] | None, typer.Option(
    "--add-system", metavar="TEXT", help="Add this to the system prompt (repeatable).")]
SystemFileOption = Annotated[list[Path] | None, typer.Option(
    "--system-file", metavar="FILE", help="Take this file's text for the system prompt "
    "(repeatable in fix).")]
ReplaceOption = Annotated[list[str] | None, typer.Option(
    "--replace", metavar="PIECE=TEXT", help="Put a text in a piece's place (repeatable); "
    "`why RUN --pieces` lists them.")]
DropOption = Annotated[list[str] | None, typer.Option(
    "--drop", metavar="PIECE", help="Leave a piece out (repeatable).")]


def each(added: list[str] | None, files: list[Path] | None, replaced: list[str] | None,
         dropped: list[str] | None) -> list[tuple[str, Change]]:
    """A change for each text and for each file, and one of all pieces, each with a name.

    Raises:
        RecordError: a file cannot be read.
    """
    from agentrunproof.record.fix import Change

    texts = added or []
    found = [(f"your text {n}" if len(texts) > 1 else "your text", Change(added=text))
             for n, text in enumerate(texts, 1)]
    found += [(f"your file {path.name}", Change(system=_read(path))) for path in files or ()]
    if replaced or dropped:
        found.append(("your edit", _edit(replaced, dropped)))
    return found


def together(added: list[str] | None, files: list[Path] | None, replaced: list[str] | None,
             dropped: list[str] | None) -> Change:
    """All of it as one change.

    Raises:
        RecordError: a file cannot be read.
    """
    from dataclasses import replace

    if len(files or ()) > 1:
        raise typer.BadParameter("--system-file: there is one system prompt; name one file")
    return replace(_edit(replaced, dropped), added="\n\n".join(added or ()),
                   system=_read(files[0]) if files else None)


def _edit(replaced: list[str] | None, dropped: list[str] | None) -> Change:
    from agentrunproof.record.fix import Change, Replacement

    pairs = [word.partition("=") for word in replaced or ()]
    for id, equals, _ in pairs:
        if not id or not equals:
            raise typer.BadParameter(f"--replace {id}: write PIECE=TEXT")
    return Change(removed=tuple(dropped or ()),
                  replaced=tuple(Replacement(id=id, text=text) for id, _, text in pairs))


def _read(path: Path) -> str:
    from agentrunproof.record import store

    try:
        return store.read(path).decode("utf-8").rstrip("\n")
    except UnicodeDecodeError as problem:
        raise RecordError("SYSTEM_FILE", f"--system-file {path}: not UTF-8: invalid byte at "
                          f"{problem.start}", "save it as UTF-8") from None
