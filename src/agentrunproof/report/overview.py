"""The whole run as one strip of SVG, and scores as bars."""

from __future__ import annotations

from collections.abc import Sequence

from agentrunproof.localize.ranking import Result
from agentrunproof.localize.trace import Trace, label
from agentrunproof.record.localization import Step, Suspect
from agentrunproof.report.markup import Html, element, join
from agentrunproof.report.timeline import Link

#: Columns of the strip, at most: more steps share them.
COLUMNS = 400
#: Lanes of the strip, at most: the agents that did most have their own.
LANES = 7
_TOP, _LANE = 62, 18
_KINDS = {"answer": "model", "tool": "tools"}


def strip(trace: Trace, result: Result, links: Sequence[Link]) -> Html:
    """All steps from left to right in a lane for each agent, with onset and symptom."""
    lanes = _lanes(trace)
    columns = min(COLUMNS, len(trace)) or 1
    over = got_over(result)
    suspects = {one.step for one in result.suspects}
    shown: dict[tuple[int, int], Step] = {}
    for at, step in enumerate(trace.steps):
        key = (at * columns // len(trace), lanes.get(_lane(trace, step), len(lanes) - 1))
        if key not in shown or _weight(step, over, suspects) > _weight(shown[key], over, suspects):
            shown[key] = step
    apart = columns < COLUMNS // 2
    marks = [element("a", element(
        "rect", element("title", f"step {step.number}: {label(step)}"), rx=2 if apart else None,
        x=_percent(column, columns), width=_percent(1, columns, gap=apart),
        y=_TOP + lane * _LANE + 2, height=_LANE - 4, class_=_class(step, over, suspects)),
        href=f"#s{step.number}", tabindex="-1") for (column, lane), step in shown.items()]
    height = _TOP + len(lanes) * _LANE
    lines = [element("line", x1="0", x2="100%", y1=_TOP + lane * _LANE + _LANE // 2,
                     y2=_TOP + lane * _LANE + _LANE // 2, class_="lane")
             for lane in range(len(lanes))]
    drawn = element("svg", *lines, *(_arc(trace, link) for link in links if link.kind == "flow"),
                    *marks, *_pins(trace, result, height), width="100%", height=height, role="img",
                    aria_label=_words(trace, result))
    names = element("div", *(element("span", lane) for lane in lanes), class_="names")
    legend = element("p", element("i"), "candidate", element("i", class_="failed"), "failed",
                     element("i", class_="over"), "failed, got over", class_="legend")
    strips = element("div", names, element("div", drawn, class_="strip"), class_="strips")
    return join(strips, legend)


def got_over(result: Result) -> set[int]:
    """The numbers of the steps that show failures which the run got over."""
    return {number for one in result.findings if one.recovered
            for number in (one.step, *one.steps)}


def score(suspect: Suspect, best: int) -> Html:
    """A score as a bar of its terms, as long as it is of the best one."""
    parts, begin = [], 0
    for at, term in enumerate(suspect.terms):
        parts.append(element("rect", x=_percent(begin, best), y=0, height=10, class_=f"t{at % 6}",
                             width=_percent(term.points, best)))
        begin += term.points
    return element("div", element("svg", *parts, width="100%", height=10, role="img",
                                  aria_label=f"score {suspect.score} of the best, {best}"),
                   element("b", str(suspect.score)), class_="score")


def _lanes(trace: Trace) -> dict[str, int]:
    """The names of the lanes, in the order in which they first act."""
    names: dict[str, int] = {}
    for step in trace.steps:
        lane = _lane(trace, step)
        names[lane] = names.get(lane, 0) + 1
    if len(names) > LANES:
        most = sorted(names, key=lambda name: -names[name])[:LANES - 1]
        names = {name: 0 for name in names if name in most} | {"others": 0}
    return {name: at for at, name in enumerate(names)}


def _lane(trace: Trace, step: Step) -> str:
    """Whose doing a step is; tools have lanes of their own where one agent acts."""
    agents = trace.agents
    if step.kind in ("start", "end"):
        return "the run"
    if step.kind == "input":
        return "people"
    if len(agents) > 1:
        writer = trace.steps[trace.writer(trace.place[step.number])]
        return step.agent or writer.agent or "others"
    return _KINDS.get(step.kind, "the rest")


def _weight(step: Step, over: set[int], suspects: set[int]) -> int:
    """What goes before where steps share a column; failures that were got over do not."""
    return 2 * (step.number in suspects) + (step.status != "ok" and step.number not in over)


def _class(step: Step, over: set[int], suspects: set[int]) -> str:
    if step.status != "ok":
        return "over" if step.number in over else "failed"
    return "suspect" if step.number in suspects else step.kind


def _arc(trace: Trace, link: Link) -> Html:
    begin, end = trace.place[link.source], trace.place[link.target]
    return element("svg", element("path", d="M0 20 Q50 -16 100 20", class_="arc",
                                  vector_effect="non-scaling-stroke"),
                   x=_percent(begin + .5, len(trace)), y=_TOP - 22, height=22,
                   width=_percent(end - begin, len(trace)), viewBox="0 0 100 22",
                   preserveAspectRatio="none")


def _pins(trace: Trace, result: Result, height: int) -> list[Html]:
    pins = []
    if result.symptom:
        pins.append(("symptom", result.symptom.step, 30))
    if result.suspects:
        pins.append(("onset", result.suspects[0].step, 13))
    drawn = []
    for name, number, y in pins:
        at = (trace.place[number] + .5) / len(trace)
        x = _percent(trace.place[number] + .5, len(trace))
        anchor = "start" if at < .1 else "end" if at > .9 else "middle"
        drawn += [element("line", x1=x, x2=x, y1=y + 4, y2=height, class_=f"pin {name}"),
                  element("text", f"{name} · step {number}", x=x, y=y, text_anchor=anchor,
                          class_=f"pin {name}")]
    return drawn


def _percent(part: float, whole: int, gap: bool = False) -> str:
    return f"{part * (88 if gap else 100) / whole:.3f}%"


def _words(trace: Trace, result: Result) -> str:
    told = f"{len(trace)} steps from left to right"
    if result.suspects:
        told += f"; the onset is step {result.suspects[0].step}"
    return told + (f", the symptom step {result.symptom.step}" if result.symptom else "")
