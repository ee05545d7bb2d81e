"""From findings to an answer: the failure, the steps that may be its onset, and why each is.

A score is a sum of terms, each with its reason. The points of detectors stand in their modules;
those of the terms that need the whole run stand here. Of equal scores the earlier step wins: what
came first explains what came after it, never the other way round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from agentrunproof.localize import answer, conversation, detectors, flow
from agentrunproof.localize.seen import Seen
from agentrunproof.localize.trace import Trace, label
from agentrunproof.record.localization import Edge, Finding, Status, Suspect, Symptom, Term

#: Whoever wrote what the failing call consumed is to blame before the call that reported it.
POINTS_FLOW = 5
#: Whoever first wrote the wrong answer; as much as a failed call.
POINTS_ANSWER = 4
#: A run that stopped of itself with an answer that no step before had: whoever worked last did not
#: supply it. It says less of a run that hit a limit: the answer was made up because time was up;
#: and of a long one: the last of many tries is not what decided.
POINTS_SUPPLY = 4
POINTS_SUPPLY_LATE = 1
#: more work than this makes a run long
_MANY = 10
#: The first work sets the course: without other evidence it is the likeliest. What is known before
#: anything was seen is no evidence: it lifts that step to this score and adds nothing to a higher.
POINTS_FIRST = 2
#: The last work before the end stayed as it was: nobody checked it any more.
POINTS_LAST = 1
#: The terms that need the whole run.
TERMS = ("data-flow", "answer", "supply", "first-work", "last-work", "further-work")

#: as many suspects and edges are told, and as much of a value; so many suspects there are at least
#: in a run that failed and did so much
SUSPECTS = 10
_LEAST = 3
_EDGES = 100
_SHOWN = 60


@dataclass(frozen=True)
class Result:
    """Where a run started to go wrong; see `record.localization.Localization`."""

    findings: tuple[Finding, ...]
    edges: tuple[Edge, ...]
    symptom: Symptom | None
    suspects: tuple[Suspect, ...]
    status: Status

    @property
    def onset(self) -> int | None:
        """The number of the likeliest step, if there is a claim."""
        return self.suspects[0].step if self.suspects else None


def localize(trace: Trace, *, without: Collection[str] = ()) -> Result:
    """Where a run started to go wrong.

    If the user says that it failed, suspects are always ranked. Told nothing, there must be a
    failure that the run did not get over.

    Args:
        trace: the run.
        without: detectors and terms that are left out, to measure what each is worth.
    """
    found = [(name, seen) for name, find in detectors.DETECTORS.items() if name not in without
             for seen in find(trace)]
    failures = [seen for _, seen in found if seen.failure and not seen.recovered]
    findings = tuple(sorted((_finding(trace, name, seen) for name, seen in found),
                            key=lambda one: (one.step, one.detector, one.steps)))
    if not trace.steps or not (failures or trace.failed):
        return Result(findings, (), None, (), "HEALTHY" if trace.steps else "NONE")
    # Soft findings stand in runs that went well, too: they count where the run is known to be bad.
    terms: dict[int, list[Term]] = {}
    for name, seen in found:
        if seen.points and not seen.recovered and (trace.bad or not seen.soft):
            _add(terms, seen.at, name, seen.points, seen.message)
    flows = flow.into(trace, _failing(trace, found)) if "data-flow" not in without else []
    for at, reason in _blamed(trace, flows).items():
        _add(terms, at, "data-flow", POINTS_FLOW, reason)
    if trace.failed:
        for name, at, points, reason in _whole(trace):
            if name == "first-work":
                points -= sum(term.points for term in terms.get(at, ()))
            if name not in without and points > 0:
                _add(terms, at, name, points, reason)
    symptom = _symptom(trace, failures)
    if not terms and trace.failed:
        start = trace.first if trace.first is not None else 0
        _add(terms, start, "first-work", POINTS_LAST, "nothing else is known: the first act")
    if trace.failed and "further-work" not in without:
        _fill(trace, terms)
    suspects = _suspects(trace, terms)
    edges = tuple(Edge(source=trace.steps[one.source].number, target=trace.steps[one.target].number,
                       value=one.value[:_SHOWN]) for one in flows[:_EDGES])
    return Result(findings, edges, symptom, suspects, "ONSET" if suspects else "NONE")


def _finding(trace: Trace, name: str, seen: Seen) -> Finding:
    numbers = tuple(trace.steps[at].number for at in seen.others)
    return Finding(detector=name, step=trace.steps[seen.at].number, steps=numbers,
                   message=seen.message, points=seen.points, failure=seen.failure,
                   recovered=seen.recovered)


def _add(terms: dict[int, list[Term]], at: int, name: str, points: int, reason: str) -> None:
    terms.setdefault(at, []).append(Term(name=name, points=points, reason=reason))


def _fill(trace: Trace, terms: dict[int, list[Term]]) -> None:
    """Add suspects up to `_LEAST`: whoever asked for a call, the earliest first, then whoever said
    something."""
    acted = [at for at in trace.asked if conversation.called(trace, at)]
    said = [at for at in trace.workers if conversation.substantial(trace.steps[at])]
    for at in (*acted, *said):
        if len(terms) >= _LEAST:
            return
        if at not in terms:
            _add(terms, at, "further-work", 0, "nothing speaks for it but that it is early work")


def _suspects(trace: Trace, terms: dict[int, list[Term]]) -> tuple[Suspect, ...]:
    scores = {at: sum(term.points for term in of) for at, of in terms.items()}
    best = sorted(scores, key=lambda at: (-scores[at], at))[:SUSPECTS]
    return tuple(Suspect(step=trace.steps[at].number, score=scores[at], terms=tuple(terms[at]))
                 for at in best)


def _failing(trace: Trace, found: list[tuple[str, Seen]]) -> list[int]:
    """Where the calls stand that failed, by their status or, in a bad run, by their words."""
    return [at for name, seen in found
            if name in ("tool-failure", "retry-storm") or (trace.bad and name == "wording")
            if not seen.recovered
            for at in (seen.others or (seen.at,)) if trace.steps[at].kind == "tool"]


def _blamed(trace: Trace, flows: list[flow.Flow]) -> dict[int, str]:
    """Who wrote what failing calls consumed, and the reason; each of them once."""
    blamed: dict[int, str] = {}
    for one in flows:
        source, target = trace.steps[one.source], trace.steps[one.target]
        blamed.setdefault(trace.writer(one.source), (
            f"step {target.number} ({label(target)}) failed on {one.value[:_SHOWN]!r}, last "
            f"written by step {source.number} ({label(source)})"))
    return blamed


def _whole(trace: Trace) -> Iterator[tuple[str, int, int, str]]:
    """The terms that are found in conversations which ended with a wrong answer."""
    work = [at for at in trace.workers if trace.steps[at].output.strip()]
    if not work:
        return
    real = [at for at in work if conversation.substantial(trace.steps[at])]
    last = real[-1] if real else None
    said = answer.find(trace) if answer.concluded(trace) else None
    origin = answer.origin(trace, said) if said else None
    if said and origin is not None and (origin < said.at or not trace.coordinators):
        yield ("answer", trace.writer(origin), POINTS_ANSWER,
               f"wrote what the run ended with: {', '.join(said.values)[:_SHOWN]}")
    elif trace.coordinators and last is not None:
        late = len(work) > _MANY or any(True for _ in detectors.budget.find(trace))
        yield ("supply", last, POINTS_SUPPLY_LATE if late else POINTS_SUPPLY,
               "the last work, which did not supply the answer")
    yield "first-work", work[0], POINTS_FIRST, "the first work, which sets the course"
    checked = [at for at in real if at < trace.last]
    if checked and not trace.coordinators:
        yield "last-work", checked[-1], POINTS_LAST, "the last work, which nobody checked"


def _symptom(trace: Trace, failures: list[Seen]) -> Symptom:
    """Where the failure was observed: the last one, or the end of a run that is said to be bad.

    A call that failed says more than that the run ended badly.
    """
    places = [(max((seen.at, *seen.others)), seen) for seen in failures]
    calls = [(at, seen) for at, seen in places if trace.steps[at].kind != "end"]
    if places:
        at, seen = max(calls or places, key=lambda place: place[0])
        step = trace.steps[at]
        if step.kind == "tool" and step.status != "ok":
            said = step.error or step.output.strip().split("\n")[0]
            return Symptom(step=step.number, message=f"{label(step)} {said or 'failed'}"[:120])
        return Symptom(step=step.number, message=seen.message[:120])
    step = trace.steps[-1]
    return Symptom(step=step.number, message="the run ended, and is said to have failed")
