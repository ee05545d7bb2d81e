"""From steps to a localization record, and which of its parts follow from which."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentrunproof import canonical, shape
from agentrunproof.canonical import MAX_BYTES
from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace
from agentrunproof.record.document import Program
from agentrunproof.record.localization import FORM, Localization, Step, TraceLine

#: Steps of this many bytes leave room for the rest of the record.
EMBEDDED = MAX_BYTES * 3 // 4
#: Half of a surrogate pair has no place in a record.
_SURROGATE = re.compile("[\ud800-\udfff]")


def record(steps: Sequence[Step], *, name: str, format: str, version: str,
           failed: bool = False) -> Localization:
    """The record of a run; the steps are embedded unless they are too large.

    Args:
        steps: of the run.
        name: of the run.
        format: that the run was read from.
        version: of this package.
        failed: whether the user says that it failed.
    """
    steps = tuple(map(_clean, steps))
    table = canonical.dumps(shape.encode(steps))
    result = localize(Trace(steps, failed=failed))
    return Localization(
        producer=Program(version=version),
        subject=TraceLine(name=_SURROGATE.sub("\ufffd", name), format=format, steps=len(steps),
                          digest=canonical.digest_bytes(table)),
        failed=failed, steps=steps if len(table) <= EMBEDDED else (), findings=result.findings,
        edges=result.edges, symptom=result.symptom, suspects=result.suspects,
        status=result.status)


def to_bytes(localization: Localization) -> bytes:
    """The content of a record's file."""
    return FORM.to_bytes(localization)


def digest(steps: Sequence[Step]) -> str:
    """By which a record names the steps that it was made from."""
    return canonical.digest(shape.encode(tuple(steps)))


def _clean(step: Step) -> Step:
    """A step as a record can hold it; nearly all are so already."""
    try:
        for text in (step.agent, step.tool, step.call, step.input, step.output, step.error,
                     *step.changes, *step.changes.values(), *step.facts, *step.facts.values()):
            if not text.isascii():
                text.encode("utf-8")
    except UnicodeEncodeError:
        value = shape.encode(step)
        return shape.decode(Step, _without_halves(value))  # type: ignore[no-any-return]
    return step


def _without_halves(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    return value
