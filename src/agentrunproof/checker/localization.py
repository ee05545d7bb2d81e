"""The numbered procedure by which a localization record is checked.

1. Bytes: strict JSON, and exactly the canonical bytes of the value they hold.
2. Shape and id: a localization of the format this version knows, named by the digest of the rest.
3. Producer: a version of ours.
4. Steps: embedded, or brought along; their numbers rise, each was asked for by an earlier one,
   they are as many as the record says, and their digest is the one it names.
5. Findings: those that the detectors give over the steps, and no others.
6. Flow, symptom and suspects: each edge, score, term and its reason follow.
7. Status: the one that follows.

What no step shows is whether the run was as its trace says, and whether it failed where only the
user says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentrunproof.checker import binding, procedure
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.errors import AgentRunProofError
from agentrunproof.localize import recording
from agentrunproof.localize.ranking import localize
from agentrunproof.localize.trace import Trace
from agentrunproof.record import localization as records
from agentrunproof.record.localization import Localization, Step


def check(data: bytes, steps: Sequence[Step] | None = None) -> Judgement:
    """Check the bytes of a localization record; the first step that does not hold ends it.

    Args:
        data: the content of the record's file.
        steps: of the run, from its trace. Needed where the record does not embed them; where it
            does, the two must agree.
    """
    id = ""
    try:
        value = procedure.read(data)                                                        # 1
        record = records.FORM.from_json(value)                                              # 2
        id = value["id"]
        binding.check_version(record.producer.version)                                      # 3
        taken = _steps(record, steps)                                                       # 4
        derived = localize(Trace(taken, failed=record.failed))
        if record.findings != derived.findings:                                             # 5
            reject("FINDINGS_DIFFER", "the findings are not those that the steps give")
        for name, code in (("edges", "EDGES_DIFFER"), ("symptom", "SYMPTOM_DIFFERS"),       # 6
                           ("suspects", "SUSPECTS_DIFFER")):
            if getattr(record, name) != getattr(derived, name):
                reject(code, f"{name}: not what the steps give")
        if record.status != derived.status:                                                 # 7
            reject("STATUS_DIFFERS", f"the answer is called {record.status}, the steps give "
                   f"{derived.status}")
    except AgentRunProofError as problem:
        return refused(problem, id=id)
    return Judgement(valid=True, code="OK", id=id, verdict=record.status)


def _steps(record: Localization, brought: Sequence[Step] | None) -> tuple[Step, ...]:
    """The steps that everything is derived from."""
    if not record.steps and record.subject.steps and brought is None:
        reject("TRACE_NEEDED", "the record does not embed the run's steps, being too large",
               "bring its trace with --trace")
    steps = record.steps or tuple(brought or ())
    before: set[int] = set()
    last = -1
    for step in steps:
        if step.number <= last:
            reject("STEPS_DISORDERED", f"step {step.number} comes after step {last}")
        if step.asked_by is not None and step.asked_by not in before:
            reject("STEP_UNKNOWN", f"step {step.number} was asked for by step {step.asked_by}, "
                   "which does not stand before it")
        before.add(last := step.number)
    if len(steps) != record.subject.steps:
        reject("STEPS_DIFFER", f"the record says {record.subject.steps} steps, there are "
               f"{len(steps)}")
    for one in (steps, *([tuple(brought)] if brought is not None else ())):
        if recording.digest(one) != record.subject.digest:
            reject("STEPS_DIFFER", "the steps are not those that the record was made from")
    return steps
