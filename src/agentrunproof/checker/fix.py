"""The numbered procedure by which a fix record is checked.

 1. Bytes: strict JSON, and exactly the canonical bytes of the value they hold.
 2. Shape and id: a fix of the format this version knows, named by the digest of the rest.
 3. Form: made by a version of ours; alpha, tolerance and guess are chances; one run is planned
    where one tells everything.
 4. Candidates: at least one; no name, and no changed request, twice; none is the unchanged one,
    and each says what it changes.
 5. Deeds: none twice; each was done, and each trial is one of them.
 6. Trials: as many as calls, within the budget; of no request more than planned, of a candidate
    none without one of the unchanged request to go with; where that never decided so, none.
    Of the unchanged request enough, if nothing cut it short.
 7. Base: the rate and its interval follow from the trials.
 8. Verdicts: each rate, bound, e-value and verdict follows from the trials, with alpha split over
    all candidates; a test that ended by itself leaves none open.
 9. Order: the best stands first.
10. Answer: the status that follows.

What no trial shows is what the changed requests say and what the target means. That the trials
were made is for a signature to say.
"""

from __future__ import annotations

from fractions import Fraction

from agentrunproof.ablation import derivation, fixing
from agentrunproof.checker import ablation, binding, procedure
from agentrunproof.checker.judgement import Judgement, refused, reject
from agentrunproof.errors import AgentRunProofError
from agentrunproof.record import fix as records
from agentrunproof.record.fix import Candidate, Change, Fix


def check(data: bytes) -> Judgement:
    """Check the bytes of a fix record by all steps; the first that does not hold ends it.

    Args:
        data: the content of the record's file.
    """
    id = ""
    try:
        value = procedure.read(data)                                                       # 1
        record = records.FORM.from_json(value)                                             # 2
        id = value["id"]
        _check_form(record)                                                                # 3
        _check_candidates(record)                                                          # 4
        _check_deeds(record)                                                               # 5
        _check_trials(record)                                                              # 6
        base = fixing.hits_of(record.deeds, record.trials)
        if record.base != derivation.rate("".join("h" if hit else "o" for hit in base)):   # 7
            reject("BASE_DIFFERS", "the base rate is not what the trials give")
        _check_verdicts(record, base)                                                      # 8
        if list(record.candidates) != sorted(record.candidates, key=fixing.strength):      # 9
            reject("CANDIDATES_DISORDERED", "the best candidate does not stand first")
        status = fixing.status(record.base, record.candidates, record.ended)               # 10
        if record.status != status:
            reject("STATUS_DIFFERS", f"the answer is called {record.status}, the trials give "
                   f"{status}")
    except AgentRunProofError as problem:
        return refused(problem, id=id)
    return Judgement(valid=True, code="OK", id=id, verdict=record.status)


def _check_form(record: Fix) -> None:
    binding.check_version(record.producer.version)
    for name, value in (("ALPHA", record.alpha), ("TOLERANCE", record.tolerance)):
        if not 0 < Fraction(value) < 1:
            reject(f"{name}_RANGE", f"{name.lower()} is {value}, which is no chance")
    ablation.check_guess(record.guess)
    if record.deterministic and record.runs != 1:
        reject("RUNS_RANGE", f"{record.runs} runs are planned of what always does the same")


def _check_candidates(record: Fix) -> None:
    if not record.candidates:
        reject("CANDIDATES_NONE", "nothing was tried")
    names = {candidate.name for candidate in record.candidates}
    requests = {record.subject.digest, *(one.request for one in record.candidates)}
    if len(names) != len(record.candidates) or len(requests) != len(record.candidates) + 1:
        reject("CANDIDATE_TWICE", "two candidates, or one and the unchanged request, are the same")
    for candidate in record.candidates:
        if candidate.change == Change():
            reject("CANDIDATE_EMPTY", f"{candidate.name}: it says of nothing that it changes it")


def _check_deeds(record: Fix) -> None:
    keys = {(deed.kind, deed.calls) for deed in record.deeds}
    if len(keys) != len(record.deeds) or any(
            (deed.kind == "calls") != bool(deed.calls) for deed in record.deeds):
        reject("DEED_TWICE", "two deeds are the same, or one does not say what was called")
    done = {n for trials in _trials(record) for n in fixing.numbers(trials)}
    if done != set(range(len(record.deeds))):
        reject("DEEDS_DIFFER", "the deeds are not those of the trials")


def _trials(record: Fix) -> list[str]:
    return [record.trials, *(candidate.trials for candidate in record.candidates)]


def _check_trials(record: Fix) -> None:
    runs = [len(fixing.numbers(trials)) for trials in _trials(record)]
    if record.calls != sum(runs):
        reject("CALLS_DIFFER", f"the record says {record.calls} calls and lists {sum(runs)} trials")
    if record.calls > record.budget:
        reject("BUDGET_EXCEEDED", f"{record.calls} trials are more than the budget of "
               f"{record.budget}")
    if max(runs) > min(record.runs, runs[0]):
        reject("RUNS_EXCEEDED", "a request was rerun more often than planned, or than the "
               "unchanged one")
    if record.ended == "done" and runs[0] < fixing.design_of(record).looks[0]:
        reject("RUNS_FEWER", "the unchanged request was rerun less often than a test needs")
    if not record.base.hits and any(runs[1:]):
        reject("RUNS_UNSTABLE", "there was nothing to fix, and it was tried")


def _check_verdicts(record: Fix, base: list[bool]) -> None:
    design = fixing.design_of(record)
    for candidate in record.candidates:
        found = fixing.outcome(design, base, fixing.hits_of(record.deeds, candidate.trials))
        if _said(candidate) != found:
            reject("VERDICT_DIFFERS", f"{candidate.name}: the trials give {found.rate.hits} of "
                   f"{found.rate.runs}, at most {found.upper}, e = {found.e}, {found.verdict}")
        if found.verdict == "OPEN" and record.ended == "done" and record.base.hits:
            reject("VERDICT_OPEN", f"{candidate.name}: its test ended by itself, and is open")


def _said(candidate: Candidate) -> fixing.Outcome:
    return fixing.Outcome(candidate.rate, candidate.upper, candidate.e, candidate.verdict)
