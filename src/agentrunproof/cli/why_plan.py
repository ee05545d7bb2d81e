"""``why`` of a plan or certificate: it is reduced to what the failure needs (`why.explanation`)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentrunproof.cli import bisecting, exits, plans
from agentrunproof.cli.output import Progress, lines, note
from agentrunproof.errors import PlanError, RecordError
from agentrunproof.record.ablation import FORM
from agentrunproof.report import reduction, text

if TYPE_CHECKING:
    from agentrunproof.record.certificate import Certificate
    from agentrunproof.why.explanation import Explanation, Question

@dataclass(frozen=True)
class Asked:
    """The options of ``why`` that are about plans; `cli.why` says what they mean."""

    check: str | None = None
    sdk: str | None = None
    good: str | None = None
    python: str | None = None
    out: Path | None = None
    budget: int | None = None
    allow_python: bool = False
    as_json: bool = False


def why_plan(subject: str, asked: Asked) -> int:
    """Find the smallest plan that still fails, and what of it the failure needs.

    Args:
        subject: a FAIL certificate, a plan file, or a scenario's id.
        asked: the options.
    """
    from agentrunproof.why import explanation

    if asked.budget is not None and asked.budget < 1:
        raise typer.BadParameter(f"--budget {asked.budget}: allows no plan; give at least 1")
    bisecting.known_check(asked.check)
    question = _question(subject, asked)
    told = {key: value for key in ("check", "sdk", "python", "good", "budget")
            if (value := getattr(asked, key)) is not None}
    question = replace(question, **told)
    if asked.out is not None:
        _make_folder(asked.out)
    progress = Progress()
    found = explanation.explain(question, progress.say)
    progress.clear()
    written = explanation.write(found, asked.out) if asked.out is not None else []
    if asked.as_json:
        lines([FORM.to_bytes(found.record).decode().rstrip("\n")])
        for path in written:
            note(f"written: {path}")
    else:
        lines([*reduction.lines(found.record), *_script_lines(found),
               *(f"written: {path}" for path in written)])
    return exits.INTERRUPTED if found.interrupted else exits.of_verdict(found.record.status)


def _make_folder(path: Path) -> None:
    """Make the folder for what is found, before that is looked for.

    Raises:
        RecordError: ``TARGET_UNWRITABLE``.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        usable = os.access(path, os.W_OK | os.X_OK)
    except OSError:
        usable = False
    if not usable:
        raise RecordError("TARGET_UNWRITABLE", f"--out {path}: nothing can be written there",
                          "name a folder that is yours, or a new one")


def _question(subject: str, asked: Asked) -> Question:
    """What a certificate, a plan file or a scenario's id asks.

    Raises:
        PlanError: it is none of them, or a certificate that cannot be run again or has not failed.
        RecordError: it is an invalid certificate.
    """
    from agentrunproof.lab.probe import Options
    from agentrunproof.why import judging
    from agentrunproof.why.explanation import Question

    allow_python = asked.allow_python
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
    elsewhere = asked.sdk not in (None, producer.sdk.version)
    failed = None if elsewhere else judging.failure_of(certificate, asked.check).result
    return Question(certificate.scenario, certificate.plan, failed=failed,
                    sdk=producer.sdk.version,
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


def _script_lines(found: Explanation) -> list[str]:
    if found.smallest is None:
        return []
    if found.script is not None:
        return text.wrap("a standalone script fails on "
                         f"{found.record.subject.sdk}: {found.script_fails}")
    return text.wrap(f"no standalone script: {found.no_script}")
