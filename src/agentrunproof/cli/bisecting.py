"""``bisect``: the release at which a behaviour broke, or was mended."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from agentrunproof.cli import exits, plans
from agentrunproof.cli.matrix import job_of
from agentrunproof.cli.output import Progress, lines, note, paint, table
from agentrunproof.errors import PlanError
from agentrunproof.report import text

if TYPE_CHECKING:
    from agentrunproof.lab.bisect import Answer, Goal, Probe

#: Stands for the release in a command line.
_SDK = "@SDK@"


def bisect(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(
        metavar="[SCENARIO_OR_FILE]", autocompletion=plans.complete,
        help="A scenario id or plan file; or give -- COMMAND.")] = None,
    first_bad: Annotated[bool, typer.Option(
        "--first-bad", help="Find the release at which it broke.")] = False,
    first_fixed: Annotated[bool, typer.Option(
        "--first-fixed", help="Find the release at which it was mended.")] = False,
    check: Annotated[str | None, typer.Option(
        metavar="NAME", help="Judge by this check alone.")] = None,
    sdk: Annotated[str, typer.Option(
        metavar="SPEC", help="Releases to search.")] = "all",
    python: Annotated[str | None, typer.Option(
        metavar="X.Y", help="Python of the environments.")] = None,
    install: Annotated[list[str] | None, typer.Option(
        metavar="REQUIREMENT", help="Needed by COMMAND besides pytest (repeatable).")] = None,
    allow_python: Annotated[bool, typer.Option(
        "--allow-python", help="Let the plan run the Python that it names.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Search the releases for the one at which a scenario, or a command, changed."""
    from agentrunproof.lab import bisect as lab
    from agentrunproof.lab import environments, selection

    if first_bad and first_fixed:
        raise typer.BadParameter("--first-bad or --first-fixed, not both")
    goal: Goal | None = "first-bad" if first_bad else "first-fixed" if first_fixed else None
    known_check(check)
    job = job_of([name] if name else [], False, context.obj, install or [], allow_python)
    releases = selection.releases_of(sdk)
    (version,) = selection.pythons_of(python or environments.running())
    progress = Progress()
    oracle = lab.oracle_of(job, version, check, progress.say)

    def told(release: str) -> Probe:
        probe = oracle(release)
        progress.clear()
        note(_probe_line(probe))
        return probe

    answer = lab.bisect(releases, told, goal)
    again = _reproduce(name, context.obj, python, install or [], allow_python)
    if as_json:
        table(_table(answer, again))
    else:
        lines(_lines(answer, again))
    return exits.OK if answer.at is not None else exits.UNUSABLE


def known_check(name: str | None) -> None:
    """Refuse the name of a check that does not exist.

    Raises:
        PlanError: ``CHECK_UNKNOWN``.
    """
    from agentrunproof.contracts import registry
    from agentrunproof.shape import nearest

    if name is not None and registry.find(name) is None:
        known = [contract.name for contract in registry.CONTRACTS]
        raise PlanError("CHECK_UNKNOWN", f"--check {name!r}: there is no such check",
                        nearest(name, known) or "explain names the checks of a certificate")


def _probe_line(probe: Probe) -> str:
    word = "UNTESTABLE" if probe.state in ("LACKING", "UNCLEAR") else probe.state
    return f"{word.ljust(10)} {probe.release.ljust(8)} {probe.reason}"


def _lines(answer: Answer, again: str) -> list[str]:
    colour = paint()
    if answer.at is None or answer.before is None:
        hint = "a matrix over a range shows where it fails: agentrunproof matrix ... --sdk minors"
        return [f"{answer.goal}: not found: {answer.why}", *text.wrap(hint, "  ")]
    told = [f"{answer.goal}: {answer.at.release}",
            *(f"  {colour('FAIL' if one.state == 'FAIL' else 'PASS', one.state)} {one.release} "
              f"{one.reason}" for one in (answer.before, answer.at))]
    if answer.before.state == "LACKING":
        told.append("  the release before lacks what the plan needs: it was so from the start")
    if answer.unclear:
        told += text.wrap("not judged between the two: " + ", ".join(answer.unclear), "  ")
    if len(answer.changes) > 1:
        every = "; ".join(f"{a.release} {a.state} -> {b.release} {b.state}"
                          for a, b in answer.changes)
        told += text.wrap(f"the history changes more than once: {every}", "  ")
    told.append(f"releases probed: {len(answer.probes)}")
    return [*told, *(f"reproduce: {again.format(sdk=one.release)}"
                     for one in (answer.before, answer.at) if one.state in ("PASS", "FAIL"))]


def _reproduce(name: str | None, command: tuple[str, ...], python: str | None,
               install: list[str], allow_python: bool) -> str:
    """A command line that shows one release, with ``{sdk}`` for it."""
    words = ["agentrunproof", *(["probe", name] if name else ["matrix"]), "--sdk", _SDK,
             *(["--python", python] if python else []),
             *(["--allow-python"] if allow_python else []),
             *(word for requirement in install for word in ("--install", requirement)),
             *(["--", *command] if command else [])]
    return shlex.join(words).replace("{", "{{").replace("}", "}}").replace(_SDK, "{sdk}")


def _table(answer: Answer, again: str) -> dict[str, object]:
    def row(probe: Probe | None) -> dict[str, str] | None:
        return None if probe is None else {
            "release": probe.release, "state": probe.state, "reason": probe.reason}

    return {"goal": answer.goal, "found": answer.at is not None, "why": answer.why,
            "at": row(answer.at), "before": row(answer.before), "unclear": list(answer.unclear),
            "changes": [[row(a), row(b)] for a, b in answer.changes],
            "probes": [row(probe) for probe in answer.probes], "reproduce": again}
