"""The cause that a fix begins with: an earlier finding of ``why``, or one made now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from agentrunproof.cli import ablations, why_call
from agentrunproof.cli.output import Progress, note
from agentrunproof.errors import RecordError

if TYPE_CHECKING:
    from agentrunproof.cli.asking import Chosen
    from agentrunproof.record.ablation import Ablation
    from agentrunproof.rerun.reruns import Reruns

#: With a smaller budget no cause is looked for.
_LEAST = 20


def found(chosen: Chosen, reruns: Reruns, named: Path | None, budget: int, progress: Progress
          ) -> tuple[Ablation | None, int]:
    """The finding for a recorded call, and the model calls that it took.

    Args:
        chosen: the call.
        reruns: of it.
        named: a record that the user names.
        budget: of model calls; two thirds of it may be spent here.
        progress: says how far it is.

    Raises:
        AgentRunProofError: the named record is not of this call; the model gives no reply.
    """
    earlier = known(chosen, named, reruns.digest)
    if earlier is not None:
        return earlier, 0
    if budget < _LEAST:
        note(f"note: the cause is not looked for with a budget of {budget}")
        return None, 0
    note("note: looking for the cause first (--no-source leaves that out)")
    return _made(chosen, reruns, budget * 2 // 3, progress)


def known(chosen: Chosen, named: Path | None, digest: str) -> Ablation | None:
    """A finding that was made before of the same request and target: the one that is named, else
    the latest that names a cause.

    Raises:
        RecordError: the named one is invalid, or of another request or target.
    """
    if named is not None:
        record = ablations.load(named)
        if (record.subject.digest, record.target) != (digest, chosen.target.spec):
            raise RecordError("FINDING_OTHER", f"{named}: explains another request or target",
                              "leave --finding away, and one is looked for")
        return record
    for path in _files(chosen):
        try:
            record = ablations.load(path)
        except RecordError:
            continue
        if (record.subject.digest, record.target, record.status) == (
                digest, chosen.target.spec, "CAUSE"):
            note(f"note: the cause is taken from {path}")
            return record
    return None


def _files(chosen: Chosen) -> Iterator[Path]:
    """The kept records that may explain a call, the latest first."""
    from agentrunproof.runs import folder

    begins = f"{PurePath(chosen.run.file).stem}-{chosen.call.id}-"
    place = folder.default() / "ablations"
    if place.is_dir():
        paths = [path for path in place.iterdir() if path.name.startswith(begins)]
        yield from sorted(paths, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _made(chosen: Chosen, reruns: Reruns, budget: int, progress: Progress
          ) -> tuple[Ablation, int]:
    from agentrunproof.ablation.explain import ALPHA
    from agentrunproof.record.ablation import FORM

    asked = reruns.asked
    job = why_call.Job(chosen, reruns, progress)
    job.begin(budget, ALPHA, ask_model=False)
    try:
        job.explanation.run(job.answer)
    finally:  # however it ended, what was tried is kept
        progress.clear()
        record = job.record()
        place = ablations.prepared(None)
        note(f"written: {ablations.write(place, FORM.to_bytes(record), chosen)}")
    return record, reruns.asked - asked
