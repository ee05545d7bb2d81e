"""A localization as one self-contained HTML page without any script (`report.html`).

On top what failed and where it began, below it the whole run in a strip, then its steps, those in
which nothing was noticed folded, with lines for what flowed from step to step; beside them the
candidates with the terms of their scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentrunproof import __version__
from agentrunproof.localize import leads
from agentrunproof.localize.ranking import Result
from agentrunproof.localize.trace import Trace, label
from agentrunproof.record.localization import Finding, Step, Suspect
from agentrunproof.report import html, localization, overview
from agentrunproof.report.localization import what
from agentrunproof.report.markup import Html, element, join
from agentrunproof.report.timeline import Link, Timeline

#: Characters of a text that are shown: of a step with all its texts, of one that is a line.
MOST, LINE = 4000, 120
#: In runs with no more steps, folded ones have all their texts as well.
SMALL = 300
_TIP = 280
_LISTED = 12
_STATUS = {"error": "failed", "timeout": "timed out", "blocked": "blocked",
           "cancelled": "cancelled", "open": "no end", "cut": "cut short"}


def render(result: Result, steps: Sequence[Step], *, name: str, words: list[str], format: str,
           failed: bool = False) -> str:
    """The page.

    Args:
        result: what was found.
        steps: of the run.
        name: of the run.
        words: by which the user named the run, for commands to go on with.
        format: that the run was read from.
        failed: whether the user says that it failed.
    """
    page = _Page(Trace(steps, failed=failed), result, words)
    return html.still("localization_page", f"Where it went wrong: {name}",
                      page.body(name, format))


class _Page:
    def __init__(self, trace: Trace, result: Result, words: list[str]) -> None:
        self._trace, self._result, self._words = trace, result, words
        self._timeline = Timeline(trace, result)
        self._over = overview.got_over(result)
        self._rank = {one.step: place for place, one in enumerate(result.suspects)}
        self._values: dict[int, list[str]] = {}
        for edge in result.edges:
            for end in (edge.source, edge.target):
                self._values.setdefault(end, []).append(edge.value)

    def _step(self, number: int) -> Step:
        return self._trace.steps[self._trace.place[number]]

    def body(self, name: str, format: str) -> Html:
        """Everything that is seen."""
        return join(
            element("header", self._headline(), element(
                "p", f"{name} · {format} · {len(self._trace):,} steps"
                + (" · said to have failed" if self._trace.failed else ""), class_="about")),
            element("section", overview.strip(self._trace, self._result, self._timeline.links),
                    class_="overview", aria_label="The whole run"),
            element("main", element("section", element("h2", "Steps"),
                                    element("ol", *self._rows(), class_=(
                                        "steps" if self._timeline.links else "steps plain")),
                                    class_="timeline"),
                    element("aside", *self._beside())),
            element("footer", f"agentrunproof {__version__} · read off the trace: a suspicion, "
                    "nothing was run again"))

    def _headline(self) -> Html:
        symptom, suspects = self._result.symptom, self._result.suspects
        if symptom is None or not suspects:
            over = sum(one.recovered for one in self._result.findings)
            told = f"; it got over {over} failure{'s' * (over != 1)}" if over else ""
            return join(element("h1", "No onset"), element(
                "p", f"No failure is seen in {len(self._trace):,} steps{told}. If the run failed "
                "all the same, say so with --failed." if self._result.status == "HEALTHY" else
                "Nothing in the run can be suspected.", class_="verdict"))
        best = suspects[0]
        others = len(suspects) - 1
        why = max(best.terms, key=lambda term: term.points)
        return join(
            element("h1", "Suspected onset: ", _to(best.step, class_="onset")),
            element("div", element("b", "onset", class_="tag onset"),
                    element("span", what(self._step(best.step)), class_="what"),
                    element("b", "symptom", class_="tag symptom"),
                    element("span", _to(symptom.step), f" {symptom.message}", class_="what"),
                    element("b", "because", class_="tag because"),
                    element("span", self._linked(why.reason), class_="what"),
                    class_="story"),
            element("p", "the only candidate" if not others else
                    f"the first of {others + 1} candidates", f", score {best.score}; unverified",
                    class_="verdict"))

    def _rows(self) -> Iterator[Html]:
        for part in self._timeline.parts():
            if len(part) == 1:
                yield self._row(part[0])
                continue
            first, last = part[0].number, part[-1].number
            over = sum(one.recovered for step in part
                       for one in self._timeline.findings.get(step.number, ()))
            told = f"steps {first:,} to {last:,}: {len(part):,} steps, nothing to suspect" + (
                f"; {over} failure{'s' * (over != 1)} that it got over" if over else "")
            yield element("li", self._gutter(first, last), element(
                "details", element("summary", element("span", "⋯", class_="n"),
                                   element("span", told, class_="what")),
                element("ol", *map(self._folded, part), class_="steps inner")),
                class_="stretch", id=f"s{first}")

    def _folded(self, step: Step) -> Html:
        """A step to which nothing leads; of a large run a line only."""
        classes = f"{step.kind}{' bad' * (step.status != 'ok')}"
        if len(self._trace) > SMALL:
            output = step.error or step.output if step.kind == "tool" else ""
            told = " → ".join(filter(None, (_cut(_said(step), LINE), _cut(output, LINE))))
            return element("li", f"{step.number} ", element("b", label(step)),
                           f" {' '.join(told.split())}", class_=f"line {classes}")
        return element("li", element("details", self._summary(step, None), *self._texts(step)),
                       class_=f"row {classes}")

    def _row(self, step: Step) -> Html:
        rank = self._rank.get(step.number)
        classes = ["row", step.kind, *([f"c{rank}", "suspect"] if rank is not None else []),
                   *(["onset"] if rank == 0 else []), *(["bad"] if step.status != "ok" else []),
                   *(["symptom"] if self._symptom(step) else [])]
        told = list(self._evidence(step))
        output = step.error or step.output
        if output and step.kind == "tool":
            seen = [*told, element("li", element("code", _cut(output, _TIP)))]
        else:
            seen = told
        tip = element("span", element("ul", *seen), class_="tip", role="note") if seen else None
        return element("li", self._gutter(step.number, step.number), element(
            "details", self._summary(step, tip),
            *([element("ul", *told, class_="why")] if told else []), *self._texts(step)),
            class_=" ".join(classes), id=f"s{step.number}")

    def _symptom(self, step: Step) -> bool:
        return self._result.symptom is not None and self._result.symptom.step == step.number

    def _summary(self, step: Step, tip: Html | None) -> Html:
        said = _said(step)
        return element(
            "summary", element("span", f"{step.number}", class_="n"),
            element("span", label(step), class_="who"),
            element("span", self._marked(_cut(said, 160), step), class_="what"),
            *self._tags(step), *([tip] if tip else []))

    def _tags(self, step: Step) -> Iterator[Html]:
        rank = self._rank.get(step.number)
        if rank is not None:
            score = self._result.suspects[rank].score
            yield element("b", f"onset · {score}" if rank == 0 else f"candidate {rank + 1} · "
                          f"{score}", class_="tag " + ("onset" if rank == 0 else "candidate"))
        if self._symptom(step):
            yield element("b", "symptom", class_="tag symptom")
        elif step.status != "ok":
            over = step.number in self._over
            yield element("b", _STATUS[step.status] + (", got over" if over else ""),
                          class_="tag" + (" over" if over else " failed"))

    def _evidence(self, step: Step) -> Iterator[Html]:
        """What speaks for or against a step, seen at once where it is pointed to."""
        rank = self._rank.get(step.number)
        terms = self._result.suspects[rank].terms if rank is not None else ()
        for term in terms:
            yield element("li", _points(term.points), self._linked(term.reason))
        said = {term.reason for term in terms}
        for one in self._timeline.findings.get(step.number, ()):
            if one.message not in said:
                yield element("li", f"{one.detector}: {one.message}"
                              + (" (the run got over it)" if one.recovered else ""))
        for link in self._timeline.links:
            if link.kind == "flow" and step.number in (link.source, link.target):
                yield element("li", *_flow(link, step.number))

    def _gutter(self, first: int, last: int) -> Html:
        """The pieces of the lines that start, end, or go by at these steps."""
        pieces = []
        for place, link in enumerate(self._timeline.links):
            way = "start" if link.source == first == last else \
                "end" if link.target == first == last else \
                "by" if link.source < first and last < link.target else ""
            if way:
                pieces.append(element("i", class_=f"{way} {link.kind} l{link.lane} e{place}"))
        return element("span", *pieces, class_="gutter", aria_hidden="true")

    def _texts(self, step: Step) -> Iterator[Html]:
        """All that is known of a step."""
        rows = [("in", step.input), ("out", step.output), ("error", step.error),
                *((f"changed {key}", value) for key, value in step.changes.items()),
                *step.facts.items()]
        if step.asked_by is not None:
            yield element("p", "asked for by ", _to(step.asked_by))
        for name, text in rows:
            if text:
                yield element("div", element("b", name), element(
                    "pre", self._marked(_cut(text, MOST), step)), class_=f"text {name.split()[0]}")

    def _beside(self) -> Iterator[Html]:
        suspects = self._result.suspects
        if suspects:
            yield element("h2", "Candidates, and why")
            yield element("ol", *(self._card(place, one) for place, one in enumerate(suspects)),
                          class_="cards")
        flows = [element("li", element("q", edge.value), " ", _to(edge.source), " → ",
                         _to(edge.target)) for edge in self._result.edges]
        if flows:
            yield element("h2", "Values that flowed into failures")
            yield _listed(flows)
        found = [element("li", _to(one.step), f" {one.detector}: {one.message}",
                         *([element("small", " got over")] if one.recovered else []),
                         class_="over" if one.recovered else None)
                 for one in _telling(self._result.findings)]
        if found:
            yield element("h2", "All that was noticed")
            yield _listed(found)

    def _card(self, place: int, suspect: Suspect) -> Html:
        best = self._result.suspects[0].score
        terms = [element("li", _points(term.points, at), element("b", term.name), " ",
                         self._linked(term.reason)) for at, term in enumerate(suspect.terms)]
        step = self._step(suspect.step)
        test = [element("code", localization.test_line(self._words, suspect.step), class_="test")] \
            if leads.lead(self._trace, suspect.step) is not None else []
        inside = (overview.score(suspect, best), element("ul", *terms), *test)
        head = (_to(suspect.step), " ", element("span", _cut(what(step), 130), class_="what"))
        if place < 3:
            return element("li", element("h3", *head), *inside, class_=f"card c{place}")
        return element("li", element("details", element("summary", *head, element(
            "small", f" score {suspect.score}")), *inside), class_=f"card c{place}")

    def _linked(self, reason: str) -> Html:
        """A reason, in which steps are links."""
        parts = re.split(r"\bstep (\d+)", reason)
        return join(*(_to(int(part)) if place % 2 and int(part) in self._trace.place else
                      f"step {part}" if place % 2 else part for place, part in enumerate(parts)))

    def _marked(self, text: str, step: Step) -> Html:
        """A step's text, in which the values that flowed are marked."""
        values = [re.escape(value) for value in self._values.get(step.number, ()) if value]
        if not values:
            return join(text)
        parts = re.split(f"({'|'.join(values)})", text, flags=re.IGNORECASE)
        return join(*(element("mark", part) if place % 2 else part
                      for place, part in enumerate(parts)))


def _said(step: Step) -> str:
    said = step.input if step.kind in ("tool", "input", "start") else step.output
    return said or ", ".join(f"{name}: {value}" for name, value in step.facts.items())


def _to(number: int, class_: str | None = None) -> Html:
    return element("a", f"step {number}", href=f"#s{number}", class_=class_)


def _points(points: int, at: int | None = None) -> Html:
    return element("span", f"+{points}", class_="points" + ("" if at is None else f" t{at % 6}"))


def _flow(link: Link, here: int) -> tuple[str, ...]:
    values = ", ".join(map(repr, link.values[:3])) + (" and more" if len(link.values) > 3 else "")
    return (f"wrote {values}, which ", _to(link.target), " consumed") if here == link.source \
        else (f"consumed {values}, written by ", _to(link.source))


def _telling(findings: Sequence[Finding]) -> list[Finding]:
    """What the run did not get over first; in the order of steps otherwise."""
    return sorted(findings, key=lambda one: one.recovered)[:200]


def _listed(rows: list[Html]) -> Html:
    """Rows of a list, the most of them folded."""
    if len(rows) <= _LISTED:
        return element("ul", *rows, class_="list")
    rest = element("details", element("summary", f"{len(rows) - _LISTED} more"),
                   element("ul", *rows[_LISTED:], class_="list"))
    return join(element("ul", *rows[:_LISTED], class_="list"), rest)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
