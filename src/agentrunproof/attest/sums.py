"""``SHA256SUMS``: one line for each file, in the form that ``sha256sum -c`` reads.

That tool looks at the lines and at nothing else: files that no line names, lines that stand twice
and names that lead elsewhere pass. Here a list covers folders as a whole: every file in them has
exactly one line, in order, and each line names a file in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from agentrunproof.errors import RecordError

#: The folders that the project's own list covers, beside the list itself.
COVERED = ("evidence", "history", "requirements", "scenarios")

_LINE = re.compile(r"([0-9a-f]{64})  ([^\\\n\r]+)")


def text(digests: Mapping[str, str]) -> str:
    """The content of the list.

    Args:
        digests: hexadecimal SHA-256 by relative name, with ``/`` between its parts.
    """
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def parse(content: str) -> dict[str, str]:
    """Digests by name, of a list in the one form that `text` writes.

    Raises:
        RecordError: ``SUMS_FORMAT``, naming the line.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(content.split("\n")[:-1], start=1):
        match = _LINE.fullmatch(line)
        if match is None or not _is_plain(match[2]):
            raise RecordError("SUMS_FORMAT", f"line {number} is not a digest, two spaces and the "
                              f"name of a file: {line:.60}")
        if match[2] in found:
            raise RecordError("SUMS_FORMAT", f"line {number} names {match[2]} again")
        found[match[2]] = match[1]
    if text(found) != content:
        raise RecordError("SUMS_FORMAT", "the lines are not in order, or the last is not ended",
                          "write the list anew")
    return found


def check(content: str, folders: Sequence[str], names: Sequence[str],
          digest: Callable[[str], str]) -> int:
    """Hold a list against the files in the folders that it covers.

    Args:
        content: of the list.
        folders: what it covers, as names of folders.
        names: of all files in those folders.
        digest: gives the hexadecimal SHA-256 of one.

    Returns:
        How many files it names, all of them as they are there.

    Raises:
        RecordError: ``SUMS_FORMAT``, ``SUMS_FOLDER`` for a name outside of the folders,
            ``SUMS_MISSING`` for a file that is not there, ``SUMS_EXTRA`` for one that the list
            does not name, or ``SUMS_DIFFER``.
    """
    listed = parse(content)
    for name in listed:
        if name.split("/")[0] not in folders:
            raise RecordError("SUMS_FOLDER", f"{name} is in none of the folders covered: "
                              f"{', '.join(folders)}")
    _refuse_first("SUMS_MISSING", listed.keys() - set(names), "is listed and not there")
    _refuse_first("SUMS_EXTRA", set(names) - listed.keys(), "is there and not listed")
    _refuse_first("SUMS_DIFFER", {name for name in listed if digest(name) != listed[name]},
                  "is not what the list says")
    return len(listed)


def _refuse_first(code: str, names: set[str], problem: str) -> None:
    if names:
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise RecordError(code, f"{min(names)} {problem}{more}")


def _is_plain(name: str) -> bool:
    return all(part not in ("", ".", "..") for part in name.split("/"))
