"""Ablation records on disk: where they are kept, and how they are shown again."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from agentrunproof.cli import exits
from agentrunproof.cli.output import lines
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.cli.asking import Chosen
    from agentrunproof.record.ablation import Ablation


def prepared(out: Path | None, kind: str = "ablations") -> Path:
    """Where a record is to go; it is seen to before any call is spent.

    Args:
        out: the file that a user names; else a folder in that of the runs.
        kind: the folder's name.

    Raises:
        RecordError: nothing can be written there.
    """
    from agentrunproof.record import store
    from agentrunproof.runs import folder

    if out is not None:
        store.check_target(out)
        target, place = out, out.parent
    else:
        target = place = folder.default() / kind
        _make(place)
    if not os.access(place, os.W_OK | os.X_OK):
        raise RecordError("TARGET_UNWRITABLE", f"{target}: the folder {place} cannot be written to",
                          "name a file elsewhere with --out; nothing was asked yet")
    return target


def _make(place: Path) -> None:
    from agentrunproof.runs import folder

    try:
        folder.make(place.parent)
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise RecordError("TARGET_UNWRITABLE", f"{place}: cannot be made: "
                          f"{(problem.strerror or str(problem)).lower()}",
                          "name a file elsewhere with --out; nothing was asked yet") from None


def write(target: Path, data: bytes, chosen: Chosen) -> Path:
    """Write a record; the file that it is in.

    Args:
        target: what `prepared` gave.
        data: the record.
        chosen: the call that it explains, for the name of its file.

    Raises:
        RecordError: it cannot be written.
    """
    from agentrunproof.record import store

    path = target
    if target.is_dir():
        name = (PurePath(chosen.run.file).stem, chosen.call.id, sha256(data).hexdigest()[:8])
        path = target / f"{'-'.join(name)}.json"
    store.write(path, data)
    path.chmod(0o600)  # as recorded runs: it quotes what they hold
    return path


def load(path: Path) -> Ablation:
    """Read a record.

    Raises:
        RecordError: it is unreadable, or the checker finds it invalid.
    """
    from agentrunproof import canonical
    from agentrunproof.checker import ablation as checker
    from agentrunproof.record import store
    from agentrunproof.record.ablation import FORM

    data = store.read(path)
    judgement = checker.check(data)
    if not judgement.valid:
        raise RecordError(judgement.code, f"{path}: {judgement.message}", judgement.hint)
    return FORM.from_json(canonical.parse(data))


def show(path: Path, *, as_json: bool) -> int:
    """Print the report of a record again.

    Raises:
        RecordError: what `load` says.
    """
    from agentrunproof.record.ablation import FORM
    from agentrunproof.report import ablation, reduction

    record = load(path)
    report = ablation.lines if record.subject.kind == "call" else reduction.lines
    lines([FORM.to_bytes(record).decode().rstrip("\n")] if as_json else report(record))
    return exits.of_verdict(record.status)
