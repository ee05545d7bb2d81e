"""A localization as text: the failure, the likeliest onset and why, the others, what to do next."""

from __future__ import annotations

import shlex
from textwrap import wrap

from agentrunproof.localize import leads
from agentrunproof.localize.ranking import Result
from agentrunproof.localize.trace import Trace, label
from agentrunproof.record.localization import Step, Suspect
from agentrunproof.report.text import WIDTH, Paint, printable

_INDENT = 19
_OTHERS = 4


def lines(result: Result, steps: tuple[Step, ...], words: list[str], paint: Paint) -> list[str]:
    """The report.

    Args:
        result: what was found.
        steps: of the run.
        words: by which the user named the run, for commands to go on with.
        paint: colours words or not.
    """
    by_number = {step.number: step for step in steps}
    symptom = [] if result.symptom is None else _row(
        "Observed failure", f"step {result.symptom.step}  {result.symptom.message}"
        + _source(by_number[result.symptom.step]))
    if not result.suspects:
        return [*symptom, *_nothing(result, len(steps), paint)]
    best, *others = result.suspects
    count = "the only candidate" if not others else f"the first of {len(others) + 1} candidates"
    told = [
        *symptom,
        *_row(paint("FAIL", "Suspected onset"), f"step {best.step}  {what(by_number[best.step])}"
              + _source(by_number[best.step]), len("Suspected onset")),
        *_row("", f"score {best.score}, {count}; unverified"), *_reasons(best)]
    flow = next((edge for edge in result.edges if edge.source == best.step), None)
    if flow:
        told += _row("  data flow", f"{flow.value!r} went from step {flow.source} to step "
                     f"{flow.target}")
    if leads.lead(Trace(steps), best.step) is not None:  # on one line, so that it can be copied
        told.append(f"{'  test it':{_INDENT}}{test_line(words, best.step)}")
    if others:
        told.append("Other candidates")
        for one in others[:_OTHERS]:
            told += _row(f"  step {one.step}", f"score {one.score}  {one.terms[0].reason}"
                         + _source(by_number[one.step]))
        if len(others) > _OTHERS:
            told += _row("", f"and {len(others) - _OTHERS} more: --json lists them")
    return told + _notes(result)


def _nothing(result: Result, steps: int, paint: Paint) -> list[str]:
    if result.status == "HEALTHY":
        over = sum(finding.recovered for finding in result.findings)
        got_over = f"; it got over {over} failure{'s' if over != 1 else ''}" if over else ""
        return [f"{paint('PASS', 'No onset')}: no failure is seen in {steps} steps{got_over}",
                "if the run failed all the same (a wrong answer, say), --failed ranks its steps",
                *_notes(result)]
    return [*_row(paint("PASS", "No onset"), "nothing that came before it can be suspected; "
                  "--failed ranks the steps all the same", len("No onset")), *_notes(result)]


def _row(name: str, words: str, visible: int | None = None) -> list[str]:
    parts = wrap(printable(words), WIDTH - _INDENT) or [""]
    gap = " " * max(1, _INDENT - (len(name) if visible is None else visible))
    return [f"{name}{gap}{parts[0]}", *(" " * _INDENT + part for part in parts[1:])]


def _reasons(suspect: Suspect) -> list[str]:
    rows: list[str] = []
    for number, term in enumerate(suspect.terms):
        rows += _row("" if number else "  because", f"{term.reason}  (+{term.points} {term.name})")
    return rows


def _source(step: Step) -> str:
    """What the trace that was imported calls a step, for a user to find it again there."""
    return f"  [{step.facts['source']}]" if "source" in step.facts else ""


def what(step: Step) -> str:
    """What a step did, in a line."""
    said = " ".join((step.input if step.kind in ("tool", "input") else step.output).split())
    return f"{label(step)}{': ' if said else ''}{said[:100]}{'...' if len(said) > 100 else ''}"


def test_line(words: list[str], step: int) -> str:
    """The command that tests whether a step is to blame, as one can type it."""
    return shlex.join(["agentrunproof", "why", words[0], str(step), *words[1:]])


def _notes(result: Result) -> list[str]:
    """What blurs the answer: findings that only have to be said."""
    return [line for finding in result.findings if finding.detector in ("gap", "start", "budget")
            for line in wrap(printable(f"note: step {finding.step}: {finding.message}"), WIDTH)]
