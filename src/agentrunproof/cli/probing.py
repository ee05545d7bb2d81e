"""``probe``: run plans, print what was found, write certificates."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentrunproof.cli import exits, plans
from agentrunproof.cli.output import Progress, lines, note, paint, table
from agentrunproof.errors import AgentRunProofError, PlanError, RecordError
from agentrunproof.record import sdk_releases
from agentrunproof.report import tables, text

if TYPE_CHECKING:
    from agentrunproof.lab.probe import Outcome

#: Seconds of real time a phase may take, unless told otherwise.
DEADLINE = 30.0


class ProfileName(str, Enum):
    """How payloads stand in a certificate."""

    public = "public"
    private = "private"


class ModeName(str, Enum):
    """Ways to run the Runner."""

    run = "run"
    run_streamed = "run_streamed"
    run_sync = "run_sync"


def _not_nan(seconds: float) -> float:
    if seconds != seconds:  # it passes for lying within any bounds
        raise typer.BadParameter("not a number of seconds")
    return seconds


def probe(
    names: Annotated[list[str] | None, typer.Argument(
        metavar="[SCENARIO_OR_FILE]...", autocompletion=plans.complete,
        help="Scenario ids and plan files.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All packaged scenarios.")] = False,
    sdk: Annotated[str | None, typer.Option(
        metavar="VERSION", help="Run this SDK release in an isolated environment.")] = None,
    python: Annotated[str | None, typer.Option(
        metavar="X.Y", help="Python of the isolated environment.")] = None,
    certificate: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the certificate here (one scenario).")] = None,
    out: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Write each certificate to DIR/<id>.json.")] = None,
    profile: Annotated[ProfileName, typer.Option(
        help="private: salted digests in place of payloads.")] = ProfileName.public,
    mode: Annotated[list[ModeName] | None, typer.Option(
        help="Run in this mode only (repeatable); it becomes part of the scenario's id.")] = None,
    deadline: Annotated[float, typer.Option(
        min=0.1, max=3600, metavar="SECONDS", callback=_not_nan,
        help="Real time that one phase may take before it is a TIMEOUT.")] = DEADLINE,
    allow_python: Annotated[bool, typer.Option(
        "--allow-python", help="Let plans run the Python that they name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Run scenarios on the real SDK and judge what happens."""
    from agentrunproof.lab import environments, process

    with ExitStack() as stack:
        workers = stack.enter_context(process.ahead(environments.current().python)
                                      ) if everything and sdk is None else ()
        from agentrunproof.lab import probe as lab  # takes long, and those are starting by now

        modes = [item.value for item in mode or []]
        chosen = _choose(names or [], everything)
        scoped = [lab.in_modes(one.id, one.plan, modes) if modes else (one.id, one.plan)
                  for one in chosen]
        targets = _targets([id for id, _ in scoped], certificate, out)
        options = lab.Options(sdk=sdk, python=python, deadline=f"{deadline:g}",
                              profile=profile.value, allow_python=allow_python,
                              path=plans.import_folders(chosen))
        extras = _extra_options(python, modes, deadline, allow_python)
        commands = {id: _command(one.name, extras)
                    for (id, _), one in zip(scoped, chosen, strict=True)}
        progress = Progress()
        results = []
        for outcome in lab.probe(dict(scoped), options, say=progress.say, progress=progress.step,
                                 workers=workers):
            result = _settle(outcome, targets.get(outcome.scenario), commands[outcome.scenario])
            progress.clear()
            _tell(result, as_json)
            results.append(result)
    if as_json:
        table([_result_table(result) for result in results])
    elif len(results) > 1:
        lines(["", text.summary_line(result.outcome.verdict for result in results)])
    return exits.worst(result.exit for result in results)


@dataclass(frozen=True)
class _Result:
    """An outcome, and what became of its certificate."""

    outcome: Outcome
    id: str = ""
    written: Path | None = None
    unwritten: AgentRunProofError | None = None
    reproduce: str = ""

    @property
    def exit(self) -> int:
        code = exits.of_verdict(self.outcome.verdict)
        return code if self.unwritten is None else exits.worst([code, exits.UNUSABLE])


def _choose(names: list[str], everything: bool) -> list[plans.Named]:
    """The plans asked for.

    Raises:
        PlanError: nothing is asked for, or what is asked for does not exist.
    """
    from agentrunproof.plan import catalog

    if everything == bool(names):
        raise PlanError("PLAN_NONE", "name scenarios or plan files, or give --all, not both"
                        if everything else "no scenario named",
                        "list-scenarios shows them all")
    return plans.resolve_all(catalog.ids() if everything else names)


def _targets(ids: list[str], certificate: Path | None, out: Path | None) -> dict[str, Path]:
    """Where each certificate goes, checked before anything is run.

    Raises:
        RecordError: a place that cannot be written to.
    """
    from agentrunproof.record import store

    targets = {}
    if certificate is not None:
        if len(ids) > 1 or out is not None:
            raise RecordError("TARGET_MANY", "--certificate takes the certificate of one scenario",
                              "give --out DIR alone instead")
        targets = {ids[0]: certificate}
    elif out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError("TARGET_UNWRITABLE", f"{out}: {error.strerror or error}",
                              "name a folder that can be made") from error
        targets = {id: out / f"{id}.json" for id in ids}
    for target in targets.values():
        store.check_target(target)
    return targets


def _settle(outcome: Outcome, target: Path | None, command: str) -> _Result:
    """Write an outcome's certificate; a failure to do so never hides the verdict."""
    from agentrunproof.record import certificate, store

    if outcome.certificate is None:
        return _Result(outcome)
    value = certificate.to_json(outcome.certificate)
    sdk = outcome.certificate.producer.sdk.version
    result = _Result(outcome, value["id"], reproduce=command.format(sdk=sdk))
    if target is None:
        return result
    try:
        store.write(target, certificate.file_bytes(value))
    except RecordError as error:
        return replace(result, unwritten=error)
    return replace(result, written=target)


def _tell(result: _Result, as_json: bool) -> None:
    if not as_json:
        lines(_result_lines(result))
    if result.unwritten is not None:
        note(f"error: {result.unwritten}")


def _result_lines(result: _Result) -> list[str]:
    outcome = result.outcome
    if outcome.certificate is None:
        assert outcome.error is not None
        return text.error_lines(outcome.scenario, outcome.error, paint())
    sdk = outcome.certificate.producer.sdk
    label = sdk_releases.label(sdk.version, sdk.files)
    told = text.outcome_lines(outcome.certificate, result.id, label, paint(), result.reproduce)
    return [*told, f"written: {result.written}"] if result.written else told


def _result_table(result: _Result) -> dict[str, Any]:
    outcome = result.outcome
    if outcome.certificate is None:
        assert outcome.error is not None
        return {"scenario": outcome.scenario, "verdict": outcome.verdict,
                "error": tables.error_table(outcome.error)}
    sdk = outcome.certificate.producer.sdk
    label = sdk_releases.label(sdk.version, sdk.files)
    found = tables.outcome_table(outcome.certificate, result.id, label)
    if result.unwritten is not None:
        found["error"] = tables.error_table(result.unwritten)
    return found | {"written": str(result.written) if result.written else None,
                    "reproduce": result.reproduce}


def _extra_options(python: str | None, modes: list[str], deadline: float,
                   allow_python: bool) -> list[str]:
    """The options that a rerun needs besides the SDK release."""
    options = ["--python", python] if python else []
    for mode in modes:
        options += ["--mode", mode]
    options += ["--deadline", f"{deadline:g}"] if deadline != DEADLINE else []
    return [*options, "--allow-python"] if allow_python else options


def _command(name: str, extras: list[str]) -> str:
    """The command line that runs one plan again, with ``{sdk}`` for the release."""
    words = shlex.join(["agentrunproof", "probe", name]).replace("{", "{{").replace("}", "}}")
    return " ".join([words, "--sdk {sdk}", *extras])
