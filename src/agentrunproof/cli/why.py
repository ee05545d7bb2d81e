"""``why``: what a failure needs. A plan or certificate is reduced; see `why.explanation`."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import bisecting, exits, plans
from agentrunproof.cli.output import Progress, lines, table
from agentrunproof.errors import PlanError
from agentrunproof.report import text

if TYPE_CHECKING:
    from agentrunproof.record.certificate import Certificate
    from agentrunproof.why.explanation import Explanation, Question


def why(
    subject: Annotated[str, typer.Argument(
        metavar="CERTIFICATE_OR_PLAN", autocompletion=plans.complete,
        help="A FAIL certificate, a plan file, or a scenario's id.")],
    check: Annotated[str | None, typer.Option(
        metavar="NAME", help="The failed check to look into.")] = None,
    sdk: Annotated[str | None, typer.Option(
        metavar="VERSION", help="The release on which it fails; a certificate names it.")] = None,
    good: Annotated[str | None, typer.Option(
        metavar="VERSION", help="A release on which it passes, and smaller plans must too; the "
        "installed one, unless told otherwise.")] = None,
    python: Annotated[str | None, typer.Option(
        metavar="X.Y", help="Python of the isolated environments.")] = None,
    out: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Write the smallest plan, its certificate and a standalone "
        "test.")] = None,
    budget: Annotated[int | None, typer.Option(
        min=4, metavar="N", help="Plans run at most.")] = None,
    allow_python: Annotated[bool, typer.Option(
        "--allow-python", help="Let the plan run the Python that it names.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Find the smallest plan that still fails, and what of it the failure needs."""
    from agentrunproof.why import explanation

    bisecting.known_check(check)
    question = _question(subject, allow_python)
    asked: dict[str, Any] = {"check": check, "sdk": sdk, "python": python, "good": good,
                             "budget": budget}
    question = replace(
        question, **{key: value for key, value in asked.items() if value is not None})
    progress = Progress()
    found = explanation.explain(question, progress.say)
    progress.clear()
    written = explanation.write(found, out) if out is not None else []
    if as_json:
        table(_table(found, written))
    else:
        lines(_lines(found, written))
    if found.smallest.stopped == "interrupted":
        return exits.INTERRUPTED
    return exits.OK


def _question(subject: str, allow_python: bool) -> Question:
    """What a certificate, a plan file or a scenario's id asks.

    Raises:
        PlanError: it is none of them, or a certificate that cannot be run again.
        RecordError: it is an invalid certificate.
    """
    from agentrunproof.lab.probe import Options
    from agentrunproof.why.explanation import Question

    certificate = _certificate(subject)
    if certificate is None:
        named = plans.resolve(subject)
        options = Options(deadline="10", allow_python=allow_python,
                          path=plans.import_folders([named]))
        return Question(named.id, named.plan, options=options)
    if certificate.profile == "private":
        raise PlanError("WHY_PRIVATE", f"{subject}: a private certificate holds digests in place "
                        "of what the plan says", "name the plan file, and --sdk")
    producer = certificate.producer
    return Question(certificate.scenario, certificate.plan, sdk=producer.sdk.version,
                    python=".".join(producer.python.split(".")[:2]),
                    options=Options(deadline="10", allow_python=allow_python, path=[os.getcwd()]))


def _certificate(subject: str) -> Certificate | None:
    """The certificate in a file; None for what is no certificate at all."""
    from agentrunproof.cli import certificates

    if not plans.is_file(subject) or not subject.endswith(".json"):
        return None
    try:
        value = json.loads(Path(subject).read_bytes())
    except (OSError, ValueError):
        return None  # whoever reads it as a plan says what is wrong
    schema = value.get("schema") if isinstance(value, dict) else None
    return certificates.load(subject) if isinstance(schema, str) else None


def _lines(found: Explanation, written: list[Path]) -> list[str]:
    from agentrunproof.why.smallest import innermost, outermost

    result, small = found.failure.result, found.smallest
    release = found.certificate.producer.sdk.version
    told = [f"{result.check} {result.code} on openai-agents {release}",
            *text.wrap(f"{result.where}: {result.detail}", "  "), ""]
    by_id = {one.id: one for one in found.whole.elements}
    told.append("needed, each of them:")
    for element in innermost(small.needed, found.whole):
        told += text.wrap(f"{element.id} ({element.kind}): {element.says}", "  ")
        told += text.wrap(f"without it: {small.needed[element.id]}", "      ")
    if small.fixed:
        told += ["", *text.wrap("no plan without: " + ", ".join(small.fixed))]
    counts = Counter(by_id[one.id].kind for one in outermost(small.gone, found.whole))
    gone = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}"
                     for kind, count in sorted(counts.items()))
    told += ["", *text.wrap(f"did not matter: {gone or 'nothing'}")]
    told += text.wrap(_spent(found))
    if found.script is not None:
        told += text.wrap(f"a standalone script fails on {release}: {found.script_fails}")
    else:
        told += text.wrap(f"no standalone script: {found.no_script}")
    return [*told, *(f"written: {path}" for path in written)]


def _spent(found: Explanation) -> str:
    small = found.smallest
    control = found.control.producer.sdk.version if found.control else ""
    ended = {"budget": "; the budget ran out, a smaller plan may be left",
             "interrupted": "; interrupted, a smaller plan may be left"}.get(small.stopped, "")
    return (f"{len(small.reduced.left)} of {len(found.whole.elements)} elements left after "
            f"{found.spent} runs of plans{ended}; "
            + (f"each smaller plan passes on {control}" if control else
               "no release is known that passes the plan, so none was held against it"))


def _table(found: Explanation, written: list[Path]) -> dict[str, Any]:
    from agentrunproof.shape import encode

    small = found.smallest
    by_id = {one.id: one for one in found.whole.elements}

    def row(id: str) -> dict[str, str]:
        return {"element": id, "kind": by_id[id].kind, "says": by_id[id].says}

    return {
        "scenario": found.id, "sdk": found.certificate.producer.sdk.version,
        "control": found.control.producer.sdk.version if found.control else None,
        "failure": encode(found.failure.result),
        "needed": [{**row(id), "without": result} for id, result in small.needed.items()],
        "fixed": [row(id) for id in small.fixed], "did_not_matter": [row(id) for id in small.gone],
        "stopped": small.stopped, "runs": found.spent, "plan": small.reduced.plan.to_json(),
        "script": found.script, "no_script": found.no_script,
        "trials": [{"removed": list(trial.removed), "plan": trial.plan, "result": trial.result}
                   for trial in small.trials],
        "written": [str(path) for path in written]}
