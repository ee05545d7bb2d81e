"""``check session``: the suite of cases for `Session` backends, run on a user's own."""

from __future__ import annotations

import platform
import shlex
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits
from agentrunproof.cli.output import Progress, lines, paint, table
from agentrunproof.errors import said
from agentrunproof.report.text import Paint, fit, printable, wrap

if TYPE_CHECKING:
    from agentrunproof.suites.session import Backend, Case, Result

app = typer.Typer(help="Suites of cases for what you plug into the SDK.", rich_markup_mode=None)

_INDENT = " " * 11
_FORM = "write MODULE:NAME, of a function that gives the session of an id, or of a Backend"


@app.callback()
def _suites() -> None:
    """Suites of cases for what you plug into the SDK."""


@app.command("session")
def session(
    target: Annotated[str | None, typer.Argument(
        metavar="MODULE:NAME", help="A function that gives the session of an id, or a "
        "Backend.")] = None,
    case: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="Run this case only (repeatable).")] = None,
    supports: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="What must work: reopen, settings, close (repeatable).")] = None,
    known_failure: Annotated[list[str] | None, typer.Option(
        metavar="NAME", help="A case that is known to fail (repeatable); it must.")] = None,
    deadline: Annotated[float, typer.Option(
        min=0.1, max=3600, metavar="SECONDS", help="Real time that a case may take.")] = 30.0,
    only_list: Annotated[bool, typer.Option("--list", help="List the cases and stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Hold a Session backend to what the SDK's documentation promises of sessions."""
    from agentrunproof.suites.session import CASES, SuiteError, run
    from agentrunproof.suites.session.suite import chosen

    if only_list:
        table([_case_table(one) for one in CASES.values()]) if as_json else lines(
            line for one in CASES.values() for line in _case_lines(one))
        return exits.OK
    if target is None:
        raise SuiteError("TARGET_NONE", "no session named", _FORM)
    backend = _backend(target)
    backend = replace(backend, supports=backend.supports | set(supports or ()),
                      known_failures=backend.known_failures | dict.fromkeys(
                          known_failure or (), "given by --known-failure"))
    again = ["agentrunproof", "check", "session", target]
    for option, names in (("--supports", supports), ("--known-failure", known_failure)):
        for name in names or ():
            again += [option, name]
    results = []
    progress = Progress()
    for result in run(backend, chosen(case or ()), deadline):
        progress.clear()
        results.append(result)
        if not as_json:
            lines(_lines(result, again, paint()))
        progress.step(result.case.name, "done")
    progress.clear()
    verdict = _verdict(results)
    if as_json:
        table({"suite": "session", "target": target, **_environment(), "verdict": verdict,
               "results": [_table(result, again) for result in results]})
    else:
        lines(["", _summary(results)])
    return exits.of_verdict(verdict)


def _backend(target: str) -> Backend:
    """What a user names.

    Raises:
        SuiteError: ``TARGET_FORM``, ``TARGET_IMPORT``.
    """
    from agentrunproof.rerun.python_model import named
    from agentrunproof.suites.session import Backend, SessionSuite, SuiteError

    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise SuiteError("TARGET_FORM", f"{target!r} has no known form", _FORM)
    try:
        found = named(module, name)
    except (Exception, SystemExit) as error:
        raise SuiteError("TARGET_IMPORT", f"{target}: {type(error).__name__}: {said(error)}",
                         _FORM) from error
    if isinstance(found, Backend):
        return found
    if isinstance(found, type) and issubclass(found, SessionSuite):
        raise SuiteError("TARGET_FORM", f"{target} is a class of tests", "run it with pytest")
    if not callable(found):
        raise SuiteError("TARGET_FORM", f"{target} is no function and no Backend", _FORM)
    return Backend(found)


def _verdict(results: list[Result]) -> str:
    """FAIL if the suite fails, UNTESTABLE if nothing could be tested."""
    if any(result.fails for result in results):
        return "FAIL"
    tested = any(result.verdict != "UNTESTABLE" for result in results)
    return "PASS" if tested else "UNTESTABLE"


def _word(result: Result) -> str:
    return "KNOWN" if result.known and result.verdict == "FAIL" else result.verdict


def _lines(result: Result, again: list[str], paint: Paint) -> list[str]:
    """One line; below what is not a PASS why, below a failure what was promised."""
    case, word = result.case, _word(result)
    first = case.title if result.verdict == "PASS" else result.code
    shown = fit(f"{word:<10} {case.name}: {first}")
    told = [shown.replace(word, paint(word, word), 1)]
    if result.verdict == "PASS":
        return told
    told += wrap(printable(result.detail), _INDENT)
    if result.known:
        told += wrap(f"known: {printable(result.known)}", _INDENT)
    if result.fails:
        told += [*_promise_lines(case), _INDENT + shlex.join([*again, "--case", case.name])]
    return told


def _promise_lines(case: Case) -> list[str]:
    promise = case.promise
    text = f'"{promise.text}"' if promise.basis == "documentation" else promise.text
    source = f" ({promise.source})" if promise.source else ""
    return wrap(f"{promise.basis}: {text}{source}", _INDENT)


def _case_lines(case: Case) -> list[str]:
    return [case.name, *wrap(case.title, "  "),
            *("  " + line.strip() for line in _promise_lines(case)), ""]


def _case_table(case: Case) -> dict[str, Any]:
    promise = case.promise
    return {"case": case.name, "title": case.title, "basis": promise.basis,
            "promise": promise.text, "source": promise.source, "upstream": list(case.upstream)}


def _table(result: Result, again: list[str]) -> dict[str, Any]:
    return _case_table(result.case) | {
        "verdict": result.verdict, "code": result.code, "detail": result.detail,
        "known": result.known, "reproduce": shlex.join([*again, "--case", result.case.name])}


def _environment() -> dict[str, str]:
    from agentrunproof.suites.session.suite import release

    return {"sdk": release(), "python": platform.python_version()}


def _summary(results: list[Result]) -> str:
    counts = Counter(map(_word, results))
    parts = [f"{count} {word}" for word in ("PASS", "FAIL", "KNOWN", "UNTESTABLE")
             if (count := counts[word])]
    here = _environment()
    return (f"{len(results)} case{'s' * (len(results) != 1)}: {', '.join(parts)} "
            f"(openai-agents {here['sdk']}, Python {here['python']})")
