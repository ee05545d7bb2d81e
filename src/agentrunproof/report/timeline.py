"""What of a run's steps a page shows one by one, what it folds, and which lines join them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agentrunproof.localize.ranking import Result
from agentrunproof.localize.trace import Trace
from agentrunproof.record.localization import Finding, Step

#: Fewer steps in a row than these are not folded.
FOLDED = 4
#: No more steps than these are shown for what was noticed at them; suspects always are.
_NOTICED = 200
#: No more of what people said before anyone acted than these.
_TASK = 8
#: Lines that run side by side, at most.
LANES = 6


@dataclass(frozen=True)
class Link:
    """A line from one step to a later one.

    Args:
        source: number of the step where it starts.
        target: number of the step where it ends.
        kind: ``flow``: values that the one wrote and the other consumed; ``asked``: the one asked
            for the other.
        values: that flowed.
        lane: where it runs, counted from 0.
    """

    source: int
    target: int
    kind: Literal["flow", "asked"]
    values: tuple[str, ...] = ()
    lane: int = 0


class Timeline:
    """A run's steps, as a page shows them.

    Args:
        trace: the run.
        result: what was found.
    """

    def __init__(self, trace: Trace, result: Result) -> None:
        self.trace = trace
        self.findings: dict[int, list[Finding]] = {}
        for finding in result.findings:
            self.findings.setdefault(finding.step, []).append(finding)
        self.links = _in_lanes(_links(trace, result))
        self._shown = self._interesting(result)

    def parts(self) -> Iterator[list[Step]]:
        """The steps in order: single ones that are shown, and stretches to be folded."""
        stretch: list[Step] = []
        for step in self.trace.steps:
            if step.number not in self._shown:
                stretch.append(step)
                continue
            yield from _folded(stretch)
            stretch = []
            yield [step]
        yield from _folded(stretch)

    def _interesting(self, result: Result) -> set[int]:
        steps = self.trace.steps
        shown = {suspect.step for suspect in result.suspects}
        shown |= {end for link in self.links for end in (link.source, link.target)}
        if result.symptom:
            shown.add(result.symptom.step)
        begun = min(self.trace.first or 0, _TASK)
        shown |= {step.number for step in (*steps[:begun + 1], *steps[-1:])}
        noticed = sorted((one for one in result.findings if not one.recovered),
                         key=lambda one: (-one.points, one.step))
        shown |= {one.step for one in noticed[:_NOTICED]}
        for number in tuple(shown):  # what asked for them, too
            shown.add(steps[self.trace.writer(self.trace.place[number])].number)
        return shown


def _folded(stretch: list[Step]) -> Iterator[list[Step]]:
    if len(stretch) >= FOLDED:
        yield stretch
    else:
        yield from ([step] for step in stretch)


def _links(trace: Trace, result: Result) -> list[Link]:
    """What flowed, that of the likeliest onset first, and who asked for the steps that wrote."""
    flows: dict[tuple[int, int], list[str]] = {}
    for edge in result.edges:
        flows.setdefault((edge.source, edge.target), []).append(edge.value)
    blamed = [suspect.step for suspect in result.suspects]

    def rank(ends: tuple[int, int]) -> tuple[int, int]:
        writer = trace.steps[trace.writer(trace.place[ends[0]])].number
        return (blamed.index(writer) if writer in blamed else len(blamed), ends[1])

    links = []
    for source, target in sorted(flows, key=rank):
        writer = trace.steps[trace.writer(trace.place[source])].number
        if writer != source:
            links.append(Link(writer, source, "asked"))
        links.append(Link(source, target, "flow", tuple(flows[source, target])))
    return list(dict.fromkeys(links))


def _in_lanes(links: list[Link]) -> tuple[Link, ...]:
    """The links that find a free lane among those before, each in its own."""
    taken: list[list[Link]] = [[] for _ in range(LANES)]
    for link in links:
        for lane, others in enumerate(taken):
            if all(link.target <= one.source or link.source >= one.target for one in others):
                others.append(Link(link.source, link.target, link.kind, link.values, lane))
                break
    return tuple(link for others in taken for link in others)
