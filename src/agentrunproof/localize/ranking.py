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
#: supply it. Of a run that hit a limit it says less: the answer was made up because time was up.
POINTS_SUPPLY = 4
POINTS_SUPPLY_AT_LIMIT = 1
#: The first work sets the course: without other evidence it is the likeliest.
POINTS_FIRST = 2
#: The last work stayed as it was: nobody checked it any more.
POINTS_LAST = 1
#: The terms that need the whole run.
TERMS = ("data-flow", "answer", "supply", "first-work", "last-work")

#: as many suspects and edges are told, and as much of a value
SUSPECTS = 10
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
            if name not in without:
                _add(terms, at, name, points, reason)
    symptom = _symptom(trace, failures)
    if not terms and trace.failed:
        start = trace.first if trace.first is not None else 0
        _add(terms, start, "first-work", POINTS_LAST, "nothing else is known: the first act")
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
    yield "first-work", work[0], POINTS_FIRST, "the first work, which sets the course"
    last = next((at for at in reversed(work) if conversation.substantial(trace.steps[at])), None)
    said = answer.find(trace) if answer.concluded(trace) else None
    origin = answer.origin(trace, said) if said else None
    if said and origin is not None and (origin < said.at or not trace.coordinators):
        yield ("answer", trace.writer(origin), POINTS_ANSWER,
               f"wrote what the run ended with: {', '.join(said.values)[:_SHOWN]}")
    elif trace.coordinators and last is not None:
        cut = any(True for _ in detectors.budget.find(trace))
        yield ("supply", last, POINTS_SUPPLY_AT_LIMIT if cut else POINTS_SUPPLY,
               "the last work, which did not supply the answer")
    if last is not None and not trace.coordinators:
        yield "last-work", last, POINTS_LAST, "the last work, which nobody checked"


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
