"""``why``: of a recorded run, what made a model decide so; of a plan, what its failure needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from agentrunproof.cli import ablations, asking, plans, why_call, why_plan
from agentrunproof.plan import catalog


def why(
    subject: Annotated[str, typer.Argument(
        metavar="RUN_OR_PLAN", autocompletion=plans.complete,
        help="A recorded run (last, its name, a file, another tool's trace, a folder of runs); or "
        "a FAIL certificate, a plan file, a scenario's id.")],
    target: Annotated[str | None, typer.Argument(
        metavar="[TARGET]", help=f"{asking.TARGET_HELP} Or the number of a step of localize: the "
        "decision behind it.")] = None,
    call: asking.CallOption = None,
    from_localization: Annotated[bool, typer.Option(
        "--from-localization", help="Ask about the decisions behind the steps that localize "
        "suspects, one after the other, until a cause is found.")] = False,
    failed: Annotated[bool, typer.Option(
        "--failed", help="With --from-localization: the run failed, whatever it says.")] = False,
    budget: Annotated[int | None, typer.Option(
        metavar="N", help="Model calls at most, 300 unless given; of a plan, plans run at most.")
    ] = None,
    alpha: Annotated[str, typer.Option(
        metavar="RATE", help="The chance, at most, of naming a wrong cause.")] = "",
    model: asking.ModelOption = None,
    base_url: asking.BaseUrlOption = None,
    key_variable: asking.KeyVariableOption = None,
    deterministic: asking.DeterministicOption = None,
    workers: asking.WorkersOption = None,
    executor: asking.ExecutorOption = None,
    no_cache: Annotated[bool, typer.Option(
        "--no-cache", help="Use no earlier replies, and keep none.")] = False,
    no_ask: Annotated[bool, typer.Option(
        "--no-ask", help="Don't ask the model which parts to look at first.")] = False,
    dry: Annotated[bool, typer.Option(
        "--dry", help="Only show what would be asked; no model is called.")] = False,
    pieces: Annotated[bool, typer.Option(
        "--pieces", help="List the pieces of the request with their ids; no model is called.")
    ] = False,
    run: asking.RunOption = "",
    skip_bad_lines: asking.SkipBadLinesOption = False,
    check: Annotated[str | None, typer.Option(
        metavar="NAME", help="Plans: the failed check to look into.")] = None,
    sdk: Annotated[str | None, typer.Option(
        metavar="VERSION", help="Plans: the release on which it fails; a certificate names it.")
    ] = None,
    good: Annotated[str | None, typer.Option(
        metavar="VERSION", help="Plans: a release on which it passes, and smaller plans must too; "
        "the installed one, unless told otherwise.")] = None,
    python: Annotated[str | None, typer.Option(
        metavar="X.Y", help="Plans: Python of the isolated environments.")] = None,
    allow_python: Annotated[bool, typer.Option(
        "--allow-python", help="Plans: let the plan run the Python that it names.")] = False,
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="PATH", help="Write the record to this file; of a plan, the "
        "smallest plan, its certificate and a standalone test to this folder.")] = None,
    as_json: Annotated[bool, typer.Option(
        "--json", help="Print JSON: the record itself.")] = False,
) -> int:
    """Find what in its request made a model decide so, or what a failing plan needs to fail."""
    of_call = {"TARGET": target, "--call": call, "--from-localization": from_localization,
               "--failed": failed, "--alpha": alpha, "--model": model, "--base-url": base_url,
               "--key-variable": key_variable, "--deterministic": deterministic,
               "--workers": workers, "--executor": executor, "--no-cache": no_cache,
               "--no-ask": no_ask, "--dry": dry, "--pieces": pieces,
               "--run": run, "--skip-bad-lines": skip_bad_lines}
    of_plan = {"--check": check, "--sdk": sdk, "--good": good, "--python": python,
               "--allow-python": allow_python}
    kind = _kind(subject)
    if kind == "ablation":
        _refuse(of_call | of_plan, f"{subject} is the record of an explanation, which is shown")
        return ablations.show(Path(subject), as_json=as_json)
    if kind == "plan":
        _refuse(of_call, f"{subject} is a plan, and this is about recorded runs")
        return why_plan.why_plan(subject, why_plan.Asked(
            check=check, sdk=sdk, good=good, python=python, out=out, budget=budget,
            allow_python=allow_python, as_json=as_json))
    _refuse(of_plan, f"{subject} is no plan, and this is about plans")
    if from_localization:
        _refuse({"TARGET": target, "--call": call}, "--from-localization finds it")
    elif failed:
        raise typer.BadParameter("--failed: goes with --from-localization")
    return why_call.why_call(subject, why_call.Asked(
        target=target, call=call, from_localization=from_localization, failed=failed,
        budget=budget, alpha=alpha, ask_model=not no_ask,
        cached=not no_cache, dry=dry, pieces=pieces, run=run, skip_bad=skip_bad_lines, out=out,
        as_json=as_json, rerun=asking.Options(
            model=model, base_url=base_url, key_variable=key_variable,
            deterministic=deterministic, workers=workers, executor=executor)))


def _kind(subject: str) -> str:
    """What a word names: a ``plan`` or a record of one, an ``ablation`` record, or a ``run``."""
    path = Path(subject)
    if subject in catalog.summaries() or path.suffix == ".toml":
        return "plan"
    value = _document(path)
    if "kind" not in value and str(value.get("schema")).startswith("agentrunproof/"):
        return "ablation" if str(value["schema"]).split("/")[1] == "ablation" else "plan"
    return "plan" if {"agents", "phases"} <= value.keys() else "run"


def _document(path: Path) -> dict[str, Any]:
    """The JSON table that is all of a file; nothing of what is too large to be a certificate."""
    from agentrunproof.canonical import MAX_BYTES

    try:
        if path.suffix != ".json" or path.stat().st_size > MAX_BYTES:
            return {}
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}  # whoever reads it as a trace says what is wrong
    return value if isinstance(value, dict) else {}


def _refuse(options: dict[str, Any], reason: str) -> None:
    given = [name for name, value in options.items() if value not in (None, False, "")]
    if given:
        raise typer.BadParameter(f"{', '.join(given)}: {reason}")
